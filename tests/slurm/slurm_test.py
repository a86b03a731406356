#!/usr/bin/env python3
"""Tests torchstone-slurm with fake versions of torchstone, torchstone-report, sbatch and scontrol."""
import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "cases" / "slurm"))
import chunk_job  # noqa: E402
import merge_job  # noqa: E402
import torchstone_slurm  # noqa: E402

CRASHES = "suite/Accuracy.CompiledMatchesEager/model3_crashes_inference"

# A fake torchstone-report. `plan` makes one chunk per kind, and one for the case that crashes. `merge` records its
# inputs.
REPORT = """
import json, pathlib, sys
words = sys.argv[1:]
if words[0] == "merge":
    pathlib.Path(words[-1]).mkdir(parents=True)
    (pathlib.Path(words[-1]) / "inputs").write_text("\\n".join(words[1:-2]))
    sys.exit(7)
cases = json.loads(pathlib.Path(words[words.index("--cases") + 1]).read_text())
chunks = [[c["name"] for c in cases if c["timed"] == timed and "crashes" not in c["name"]] for timed in (False, True)]
chunks.insert(0, [c["name"] for c in cases if "crashes" in c["name"]])
kinds = ["judged", "judged", "timed"]
print(json.dumps({"assumed": [], "words": words, "chunks": [{"kind": k, "cases": c} for k, c in zip(kinds, chunks) if c]}))
"""
# A fake sbatch. It records each call with its batch script, and prints a new job id.
SBATCH = """
import json, os, pathlib, sys
calls = pathlib.Path(os.environ["FAKE_CALLS"])
number = len(calls.read_text().splitlines()) + 100 if calls.exists() else 100
with calls.open("a") as file:
    file.write(json.dumps({"words": sys.argv[1:], "script": sys.stdin.read()}) + "\\n")
print(f"{number};cluster")
"""
SCONTROL = """
import os, pathlib, sys
with pathlib.Path(os.environ["FAKE_CALLS"]).open("a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
"""


class WithFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "out"
        for name, text in (("torchstone-report", REPORT), ("sbatch", SBATCH), ("scontrol", SCONTROL)):
            self.program(name, text)
        self.program("torchstone", (HERE / "fake_torchstone.py").read_text())
        self.environment({"PATH": f"{self.folder}:{os.environ['PATH']}", "FAKE_CALLS": str(self.folder / "calls"), "FAKE_CASES": "12",
                          "FAKE_SECONDS": "0"})

    def program(self, name, text):
        script, program = self.folder / f"{name}.py", self.folder / name
        script.write_text(text)
        program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -B '{script}' \"$@\"\n")
        program.chmod(0o755)

    def environment(self, variables):
        patch = mock.patch.dict(os.environ, variables)
        patch.start()
        self.addCleanup(patch.stop)

    def calls(self):
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []

    def run_tool(self, *arguments):
        """Returns the exit code, and the output of both streams."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                code = torchstone_slurm.main([f"--out={self.out}", "--length=60", f"--program={self.folder / 'torchstone'}", *arguments])
            except SystemExit as refusal:
                code = refusal.code
        return code, printed.getvalue()

    def run_chunk(self, number):
        self.environment({"SLURM_ARRAY_JOB_ID": "100", "SLURM_ARRAY_TASK_ID": str(number)})
        with contextlib.redirect_stdout(io.StringIO()):
            return chunk_job.main(self.out)

    def run_merge(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            return merge_job.main(self.out), printed.getvalue()


class Submission(WithFolder):
    def test_submits_an_array_for_each_kind_and_a_merge(self):
        code, said = self.run_tool("--sbatch=--partition=gpu", "--timed-last")
        self.assertEqual(code, 0, said)
        judged, timed, merge = (json.loads(line) for line in self.calls())
        self.assertIn("--array=0-1", judged["words"])
        self.assertIn("--array=2-2", timed["words"])
        for call in (judged, timed, merge):
            self.assertIn("--requeue", call["words"])
            self.assertIn("--partition=gpu", call["words"])
        self.assertNotIn("--exclusive", judged["words"])
        self.assertIn("--exclusive", timed["words"])
        self.assertIn("--dependency=afterany:100", timed["words"])
        self.assertIn("--dependency=afterany:100:101", merge["words"])
        self.assertRegex(judged["script"], rf"^#!/bin/sh\nexec .*torchstone_slurm.py chunk {re.escape(str(self.out))}\n$")

    def test_options_of_timed_chunks_replace_the_default(self):
        self.run_tool("--sbatch-timed=--gres=gpu:1")
        timed = json.loads(self.calls()[1])["words"]
        self.assertIn("--gres=gpu:1", timed)
        self.assertNotIn("--exclusive", timed)
        self.assertFalse([word for word in timed if word.startswith("--dependency")])

    def test_flags_become_twins(self):
        self.run_tool("--", "--torchstone_repeat=3", "--torchstone_fast")
        self.assertEqual(chunk_job.read_json(self.out / "job.json")["twins"], {"TORCHSTONE_REPEAT": "3", "TORCHSTONE_FAST": "true"})

    def test_results_and_assumed_duration_reach_the_plan(self):
        self.run_tool("--results=a", "--results=b", "--assume=2")
        words = chunk_job.read_json(self.out / "plan.json")["words"]
        self.assertEqual(words[:4], ["plan", "a", "b", "--cases"])
        self.assertEqual(words[words.index("--assume") + 1], "2.0")

    def test_a_filter_selects(self):
        self.run_tool("--", "--gtest_filter=*model1*:*model2_*-*model11*")
        names = [case["name"] for case in chunk_job.read_json(self.out / "cases.json")]
        self.assertEqual([re.search(r"model\d+", name)[0] for name in names], ["model1", "model2", "model10"])
        self.assertTrue(torchstone_slurm.filter_keeps("-*b*", "a"))
        self.assertFalse(torchstone_slurm.filter_keeps("-*b*", "ab"))
        self.assertFalse(torchstone_slurm.filter_keeps("a[b]", "ab"), "GoogleTest has no brackets")

    def test_refusals(self):
        for arguments in (["--retries=-1"], ["--", "--torchstone_out=x"], ["--", "resnet18"],
                          ["--", "--torchstone_plugin=a.so", "--torchstone_plugin=b.so"]):
            self.assertEqual(self.run_tool(*arguments)[0], 2, arguments)
        self.assertEqual(self.run_tool("--", "--gtest_filter=nothing")[0], 3)
        self.out.mkdir()
        (self.out / "mine").write_text("")
        code, said = self.run_tool()
        self.assertEqual(code, 2)
        self.assertIn("expected a new or an empty folder", said)
        self.assertEqual(self.calls(), [])

    def test_waits_for_the_merge_and_returns_its_code(self):
        self.program("sbatch", "import sys; print(1); sys.exit(130 if '--wait' in sys.argv else 0)")
        self.assertEqual(self.run_tool()[0], 0)
        self.out = self.folder / "another"
        self.assertEqual(self.run_tool("--wait")[0], 130)

    def test_sbatch_that_fails_is_infrastructure(self):
        self.program("sbatch", "import sys; print('no such partition', file=sys.stderr); sys.exit(1)")
        code, said = self.run_tool()
        self.assertEqual(code, 4)
        self.assertIn("no such partition", said)


class Chunks(WithFolder):
    def setUp(self):
        super().setUp()
        self.run_tool("--retries=2")
        (self.folder / "calls").unlink()

    def records(self, number, attempt):
        return sorted(file.name for file in (self.out / "chunks" / str(number) / str(attempt) / "cases").glob("*.json"))

    def test_exit_code_4_is_requeued_so_often(self):
        for _ in range(4):
            self.assertEqual(self.run_chunk(0), 4)
        self.assertEqual(self.calls(), ["requeue 100_0"] * 2)

    def test_other_exit_codes_are_final(self):
        self.assertEqual(self.run_chunk(1), 0)
        self.program("torchstone", "import sys; sys.exit(1)")
        self.assertEqual(self.run_chunk(2), 1)
        self.program("torchstone", "import os; os.kill(os.getpid(), 9)")
        self.assertEqual(self.run_chunk(2), 137)
        self.assertEqual(self.calls(), [])

    def test_an_attempt_runs_what_earlier_ones_did_not_finish(self):
        self.run_chunk(1)
        kept = self.records(1, 0)
        running = self.out / "chunks" / "1" / "0" / "cases" / kept[0]
        record = chunk_job.read_json(running)
        record["result"]["finished"] = False  # as if the node had died during this case
        chunk_job.write_json(running, record)
        (running.parent / kept[1]).unlink()
        self.assertEqual(self.run_chunk(1), 0)
        self.assertEqual(self.records(1, 1), kept[:2])
        self.assertEqual(self.run_chunk(1), 0)
        self.assertEqual(self.records(1, 2), [], "nothing was left to do")

    def test_wrong_answers_are_done_and_faults_of_the_machine_are_not(self):
        def done(**outcome):
            return chunk_job.is_done({"result": {"name": "a", "outcome": outcome}})
        self.assertTrue(done(status="fail_accuracy"))
        self.assertFalse(done(status="fail_to_run", infrastructure_fault="no compiler"))
        self.assertFalse(done())
        self.assertFalse(chunk_job.is_done(None))
        table = (ROOT / "reports" / "record" / "verdict.cpp").read_text()
        rows = re.findall(r'\{Status::\w+, "(\w+)", \w+, \w+, ExitCode::(\w+)\}', table)
        self.assertEqual({name for name, code in rows if code in ("infrastructure", "interrupted")}, chunk_job.UNFINISHED)


class Merge(WithFolder):
    def setUp(self):
        super().setUp()
        self.run_tool("--retries=0")

    def inputs(self):
        return [pathlib.Path(line).relative_to(self.out).as_posix() for line in (self.out / "merged" / "inputs").read_text().splitlines()
                if line != "--exit-code"]

    def test_merges_all_attempts_and_returns_the_verdict(self):
        for number in (0, 1, 2, 0):
            self.run_chunk(number)
        code, _ = self.run_merge()
        self.assertEqual(code, 7)
        self.assertEqual(self.inputs(), ["chunks/0/0", "chunks/0/1", "chunks/1/0", "chunks/2/0"])

    def test_a_case_without_any_record_is_a_row(self):
        self.run_chunk(1)
        self.environment({"FAKE_DIES": CRASHES})
        self.run_chunk(0)
        _, said = self.run_merge()
        self.assertIn("2 cases left no result", said)
        self.assertEqual(self.inputs(), ["chunks/1/0", "lost.json"])
        lost = {row["name"]: row for row in chunk_job.read_json(self.out / "lost.json")["results"]}
        self.assertEqual(lost[CRASHES]["outcome"]["reason"], "chunk 0 left no result: exit code 4 in the last of 1 attempts")
        self.assertEqual(lost[CRASHES]["check"], "accuracy")
        never = next(row for name, row in lost.items() if name != CRASHES)
        self.assertEqual(never["outcome"]["reason"], "chunk 2 left no result: no attempt ended")


if __name__ == "__main__":
    unittest.main()
