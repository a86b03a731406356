#!/usr/bin/env python3
"""judge_packages.py with the stand-in for timm and a program that answers as torchstone does."""
import datetime
import json
import os
import pathlib
import subprocess
import sys
import unittest

import answering_program

HERE = pathlib.Path(__file__).resolve().parent


class JudgePackages(answering_program.AnsweringProgram):
    rows = """
rows = [{"backend": b, "outcome": {"status": "pass" if b == "torchscript" else "fail_accuracy", "reason": "/a/b-c/model.py: too far" + chr(10) + "more"}}
        for b in flags["backends"].split(",")]
"""

    def run_it(self, *arguments, status=0):
        environment = dict(os.environ, PYTHONPATH=str(HERE / "packages"), PYTHONDONTWRITEBYTECODE="1")
        done = subprocess.run([sys.executable, HERE / "judge_packages.py", self.program, self.folder / "ledger.jsonl", "--files",
                               self.folder, *arguments], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        return [json.loads(line) for line in (self.folder / "ledger.jsonl").read_text().splitlines()]

    def test_a_line_for_each_model_once(self):
        tomorrow = (datetime.datetime.now() - datetime.timedelta(minutes=1)).strftime("%H:%M")
        rows = self.run_it("timm:tiny.net/v1", "timm:gated", "--backends", "torchscript,inductor", "--until", tomorrow)
        self.assertEqual([(row["name"], row["export"], row["judged"]) for row in rows],
                         [("timm:tiny.net/v1", "ok", {"torchscript": "pass", "inductor": "fail_accuracy"}), ("timm:gated", "failed", {})])
        self.assertEqual([row["reason"] for row in rows], ["model.py: too far", "PermissionError: gated: ask its author"])
        [call] = self.called()
        self.assertEqual((call["only"], call["modes"]), (str(self.folder.resolve() / "timm_tiny_net_v1.pt2"), "inference"))
        self.assertRegex(call["out"], r"/out-\d+$", "two runs with the same files are not in each other's way")
        self.assertFalse(pathlib.Path(call["only"]).exists(), "only --keep keeps files")
        self.assertEqual(self.run_it("timm:tiny.net/v1", "timm:gated", "--backends", "inductor"), rows)
        self.run_it("timm:gated", "--backends", "inductor", "--goal", "0.01", status=1)
        traced = self.run_it("timm:tiny.net/v1", "--traced", "--backends", "torchscript", "--goal", "1")[-1]
        self.assertEqual((traced["kind"], traced["export"]), ("traced", "ok"))
        self.assertIn("tiny_net_v1_inputs.pt", self.called()[-1]["inputs"])


if __name__ == "__main__":
    unittest.main()
