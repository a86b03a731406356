#!/usr/bin/env python3
"""Plants faults in a small folder of documents and checks that status.py reports each of them."""
import tempfile
import unittest
from pathlib import Path

import status

HEADING = ",".join(status.COLUMNS) + "\n"
PAGE = """# A title

**Question:** How fast
is it?

<!-- table: 2026-11-28-speed.csv -->
<!-- end of table -->
"""


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = Path(folder.name)
        self.page = self.docs / "measurements/2026-11-28-speed.md"
        self.page.parent.mkdir()
        (self.docs / "status.csv").write_text(HEADING + "Models,zoo,tested,not run,done,measurements/2026-11-28-speed.md\n")
        self.page.write_text(PAGE)
        self.page.with_suffix(".csv").write_text("model,speed-up\nalexnet,1.25\n")
        self.write()

    def write(self):
        for page, text in status.pages(self.docs).items():
            page.write_text(text)

    def expect_fault(self, words):
        found = status.faults(self.docs)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_written_pages_are_current_and_hold_the_figures(self):
        self.assertEqual(status.faults(self.docs), [])
        self.assertIn("| alexnet | 1.25 |\n<!-- end of table -->", self.page.read_text())
        self.assertIn("| zoo | tested | not run | done | [speed](measurements/2026-11-28-speed.md) |", (self.docs / "status.md").read_text())
        self.assertIn("| 2026-11-28 | How fast is it? | [speed](2026-11-28-speed.md) |", (self.page.parent / "README.md").read_text())

    def test_a_page_that_was_edited_by_hand(self):
        for page in [self.page, self.docs / "status.md", self.page.parent / "README.md"]:
            text = page.read_text()
            page.write_text(text.replace("| ", "|  "))
            self.expect_fault(f"{page.name} is stale")
            page.write_text(text)

    def test_a_figure_that_changed_in_the_csv_alone(self):
        self.page.with_suffix(".csv").write_text("model,speed-up\nalexnet,1.26\n")
        self.expect_fault("speed.md is stale")

    def test_a_row_with_a_cell_too_many(self):
        self.page.with_suffix(".csv").write_text("model,speed-up\nalexnet,1.25,1.26\n")
        self.expect_fault("row 2 has 3 cells")

    def test_a_csv_that_is_missing_or_that_no_page_shows(self):
        other = self.page.with_name("2026-11-28-other.csv")
        self.page.with_suffix(".csv").rename(other)
        self.expect_fault("2026-11-28-speed.csv does not exist")
        self.page.write_text(self.page.read_text().replace("speed.csv", "other.csv"))
        self.expect_fault("does not have the page's name")
        self.page.write_text("# A title\n\n**Question:** How fast?\n\n")
        self.expect_fault("no page shows 2026-11-28-other.csv")

    def test_a_table_without_an_end(self):
        self.page.write_text(self.page.read_text().replace("<!-- end of table -->", ""))
        self.expect_fault("a table has no end")

    def test_a_page_without_a_question_or_a_date(self):
        text = self.page.read_text()
        self.page.write_text(text.replace("**Question:**", "Question:"))
        self.expect_fault("must have a **Question:**")
        self.page.write_text(text)
        (self.page.parent / "undated.md").write_text("# A title\n\n**Question:** When?\n\n")
        self.expect_fault("must begin with a date")

    def test_a_status_with_an_unknown_word_or_a_dead_link(self):
        source = self.docs / "status.csv"
        for row, words in [("Models,zoo,perhaps,tested,done,", "row 2: cpu and cuda must be one of"),
                           ("Models,zoo,tested,tested,nice,", "row 2: the state must start with"),
                           ("Models,zoo,tested,tested,done,gone.md", "gone.md does not exist")]:
            source.write_text(f"{HEADING}{row}\n")
            self.expect_fault(words)

    def test_a_status_page_that_is_too_long(self):
        (self.docs / "status.csv").write_text(HEADING + "Models,zoo,tested,tested,done,\n" * status.MOST_LINES)
        self.expect_fault("at most 80 are allowed")


if __name__ == "__main__":
    unittest.main()
