#!/usr/bin/env python3
"""Tests how planted_rounding.py combines two verdicts."""
import argparse
import pathlib
import stat
import tempfile
import unittest

import planted_rounding as measured

# A fake torchstone. It prints a program of one node, and both rules reject its result.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
flags = dict(word[2:].partition("=")[::2] for word in sys.argv[1:])
if "torchstone_print_program" in flags:
    print("  %v8: float32[2, 64] = aten::relu(%v7)")
    sys.exit()
by_rounding = flags["torchstone_judge"] == "rounding"
outcome = {"status": "fail_accuracy", "metrics": {}, "notes": {}}
if by_rounding:
    outcome.update(metrics={"rounding_times": 3.5, "rounding_limit": 0.25}, notes={"rounding": "not explained", "rounding_of": "loss"})
folder = pathlib.Path(flags["torchstone_out"])
folder.mkdir()
(folder / "results.json").write_text(json.dumps({"results": [{"outcome": outcome}]}))
sys.exit(1)
"""


def line(upstream, rounding):
    return {"upstream": upstream, "rounding": rounding}


class PlantedRounding(unittest.TestCase):
    def test_faults_are_counted_by_who_refuses_them(self):
        lines = [line("fail_accuracy", "fail_accuracy"), line("pass", "fail_accuracy"), line("pass", "pass"),
                 line("fail_accuracy", "pass"), line("eager_two_runs_differ", "eager_two_runs_differ")]
        self.assertEqual(measured.counts(lines), {"both": 1, "upstream alone": 1, "rounding alone": 1, "neither": 2})

    def test_a_fault_without_a_verdict_has_empty_cells_and_the_reason(self):
        none = {"status": "pass", "metrics": {}, "notes": {"rounding": "none: no float64 run"}}
        found = measured.line_of({"model": "net"}, none, none)
        self.assertEqual((found["rounding_times"], found["rounding_limit"], found["verdict"]), ("", "", "none: no float64 run"))

    def test_each_fault_is_a_line_and_the_first_that_upstream_refuses_is_the_last(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            program = folder / "torchstone"
            program.write_text(PROGRAM)
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
            arguments = argparse.Namespace(binary=program, plugin="faults.so", out=folder, device="cpu", seed=1, draws=3)
            lines = list(measured.lines_of(arguments, "lennard_jones", "inference"))
            measured.write_csv(folder / "lines.csv", lines)
            self.assertEqual((folder / "lines.csv").read_text(), ",".join(measured.COLUMNS) + "\n"
                             "lennard_jones,inference,scaled,v8,aten::relu,fail_accuracy,fail_accuracy,3.5,0.25,loss,not explained\n")


if __name__ == "__main__":
    unittest.main()
