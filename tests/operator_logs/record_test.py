#!/usr/bin/env python3
"""record.py with a program that answers as torchstone does."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ANSWER = """#!{python}
import json, sys
flags = dict((a[len("--torchstone_"):].split("=", 1) + [""])[:2] for a in sys.argv[1:])
if flags.get("list") == "models":
    print(json.dumps([{{"model": model, "family": family, "suites": suites, "parameters_mini": size}} for model, family, suites, size in (
        ("resnet50", "resnet", "torchbench", 9), ("resnet18", "resnet", "torchbench", 5), ("alexnet", "alexnet", "torchbench", 7),
        ("broken", "broken", "timm", 1), ("lstm_aten", "lstm", "fastrnns", None))]))
elif flags["only"] == "broken":
    sys.exit("torchstone: no such model")
else:
    open(flags["log_operator_inputs"], "w").write("Operator: aten.of_" + flags["only"] + chr(10))
"""


class Record(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.program = self.folder / "torchstone"
        self.program.write_text(ANSWER.format(python=sys.executable))
        self.program.chmod(0o755)

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, "-B", HERE / "record.py", self.program, "--folder", self.folder, *arguments],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, sorted(path.name for path in self.folder.glob("*.txt"))

    def test_each_family_has_a_log_of_its_smallest_model(self):
        status, words, logs = self.run_it("--jobs", "2")
        self.assertEqual((status, logs), (1, ["alexnet_inference.txt", "resnet18_inference.txt"]))
        self.assertIn("broken: torchstone: no such model", words)
        self.assertEqual((self.folder / "resnet18_inference.txt").read_text(), "Operator: aten.of_resnet18\n")

    def test_a_family_keeps_the_model_of_its_log(self):
        log = self.folder / "resnet50_inference.txt"
        log.write_text("Operator: old\n")
        self.run_it()
        self.assertEqual(log.read_text(), "Operator: old\n")
        _, _, logs = self.run_it("--again")
        self.assertEqual(logs, ["alexnet_inference.txt", "resnet50_inference.txt"])
        self.assertEqual(log.read_text(), "Operator: aten.of_resnet50\n")

    def test_check_names_families_without_log(self):
        (self.folder / "resnet18_inference.txt").write_text("Operator: old\n")
        status, words, logs = self.run_it("--check")
        self.assertEqual((status, logs), (1, ["resnet18_inference.txt"]))
        self.assertIn("no log of the family of alexnet", words)
        self.assertNotIn("resnet", words.replace(str(self.folder), ""))


if __name__ == "__main__":
    unittest.main()
