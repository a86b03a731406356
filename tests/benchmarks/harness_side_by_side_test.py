#!/usr/bin/env python3
"""Tests harness_side_by_side.py with fake programs that write planted results."""
import contextlib
import csv
import io
import json
import os
import pathlib
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).with_name("harness_side_by_side.py")
sys.path.insert(0, str(SCRIPT.parent))
import harness_side_by_side as side_by_side  # noqa: E402

# A fake Torchstone. The second model's compiled side is wrong and has no timing.
TORCHSTONE = """#!{python}
import json, pathlib, sys
given = dict(one.partition("=")[::2] for one in sys.argv[1:])
out = pathlib.Path(given["--torchstone_out"])
if out.exists() and any(out.iterdir()):
    sys.exit(f"{{out}} is not a results folder of Torchstone")
out.mkdir(parents=True, exist_ok=True)
timed = given["--torchstone_checks"] == "performance"
if not timed and given.keys() & {{"--torchstone_measure_budget", "--torchstone_processes"}}:
    sys.exit("--torchstone_measure_budget is only for cases of performance")
good = given["--torchstone_only"].endswith(",class:timm_good")
outcome = {{"status": "pass" if good else "fail_accuracy", "reason": "planted", "metrics": {{"unique_graphs": 2.0, "graph_breaks": 1.0,
           "calls_captured": 9.0, "recompiles": 0.0}}}}
if good and timed:
    outcome["metrics"].update(speedup=2.0, speedup_low=1.9, speedup_high=2.1, eager_ms=4.0, compiled_ms=2.0)
(out / "results.json").write_text(json.dumps({{"results": [{{"outcome": outcome}}]}}))
sys.exit(0 if good else 1)
"""
# A fake start_harness.py. Its second model fails in both checks.
HARNESS = """
import array, pathlib, struct, sys
given = dict(one.partition("=")[::2] for one in sys.argv[1:])
out, name = given["--output"], given["--only"].rpartition(":")[2]
good, timed = name == "timm_good", "--performance" in given
stats = "calls_captured,unique_graphs,graph_breaks,unique_graph_breaks"
head = "dev,name,batch_size," + ("speedup,abs_latency" if timed else "accuracy")
if timed and good:
    header = repr({"descr": "<f8", "fortran_order": False, "shape": (30, 2)}).encode()
    values = struct.pack("<60d", *[one for i in range(30) for one in (0.0042 + 1e-5 * i, 0.002)])
    raw = out[:-4] + f"-raw_timings-{name}-cpu.npy"
    pathlib.Path(raw).write_bytes(b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(header)) + header + values)
    text = f"{head},{stats}\\ncpu,{name},8,2.17,2.0,9,2,1,1\\n"
elif good:
    text = f"{head},{stats}\\ncpu,{name},8,pass,9,2,1,1\\n"
else:
    text = f"{head}\\ncpu,{name},0," + ("0.0,0.0\\n" if timed else "eager_fail_to_run\\n")
pathlib.Path(out).write_text(text)
print("planted failure" if not good else "")
sys.exit(0 if good else 255)
"""


