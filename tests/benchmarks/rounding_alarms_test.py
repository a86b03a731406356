#!/usr/bin/env python3
"""Tests how rounding_alarms.py counts results, and its bound."""
import json
import math
import pathlib
import tempfile
import unittest

import rounding_alarms as measured


def result(times, limit=0.001, **changes):
    metrics = {} if times is None else {"rounding_times": times, "rounding_limit": limit}
    return {"name": "s/Accuracy.X/net", "backend": "export", "dtype": "float32", "mode": "training", "expected": "pass",
            "outcome": {"status": "pass", "metrics": metrics, "notes": {"rounding_of": "gradients.w"}}, **changes}


def rows_of(*results):
    return [row for row in map(measured.row_of, results) if row]


class Bound(unittest.TestCase):
    def test_is_that_of_clopper_and_pearson(self):
        self.assertAlmostEqual(measured.upper_bound(0, 2995), 0.001, places=6)
        self.assertAlmostEqual(measured.upper_bound(3, 20), 0.3437, places=4)  # tables of 90 % two-sided intervals
        self.assertEqual(measured.upper_bound(5, 5), 1)

    def test_gives_so_few_alarms_with_the_rest_of_the_confidence(self):
        for alarms, rows in ((0, 7), (2, 50), (4, 3000)):
            rate = measured.upper_bound(alarms, rows)
            tail = sum(math.comb(rows, i) * rate**i * (1 - rate)**(rows - i) for i in range(alarms + 1))
            self.assertAlmostEqual(tail, 0.05, places=9)

    def test_of_certain_rates(self):
        self.assertEqual((measured.at_most(0, 5, 0), measured.at_most(4, 5, 1), measured.at_most(5, 5, 1)), (1, 0, 1))


class Rows(unittest.TestCase):
    def test_above_one_are_alarms_and_so_are_those_without_a_number(self):
        rows = rows_of(result(0.5), result(1), result(1.01), result("Infinity"), result("NaN"))
        self.assertEqual([measured.is_alarm(row) for row in rows], [False, False, True, True, True])
        self.assertEqual(measured.counts(rows)[:2], [5, 3])

    def test_of_known_failures_count_for_nothing_and_those_without_a_verdict_apart(self):
        rows = rows_of(result(9, expected="fail_accuracy"), result(None), result(0.1))
        self.assertEqual(measured.counts(rows)[:4], [1, 0, "95", 1])

    def test_keep_the_limit_of_their_dtype(self):
        rows = rows_of(result(0.1, 0.02), result(0.1, 0.02, dtype="bfloat16"), result(0.1, None))
        self.assertEqual(measured.counts(rows)[4:], ["2", "50"])
        self.assertEqual(measured.counts([])[2:], ["", 0, "", ""])


class Reports(unittest.TestCase):
    def setUp(self):
        self.rows = rows_of(result(0.1), result(3.5, backend="torchscript"), result(None, mode="inference"))
        self.lines = measured.table(self.rows)

    def test_have_a_line_for_each_change_dtype_and_mode_and_one_for_all(self):
        self.assertEqual([line[:5] for line in self.lines[1:]],
                         [["export", "float32", "inference", 0, 0], ["export", "float32", "training", 1, 0],
                          ["torchscript", "float32", "training", 1, 1], ["all", "", "", 2, 1]])
        self.assertEqual(measured.as_csv(self.lines).splitlines()[0], ",".join(measured.HEADING))

    def test_the_page_has_the_table_and_names_the_alarms(self):
        page = measured.page_of("2026-01-01-x", self.rows, self.lines, "command", "two cores")
        self.assertIn("<!-- table: 2026-01-01-x.csv -->\n| change | dtype |", page)
        self.assertIn("- s/Accuracy.X/net: gradients.w, 3.5 times\n", page)
        self.assertIn("1 of 2 rows were refused", page)
        self.assertIn("**Machine:** two cores\n", page)

    def test_the_table_is_the_one_that_the_documents_draw(self):
        import sys
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
        import status
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "2026-01-01-x.md")
            page.write_text(measured.page_of(page.stem, self.rows, self.lines, "command", "two cores"))
            page.with_suffix(".csv").write_text(measured.as_csv(self.lines))
            self.assertEqual(status.measurement_page(page), page.read_text())


class Runs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.calls = self.folder / "calls"
        self.fake("exit 1")

    def fake(self, end):
        """Writes a fake torchstone, which writes one result named after its shard and then runs the shell code
        `end`."""
        program, text = self.folder / "torchstone", json.dumps({"results": [result(0.5, name="SHARD")]})
        program.write_text(f"""#!/bin/sh
echo "$@" >> {self.calls}
for word in "$@"; do case "$word" in --torchstone_out=*) out="${{word#--torchstone_out=}}";; esac; done
mkdir -p "$out"; echo '{text}' | sed "s/SHARD/$GTEST_SHARD_INDEX of $GTEST_TOTAL_SHARDS/" > "$out/results.json"; {end}
""")
        program.chmod(0o755)

    def arguments(self, *more):
        return measured.arguments_of([str(self.folder / "torchstone"), "faults.so", "--out", f"{self.folder}/out", *more])

    def test_are_made_once_and_judge_by_rounding(self):
        arguments = self.arguments("--models", "net", "--", "--torchstone_threads=1")
        for _ in range(2):
            self.assertEqual(measured.results_of(arguments, 7, "training", "float32"), [result(0.5, name="0 of 1")])
        (line,) = self.calls.read_text().splitlines()
        for word in ("--torchstone_judge=rounding", "--torchstone_seed=7", "--torchstone_only=net", "--torchstone_threads=1",
                     "--torchstone_backends=torchscript,export,right:by=threads,right:by=no_onednn,right:by=channels_last"):
            self.assertIn(word, line.split())

    def test_are_divided_into_parts_of_which_several_run_at_once(self):
        arguments = self.arguments("--modes", "training", "--dtypes", "float32", "--seeds", "2", "--parts", "3", "--jobs", "2")
        self.assertEqual([row["name"] for row in measured.rows_of(arguments)], 2 * ["0 of 3", "1 of 3", "2 of 3"])
        self.assertEqual(len(self.calls.read_text().splitlines()), 6)

    def test_after_the_limit_count_what_is_there(self):
        sets = "--modes", "training", "--dtypes", "float32", "--parts", "2"
        measured.results_of(self.arguments(*sets), 1, "training", "float32", 1)
        self.assertEqual([row["name"] for row in measured.rows_of(self.arguments(*sets, "--limit", "0"))], ["1 of 2"])

    def test_that_cannot_be_made_are_a_fault(self):
        self.fake("exit 2")
        with self.assertRaisesRegex(RuntimeError, "--torchstone_judge=rounding.* ended with 2"):
            measured.rows_of(self.arguments())

    def test_of_a_page_need_the_machine(self):
        with self.assertRaises(SystemExit):
            measured.arguments_of(["torchstone", "faults.so", "--out", "x", "--page", "p.md"])


if __name__ == "__main__":
    unittest.main()
