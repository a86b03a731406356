#!/usr/bin/env python3
"""Tests tournament_repeats.py with a fake program that writes planted results."""
import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("tournament_repeats.py")
sys.path.insert(0, str(SCRIPT.parent))
import tournament_repeats  # noqa: E402


def tournament(best, **speedups):
    variants = [{"name": name, "timed": value is not None, "speedup": value} for name, value in speedups.items()]
    return {"model": "net", "best": best, "variants": variants}


class Report(unittest.TestCase):
    def test_sets_are_counted_whatever_their_order(self):
        runs = [tournament(["a", "b"], a=2.0, b=2.1), tournament(["b", "a"], a=2.2, b=2.1), tournament(["b"], a=1.0, b=2.0)]
        lines, most = tournament_repeats.report("net", runs)
        self.assertEqual(most, 2)
        self.assertEqual(lines[:3], ["net: 3 runs", "    2  a, b", "    1  b"])
        self.assertIn("       2.100x [2.000 2.100] in 3  b", lines)

    def test_a_variant_that_is_out_has_no_speed(self):
        self.assertEqual(dict(tournament_repeats.speedups([tournament(["a"], a=1.5, wrong=None)])), {"a": [1.5]})


class Program(unittest.TestCase):
    """Runs the script with a fake program that has a different result in run 4 and fails in run 9."""

    def run_script(self, folder, *flags):
        binary = pathlib.Path(folder, "torchstone")
        usual, other = json.dumps({"models": [tournament(["a"], a=2.0)]}), json.dumps({"models": [tournament(["b"], a=2.0)]})
        binary.write_text(f"""#!{sys.executable}
import pathlib, sys
out = pathlib.Path(next(a.partition("=")[2] for a in sys.argv if a.startswith("--torchstone_out=")))
assert "--torchstone_tournament" in sys.argv and "--torchstone_threads=1" in sys.argv, sys.argv
if out.name == "9": sys.exit("no memory")
out.mkdir(parents=True, exist_ok=True)
(out / "tournament.json").write_text({other!r} if out.name == "4" else {usual!r})
""")
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        return subprocess.run([sys.executable, "-B", SCRIPT, binary, "--models", "net", "--out", os.path.join(folder, "out"), *flags,
                               "--flags", "--torchstone_threads=1"], capture_output=True, text=True)

    def test_a_set_that_came_often_enough_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script(folder, "--repeats", "5", "--goal", "4")
            self.assertEqual((done.returncode, done.stdout.splitlines()[:3]), (0, ["net: 5 runs", "    4  a", "    1  b"]), done.stderr)
            self.assertEqual(self.run_script(folder, "--repeats", "5", "--goal", "5").returncode, 1, "read again, not run again")

    def test_a_run_that_was_interrupted_is_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            left = pathlib.Path(folder, "out", "net", "2", "tournament.json")
            left.parent.mkdir(parents=True)
            left.write_text(json.dumps({"models": [tournament([]) | {"failure": "interrupted"}]}))
            done = self.run_script(folder, "--repeats", "3", "--goal", "3")
            self.assertEqual((done.returncode, done.stdout.splitlines()[:2]), (0, ["net: 3 runs", "    3  a"]), done.stderr)

    def test_a_run_that_fails_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_script(folder, "--repeats", "9", "--goal", "1")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("net, run 9: exit code 1\nno memory", done.stderr)


if __name__ == "__main__":
    unittest.main()
