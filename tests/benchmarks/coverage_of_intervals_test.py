#!/usr/bin/env python3
"""Tests coverage_of_intervals.py with recorded runs."""
import contextlib
import io
import json
import math
import pathlib
import subprocess
import tempfile
import time
import unittest
import unittest.mock

import coverage_of_intervals as measured


def run(speedup, low, high, noisy=False):
    return {"case": {"speedup": speedup, "speedup_low": low, "speedup_high": high, "processes": 5, "noisy": noisy}}


class Coverage(unittest.TestCase):
    def test_counts_the_intervals_that_hold_the_median_of_all_runs(self):
        row = measured.coverage([run(1.0, 0.9, 1.1), run(1.2, 1.1, 1.3), run(2.0, "1.9", None)])["case"]
        self.assertEqual((row["held"], row["claims"], row["speedups"], row["processes"]), (1, 3, [1.0, 1.2, 2.0], 5))
        self.assertAlmostEqual(row["half_width"], 0.1)

    def test_leaves_out_what_its_row_calls_noisy(self):
        row = measured.coverage([run(1.0, 0.9, 1.1), run(2.0, 1.9, 2.1, noisy=True), run(1.0, 0.9, 1.1, noisy=True)])["case"]
        self.assertEqual((row["held"], row["claims"]), (1, 1))

    def test_takes_the_cases_that_all_runs_have(self):
        self.assertEqual(list(measured.coverage([{**run(1, 1, 1), "other": {}}, run(1, 1, 1)])), ["case"])

    def test_leaves_out_what_was_not_timed(self):
        noisy = {"metrics": {"speedup": 3}, "notes": {"noisy": "Why."}}
        results = {"results": [{"name": "a", "outcome": {"metrics": {}, "status": "fail_to_run"}}, {"name": "b", "outcome": {"metrics": {"speedup": 2}}},
                               {"name": "c", "outcome": noisy}]}
        self.assertEqual(measured.timed_cases(results), {"b": {"speedup": 2, "noisy": False}, "c": {"speedup": 3, "noisy": True}})
        self.assertEqual(measured.not_timed(results), ["a (fail_to_run)"])


class Records(unittest.TestCase):
    def test_hold_the_deviations_of_the_processes_of_each_run(self):
        def results(eager, rounds):
            samples = {"eager_s": eager, "compiled_s": [1.0] * len(eager), "process_rounds": rounds}
            return {"results": [{"name": "s/Performance.X/net_inference_float32", "outcome": {"metrics": {"speedup": 1}, "samples": samples}}]}
        e = math.e
        runs = [results([1.0, e, 1.0, e * e], [3, 1]), results([e, e], [1, 1])]
        self.assertEqual(list(measured.records(runs)), ["net -1.0000 1.0000\n", "net 0.0000 0.0000\n"])
        runs[1]["results"][0]["outcome"]["notes"] = {"noisy": "The threads ran in different cache domains, or shared their processors, in 5 of 5 processes: …"}
        self.assertEqual(list(measured.records(runs)), ["net -1.0000 1.0000\n"])


class Neighbour(unittest.TestCase):
    def test_runs_again_and_again_until_the_runs_are_made(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "calls")
            with measured.neighbour(f"echo x >> {file}; sleep 0.01"):
                end = time.monotonic() + 20
                while file.read_text().count("x") < 3 and time.monotonic() < end:
                    time.sleep(0.01)
            calls = file.read_text()
            time.sleep(0.1)
            self.assertEqual(file.read_text(), calls)
            self.assertGreaterEqual(calls.count("x"), 3)

    def test_that_fails_is_none(self):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()), measured.neighbour("false"):
            pass
        self.assertEqual(ended.exception.code, 2)


class Compare(unittest.TestCase):
    def answer(self, cases, code):
        done = subprocess.CompletedProcess([], code, stdout=json.dumps({"cases": cases}), stderr="")
        with unittest.mock.patch.object(measured.subprocess, "run", return_value=done), contextlib.redirect_stderr(io.StringIO()):
            return measured.compare("report", ["old"], "new")

    def test_names_what_is_slower_and_takes_a_worse_status_for_none(self):
        slower = {"name": "a", "change": "SLOWER", "status_worse": False}
        broken = {"name": "b", "change": "SAME", "status_worse": True}
        self.assertEqual(self.answer([slower, broken], 1), ["a"])
        self.assertEqual(self.answer([broken], 1), [])

    def test_refuses_a_code_that_nothing_explains(self):
        for cases, code in ([], 1), ([], 2), ([{"name": "a", "change": "SLOWER", "status_worse": False}], 0):
            with self.assertRaises(SystemExit):
                self.answer(cases, code)


class Comparisons(unittest.TestCase):
    def test_are_of_each_run_with_others_that_follow_each_other(self):
        self.assertEqual(list(measured.comparisons(["a", "b", "c"], 1)),
                         [(["b"], "a"), (["c"], "a"), (["a"], "b"), (["c"], "b"), (["a"], "c"), (["b"], "c")])
        self.assertEqual(list(measured.comparisons(["a", "b", "c", "d"], 2))[:3], [(["b", "c"], "a"), (["c", "d"], "a"), (["d", "b"], "a")])
        self.assertEqual(list(measured.comparisons(["a", "b"], 1)), [(["b"], "a"), (["a"], "b")])


class Sizes(unittest.TestCase):
    def sizes(self, *words):
        with contextlib.redirect_stderr(io.StringIO()):
            return measured.sizes_of(measured.arguments_of([*words, "--out", "out", "binary"]))

    def test_are_of_one_and_of_five_runs_or_what_is_asked_for(self):
        self.assertEqual(self.sizes(), [1, 5])
        self.assertEqual(self.sizes("--runs=4"), [1])
        self.assertEqual(self.sizes("--baseline-runs=3,2"), [3, 2])
        for wrong in ("0", "10", "1,,2", "two"):
            with self.assertRaises(SystemExit):
                self.sizes(f"--baseline-runs={wrong}")


class Planted(unittest.TestCase):
    def test_one_case_becomes_slower_and_the_record_stays(self):
        metrics = {"compiled_ms": 4.0, "eager_ms": 8.0, "speedup": 2.0, "speedup_low": 1.8, "speedup_high": None}
        outcome = {"metrics": metrics, "samples": {"compiled_s": [0.004, 0.002], "eager_s": [0.008]}}
        results = {"results": [{"name": "a", "outcome": outcome}, {"name": "b", "outcome": outcome}]}
        slower, other = (result["outcome"] for result in measured.with_slower(results, "a", 2)["results"])
        self.assertEqual(slower["samples"], {"compiled_s": [0.008, 0.004], "eager_s": [0.008]})
        self.assertEqual(slower["metrics"], {"compiled_ms": 8.0, "eager_ms": 8.0, "speedup": 1.0, "speedup_low": 0.9,
                                             "speedup_high": None})
        self.assertEqual((other, metrics["speedup"]), (outcome, 2.0))


if __name__ == "__main__":
    unittest.main()