def compared(folder, *flags):
    """Runs the script with the fake programs. Returns its exit code and the rows by model."""
    torchstone = folder / "torchstone"
    torchstone.write_text(TORCHSTONE.format(python=sys.executable))
    torchstone.chmod(torchstone.stat().st_mode | stat.S_IXUSR)
    harness = folder / "harness"
    harness.mkdir()
    (harness / "timm_models.py").write_text("")
    planted = folder / "planted.py"
    planted.write_text(HARNESS)
    python = folder / "python"  # the harness's interpreter, which runs planted.py instead of any script
    python.write_text(f"#!/bin/sh\nshift 3\nexec {sys.executable} {planted} \"$@\"\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    out = folder / "out"
    done = subprocess.run([sys.executable, "-B", str(SCRIPT), str(torchstone), f"--harness={harness}", f"--out={out}", f"--python={python}",
                           *flags], capture_output=True, text=True)
    table = out / "side_by_side.csv"
    rows = {row["model"]: row for row in csv.DictReader(table.read_text().splitlines())} if table.exists() else {}
    return done, rows


def harness_of(test):
    """Returns a folder that looks like the harness's."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    pathlib.Path(folder.name, "timm_models.py").touch()
    return folder.name


class Comparison(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_statuses_counts_and_speedups_of_both_programs_are_in_a_row(self):
        done, rows = compared(self.path, "--turns=2", "timm:good")
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        row = rows["timm:good"]
        self.assertEqual((row["status"], row["harness_status"]), ("pass", "pass"))
        self.assertEqual([row[name] for name in ("graphs", "harness_graphs", "graph_breaks", "harness_graph_breaks", "calls", "harness_calls")],
                         ["2", "2", "1", "1", "9", "9"])
        self.assertEqual([row[name] for name in ("speedup", "speedup_low", "speedup_high", "turns")], ["2", "1.9", "2.1", "2"])
        self.assertEqual([row[name] for name in ("harness_speedup", "harness_turns")], ["2.17", "2"])
        self.assertLess(2.1, float(row["harness_low"]))
        self.assertLess(float(row["harness_high"]), 2.25)
        self.assertEqual(row["speedups"], side_by_side.APART)

    def test_a_failure_of_either_program_is_a_row_with_its_reason(self):
        done, rows = compared(self.path, "--turns=1", "timm:bad", "timm:good")
        self.assertEqual(done.returncode, 1)
        row = rows["timm:bad"]
        self.assertEqual((row["status"], row["harness_status"]), ("fail_accuracy", "eager_fail_to_run"))
        self.assertEqual((row["turns"], row["harness_turns"], row["speedups"], row["harness_speedup"]), ("0", "0", "", ""))
        self.assertEqual(row["reason"], "planted")
        self.assertIn("planted failure", row["harness_reason"])
        self.assertEqual(rows["timm:good"]["status"], "pass")

    def test_without_time_nothing_starts_and_the_row_says_so(self):
        done, rows = compared(self.path, "--limit=1", "timm:good")
        self.assertEqual(done.returncode, 1)
        self.assertEqual((rows["timm:good"]["status"], rows["timm:good"]["reason"]), ("none", "no time was left"))
        self.assertIn("timm:good: left out", done.stdout)
        self.assertIn("Left out: 8 runs (--limit=1, --least=15)", done.stdout)

    def test_without_time_for_timings_the_row_says_so(self):
        row = side_by_side.row_of("timm:good", side_by_side.arguments(["t", "--harness", harness_of(self), "--out", "/tmp/none", "timm:good"]),
                                  {(program, "accuracy"): [{"status": "pass", "reason": ""}] for program in side_by_side.PROGRAMS})
        self.assertEqual((row["status"], row["reason"], row["harness_reason"]), ("pass", "no time was left", "no time was left"))

    def test_the_runs_of_an_earlier_comparison_are_not_mixed_in(self):
        (self.path / "out" / "runs").mkdir(parents=True)
        done, _ = compared(self.path, "timm:good")
        self.assertEqual(done.returncode, 2)
        self.assertIn("earlier comparison", done.stderr)


class Parts(unittest.TestCase):
    def test_a_run_that_takes_too_long_is_stopped(self):
        with tempfile.TemporaryDirectory() as folder:
            reason = side_by_side.run([sys.executable, "-c", "import time; time.sleep(60)"], pathlib.Path(folder), 0.2)
            self.assertIn("stopped after", reason)
            reason = side_by_side.run([sys.executable, "-c", "print('the last line'); raise SystemExit(3)"], pathlib.Path(folder), 30)
            self.assertEqual(reason, "exit code 3: the last line")

    def test_a_run_ends_with_an_interrupted_script(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(KeyboardInterrupt), \
                mock.patch.object(subprocess.Popen, "wait", side_effect=[KeyboardInterrupt, 0]), \
                mock.patch.object(os, "killpg", wraps=os.killpg) as killed:
            side_by_side.run([sys.executable, "-c", "import time; time.sleep(5)"], pathlib.Path(folder), 30)
        killed.assert_called_once()

    def test_models_whose_classes_have_the_same_name_are_refused(self):
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()) as errors:
            side_by_side.arguments(["torchstone", "--harness", harness_of(self), "--out", "/tmp/none", "timm:a.b", "timm:a_b"])
        self.assertIn("timm:a.b and timm:a_b would both be the class timm_a_b", errors.getvalue())

    def test_the_interval_of_turns_holds_those_of_all(self):
        turns = [{"speedup": 2.0, "speedup_low": 1.8, "speedup_high": 2.1}, {"speedup": 2.2, "speedup_low": 2.0, "speedup_high": 2.4}, {}]
        self.assertEqual(side_by_side.joined(turns), {"speedup": 2.1, "speedup_low": 1.8, "speedup_high": 2.4, "turns": 2})
        self.assertEqual(side_by_side.joined([{"speedup": 2.0}, turns[0]]), {"speedup": 2.0, "turns": 2})

    def test_speedups_agree_within_both_intervals_only(self):
        def one(value, low, high):
            return {"speedup": value, "speedup_low": low, "speedup_high": high}
        self.assertEqual(side_by_side.relation(one(2.0, 1.8, 2.2), one(2.1, 1.9, 2.3)), side_by_side.BOTH)
        self.assertEqual(side_by_side.relation(one(2.0, 1.8, 2.2), one(2.3, 2.1, 2.5)), side_by_side.OVERLAP)
        self.assertEqual(side_by_side.relation(one(2.0, 1.8, 2.2), one(2.4, 2.3, 2.5)), side_by_side.APART)
        self.assertEqual(side_by_side.relation(one(2.0, 1.8, 2.2), {"speedup": 2.0}), "")

    def test_arrays_of_another_kind_are_refused(self):
        header = repr({"descr": "<f4", "fortran_order": False, "shape": (1, 2)}).encode()
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<2f", 1, 2)
        with self.assertRaises(ValueError):
            side_by_side.array_of(data)
        with self.assertRaises(ValueError):
            side_by_side.array_of(b"no array")

    def test_the_file_has_a_class_for_each_model(self):
        options = side_by_side.arguments(["torchstone", "--harness", harness_of(self), "--out", "/tmp/none", "--device=cuda", "--mode=training",
                                          "timm:vit.a-b", "transformers:Bert", "timm:vit.a-b"])
        self.assertEqual((options.dtype, options.preset, options.models), ("bfloat16", "full", ["timm:vit.a-b", "transformers:Bert"]))
        text = side_by_side.models_file(options.models, options)
        compile(text, "models_of_packages.py", "exec")
        self.assertIn("class timm_vit_a_b(PackageModel):\n    source = 'timm:vit.a-b'\n    preset, batch_size, training_mode = 'full', None, True", text)

    def test_both_programs_get_the_same_settings(self):
        given = ["torchstone", "--harness", harness_of(self), "--out", "/tmp/none", "timm:net"]
        plain, graphs = side_by_side.arguments(given), side_by_side.arguments([*given, "--cuda_graphs", "--processes=3"])
        ours, theirs = (command(plain, "timm:net", "performance", "/o") for command in
                        (side_by_side.torchstone_command, side_by_side.harness_command))
        self.assertIn("--torchstone_dtypes=float32", ours)
        self.assertIn("--float32", theirs)
        self.assertIn("--disable-cudagraphs", theirs)
        self.assertIn("--dump-raw-metrics", theirs)
        self.assertIn("--only=path:/tmp/none/models_of_packages.py,class:timm_net", theirs)
        self.assertNotIn("--disable-cudagraphs", side_by_side.harness_command(graphs, "timm:net", "performance", "/o"))
        changed = side_by_side.torchstone_command(graphs, "timm:net", "performance", "/o")
        self.assertIn("--torchstone_backends=torch_compile:mode=reduce-overhead", changed)
        self.assertIn("--torchstone_processes=3", changed)

if __name__ == "__main__":
    unittest.main()
