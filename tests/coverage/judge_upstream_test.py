#!/usr/bin/env python3
"""Tests judge_upstream.py with a fake torchstone."""
import argparse
import datetime
import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

import coverage

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "exporter"))
import answering_program  # noqa: E402
import judge_packages  # noqa: E402
import judge_upstream  # noqa: E402


class JudgeUpstream(answering_program.AnsweringProgram):
    rows = """
if flags["only"].endswith("hf_Bart"):
    sys.exit("torchstone: /a/b/file.pt2: gated")
if flags["only"].endswith("ghostnet_100"):
    time.sleep(60)
rows = [{"mode": mode, "outcome": {"status": "pass" if mode == "inference" else "fail_accuracy", "reason": "" if mode == "inference" else "too far"}}
        for mode in flags["modes"].split(",")]
"""

    def run_it(self, *arguments):
        self.calls.write_text("")
        done = subprocess.run([sys.executable, "-B", HERE / "judge_upstream.py", self.program, "--ledger", self.folder / "ledger.jsonl",
                               "--files", self.folder / "files", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in (self.folder / "ledger.jsonl").read_text().splitlines()]

    def test_a_line_for_each_kind_and_mode_of_a_name(self):
        absent = next(name for name, ours, _ in coverage.upstream()[0]["timm"] if ours is None)  # not in the zoo
        rows = self.run_it("hf_Albert", absent, "--jobs", "3")
        said = sorted((row["name"], row["kind"], row["backend"], row["mode"], row["status"], row["reason"]) for row in rows)
        self.assertEqual(said, sorted((name, kind, backend, mode, *end) for name, kind, backend in (
            (absent, "exported", "inductor"), (absent, "python", "torch_compile"),
            ("hf_Albert", "exported", "inductor"), ("hf_Albert", "native", "inductor"), ("hf_Albert", "python", "torch_compile"))
            for mode, *end in (("inference", "pass", ""), ("training", "fail_accuracy", "too far"))))
        self.assertIn("torch", rows[0]["versions"])
        calls = {(call["only"], call.get("subject", "")): call for call in self.called()}
        self.assertEqual(set(calls), {("albert_base_v2", ""), ("upstream:hf_Albert", ""), ("upstream:hf_Albert", "python"),
                                      (f"upstream:{absent}", ""), (f"upstream:{absent}", "python")})
        for call in calls.values():
            self.assertIn("no_skip", call)
            self.assertEqual((call["presets"], call["devices"]), ("mini", "cpu"))

    def test_a_run_is_continued(self):
        first = self.run_it("levit_128", "--kinds", "native", "--modes", "inference")
        self.assertEqual(self.run_it("levit_128", "--kinds", "native", "--modes", "inference"), first)
        self.assertEqual(self.called(), [])
        self.run_it("levit_128", "--kinds", "native")
        self.assertEqual([call["modes"] for call in self.called()], ["training"])
        self.run_it("levit_128", "--kinds", "native", "--again")
        self.assertEqual([call["modes"] for call in self.called()], ["training"], "what passed is not judged again")
        self.run_it("levit_128", "--kinds", "native", "--devices", "cuda:0,cuda:1", "--preset", "full")
        self.assertEqual([(call["modes"], call["devices"]) for call in self.called()], [("inference,training", "cuda:0")])
        ledger = self.folder / "ledger.jsonl"
        ledger.write_text(ledger.read_text().replace('"torch": "', '"torch": "1.'))
        self.run_it("levit_128", "--kinds", "native", "--modes", "inference")
        self.assertEqual(len(self.called()), 1, "another version of torch")

    def test_a_model_without_results_has_a_line_with_the_reason(self):
        rows = self.run_it("hf_Bart", "--kinds", "exported", "--modes", "inference")
        self.assertEqual([(row["status"], row["reason"]) for row in rows], [("not_run", "torchstone: file.pt2: gated")])
        late = self.run_it("ghostnet_100", "--kinds", "python", "--modes", "inference", "--limit", "0.5")[-1]
        self.assertEqual((late["status"], late["reason"]), ("not_run", "took longer than 0.5 s"))

    def test_ctrl_c_ends_the_run_and_judges_nothing_more(self):
        self.calls.write_text("")
        tool = subprocess.Popen([sys.executable, "-B", HERE / "judge_upstream.py", self.program, "--ledger", self.folder / "ledger.jsonl",
                                 "--files", self.folder / "files", "--kinds", "python", "ghostnet_100", "levit_128"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until = time.monotonic() + 60
        while not self.called() and time.monotonic() < until:
            time.sleep(0.05)
        tool.send_signal(signal.SIGINT)
        try:
            text, _ = tool.communicate(timeout=30)
        finally:
            tool.kill()
        self.assertEqual(tool.returncode, 130, text)
        self.assertEqual(len(self.called()), 1)
        self.assertFalse((self.folder / "ledger.jsonl").exists(), "what was ended has no verdict")

    def test_until_is_the_next_time_that_the_clock_shows_this(self):
        late = datetime.datetime(2026, 11, 30, 23, 50, 30)
        for text, expected in (("00:30", datetime.datetime(2026, 12, 1, 0, 30)), ("23:55", datetime.datetime(2026, 11, 30, 23, 55)),
                               ("23:50", datetime.datetime(2026, 12, 1, 23, 50))):
            self.assertEqual(judge_packages.next_time(text, late), expected, text)
        for wrong in ("25:00", "0030", ""):
            with self.assertRaises(argparse.ArgumentTypeError):
                judge_packages.next_time(wrong, late)

    def test_until_a_time_of_tomorrow_judges_today(self):
        tomorrow = (datetime.datetime.now() - datetime.timedelta(minutes=1)).strftime("%H:%M")
        self.assertEqual(len(self.run_it("levit_128", "--kinds", "native", "--modes", "inference", "--until", tomorrow)), 1)

    def test_after_until_no_model_is_begun(self):
        options = judge_upstream.arguments([str(self.program), "--files", str(self.folder), "--ledger", str(self.folder / "ledger.jsonl"),
                                            "--until", "00:30"])
        options.until = datetime.datetime.now() - datetime.timedelta(seconds=1)
        judge_upstream.judge_all(options, [("levit_128", "native", "levit_128", ["inference"])], {})
        self.assertFalse(self.calls.exists())
        self.assertFalse((self.folder / "ledger.jsonl").exists())

    def test_a_name_that_upstream_has_not_is_refused(self):
        done = subprocess.run([sys.executable, "-B", HERE / "judge_upstream.py", self.program, "--files", self.folder, "resnet_of_nobody"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("resnet_of_nobody is no name of upstream_models.txt", done.stderr)


if __name__ == "__main__":
    unittest.main()
