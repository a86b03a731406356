#!/usr/bin/env python3
"""Draws the tables of docs/status.md, docs/inductor_faults.md and docs/measurements/ from their CSV files.

  status.py --write   writes docs/status.md, docs/measurements/README.md and the tables of the other pages
  status.py --check   exits with 1 and names each page that is stale or malformed

docs/status.csv holds one feature a row. A table of figures in docs/measurements/STEM.md is drawn from STEM.csv, or from
STEM.PART.csv where the page has several. It replaces what is between `<!-- table: STEM.csv -->` and `<!-- end of table -->`.
"""
import csv
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ["section", "feature", "cpu", "cuda", "state", "link"]
DEVICE_WORDS = ("tested", "in part", "not run", "no", "–")
STATES = ("done", "partial", "missing")
MOST_LINES = 80
TABLE = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- end of table -->", re.S)
STATUS_HEAD = """# Status

This page lists what Torchstone can do and where that was tested. [Measurements](measurements/README.md) holds the figures.
[CHANGELOG.md](../CHANGELOG.md) lists what changed. To change the page, edit `docs/status.csv` and run `tests/docs/status.py --write`.

**CPU** and **CUDA** are *tested*, *in part* (see the state or the link), *not run*, *no* (unsupported) or – (does not apply).
"""
INDEX_HEAD = """# Measurements

Each page answers one question, with the commit, the machine, the command, the figures and a conclusion. CSV files hold the figures.
`tests/docs/status.py --write` draws this list and the tables of the pages.

| date | question | page |
|---|---|---|
"""


class Malformed(Exception):
    """A source that no page can be drawn from."""


def rows_of(path):
    """The rows of a CSV file, of which the first is the heading. All must have the same length."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    if len(rows) < 2:
        raise Malformed(f"{path}: a heading and at least one row are expected")
    for number, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise Malformed(f"{path}: row {number} has {len(row)} cells, the heading has {len(rows[0])}")
    return rows


def table(rows):
    """A Markdown table."""
    heading, *lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows]
    return heading + "|" + "---|" * len(rows[0]) + "\n" + "".join(lines)


def link(target, folder):
    """A Markdown link named after the file, or an empty cell."""
    if not target:
        return ""
    if not (folder / target).exists():
        raise Malformed(f"docs/status.csv: {target} does not exist")
    name = re.sub(r"^measurements/[\d-]{11}", "", target.removeprefix("../"))
    return f"[{name.removesuffix('.md')}]({target})"


def status_page(docs):
    heading, *rows = rows_of(docs / "status.csv")
    if heading != COLUMNS:
        raise Malformed(f"docs/status.csv: the heading must be {','.join(COLUMNS)}")
    sections = {}
    for number, (section, feature, cpu, cuda, state, targets) in enumerate(rows, 2):
        if cpu not in DEVICE_WORDS or cuda not in DEVICE_WORDS:
            raise Malformed(f"docs/status.csv: row {number}: cpu and cuda must be one of {', '.join(DEVICE_WORDS)}")
        if not state.startswith(STATES):
            raise Malformed(f"docs/status.csv: row {number}: the state must start with {', '.join(STATES)}")
        links = ", ".join(link(target, docs) for target in targets.split())
        sections.setdefault(section, []).append([feature, cpu, cuda, state, links])
    text = STATUS_HEAD
    for section, features in sections.items():
        text += f"\n## {section}\n\n" + table([["feature", "CPU", "CUDA", "state", "link"], *features])
    if (lines := text.count("\n")) > MOST_LINES:
        raise Malformed(f"docs/status.csv: the page would have {lines} lines, at most {MOST_LINES} are allowed")
    return text


def measurement_page(page):
    """The text of a page with its tables drawn again."""
    text = page.read_text(encoding="utf-8")
    if text.count("<!-- table:") != len(TABLE.findall(text)):
        raise Malformed(f"{page}: a table has no end, or its marker is not on a line of its own")

    def drawn(match):
        name = match[1]
        if not re.fullmatch(rf"{re.escape(page.stem)}(\.[a-z0-9-]+)?\.csv", name):
            raise Malformed(f"{page}: {name} does not have the page's name")
        if not (page.parent / name).exists():
            raise Malformed(f"{page}: {name} does not exist")
        return f"<!-- table: {name} -->\n{table(rows_of(page.parent / name))}<!-- end of table -->"

    return TABLE.sub(drawn, text)


def index_row(page):
    """The row of a page in the index: the date of its name, its question and its link."""
    text = page.read_text(encoding="utf-8")
    question = re.search(r"^\*\*Question:\*\* (.*?)\n(?:\n|\*\*)", text, re.S | re.M)
    date = re.match(r"\d{4}-\d\d-\d\d(?=-)", page.stem)
    if not question or not date:
        raise Malformed(f"{page}: the name must begin with a date and the page must have a **Question:**")
    return f"| {date[0]} | {' '.join(question[1].split())} | [{page.stem[11:]}]({page.name}) |\n"


def pages(docs):
    """The generated pages of a folder of documents: their paths and their texts."""
    folder = docs / "measurements"
    measurements = sorted(file for file in folder.glob("*.md") if file.name != "README.md")
    drawn = {docs / "status.md": status_page(docs)}
    drawn |= {page: measurement_page(page) for page in [*measurements, docs / "inductor_faults.md"] if page.exists()}
    drawn[folder / "README.md"] = INDEX_HEAD + "".join(index_row(page) for page in reversed(measurements))
    shown = {name for page in measurements for name, _ in TABLE.findall(page.read_text(encoding="utf-8"))}
    if unused := sorted({file.name for file in folder.glob("*.csv")} - shown):
        raise Malformed(f"docs/measurements: no page shows {', '.join(unused)}")
    return drawn


def faults(docs):
    """Returns the faults of the pages, one line each."""
    try:
        drawn = pages(docs)
    except Malformed as error:
        return [str(error)]
    return [f"{page} is stale: run tests/docs/status.py --write" for page, text in drawn.items()
            if not page.exists() or page.read_text(encoding="utf-8") != text]


def main(arguments):
    docs = ROOT / "docs"
    if arguments == ["--check"]:
        found = faults(docs)
        print("\n".join(found) or "docs/status.md and docs/measurements are current")
        return 1 if found else 0
    if arguments != ["--write"]:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        for page, text in pages(docs).items():
            page.write_text(text, encoding="utf-8")
    except Malformed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
