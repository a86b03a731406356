#!/usr/bin/env python3
"""Tests torchstone-releases with a fake torchstone (fake_torchstone.py), which writes the results of a plan."""
import contextlib
import io
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "cases" / "releases"))
import bisection  # noqa: E402
import cells  # noqa: E402
import changes  # noqa: E402
import environments  # noqa: E402
import release  # noqa: E402
import runs  # noqa: E402
import torchstone_releases  # noqa: E402

ACCURACY = "torchbench/Accuracy.CompiledMatchesEager/resnet18_inference_float32_inductor_cpu"
OTHER = "torchbench/Accuracy.CompiledMatchesEager/alexnet_inference_float32_inductor_cpu"
SPEED = "torchbench/Performance.CompiledAgainstEager/resnet18_inference_float32_inductor_cpu"
SPEED_2 = "torchbench/Performance.CompiledAgainstEager/alexnet-2_inference_float32_inductor_cpu"
PASS = {"status": "pass"}


def timed(speedup, half=0.01, **facts):
    return {"speedup": [speedup, speedup * (1 - half), speedup * (1 + half)], **facts}


class Fakes:
    """Makes a fake program for each release. `plans` maps a release to its cases, or to the reason why it does not install."""

    def __init__(self, folder, plans):
        self.folder, self.plans = folder, plans
        self.calls_file = folder / "calls"
        self.made, self.ready, self.installed = [], [], []  # names of releases
        self.offers = "2.14.1, 2.13.0+cpu, 2.12.1, 2.12.0, 2.11.0, 2.9.1"

    def oldest(self):
        return "2.11"

    def is_installed(self, wanted):
        return wanted.name in self.installed

    def is_ready(self, wanted):
        return wanted.name in self.ready

    def program(self, wanted):
        if wanted.program:
            return pathlib.Path(wanted.program)
        self.made.append(wanted.name)
        return self.written(wanted)

    def written(self, wanted):
        """Writes the fake program of a release and returns its path."""
        plan = self.plans[wanted.name]
        if isinstance(plan, str):
            raise environments.Unusable(plan)
        place = self.folder / wanted.name
        place.mkdir(exist_ok=True)
        file, program = place / "plan.json", place / "torchstone"
        if not file.exists():
            plan = plan if "cases" in plan else {"cases": plan}
            file.write_text(json.dumps({"release": wanted.name, "calls": str(self.calls_file), **plan}))
            version = f"echo 'torchstone 0.1.0 (LibTorch {release.numbers_of(plan.get('torch', wanted.name))})'"
            program.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {version} && exit\n"
                               f"exec '{sys.executable}' -B '{HERE / 'fake_torchstone.py'}' '{file}' \"$@\"\n")
            program.chmod(0o755)
            report = place / "torchstone-report"
            report.write_text("#!/bin/sh\n[ \"$1\" = html ] && echo page >\"$4\"\n")
            report.chmod(0o755)
        return program

    def calls(self):
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []

    def known_to_pip(self, nightlies=False):
        if not self.offers:
            raise environments.Unusable("pip cannot list the releases of torch")
        return f"torch (2.14.1)\nAvailable versions: {self.offers}{', 2.15.0.dev20261101+cpu' if nightlies else ''}\n"


class WithFolder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / "out"

    def run_tool(self, plans, *arguments, before=()):
        """Returns the exit code, and the output of both streams."""
        self.fakes = Fakes(self.folder, plans)
        return self.call([*before, *plans, *arguments])

    def call(self, words):
        words = words if "--" in words else [*words, "--"]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            try:
                code = torchstone_releases.main([f"--out={self.out}", *words], self.fakes)
            except SystemExit as ended:
                code = ended.code
        return code, printed.getvalue()

    def results(self):
        return json.loads((self.out / "results.json").read_text())["results"]


class Comparison(WithFolder):
    def test_releases_that_agree_are_green(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: PASS}})
        self.assertEqual(code, 0, text)
        self.assertIn("2.14.1 is not worse than 2.13.0 (1 case)", text)

    def test_the_merged_results_have_the_axis_torch(self):
        self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: PASS}})
        self.assertEqual([(r["name"], r["outcome"]["notes"]["torch"]) for r in self.results()],
                         [(f"{ACCURACY}_torch-2.13.0", "2.13.0"), (f"{ACCURACY}_torch-2.14.1", "2.14.1")])
        document = json.loads((self.out / "results.json").read_text())
        self.assertEqual((document["schema"], document["build"]["torch"]), ("torchstone/result/2", "2.13.0 | 2.14.1"))

    def test_a_worse_verdict_is_red_and_links_to_both_rows(self):
        wrong = {"status": "fail_accuracy", "reason": "the loss is <13> off"}
        code, text = self.run_tool({"2.13.0": {OTHER: PASS, ACCURACY: PASS}, "2.14.1": {OTHER: PASS, ACCURACY: wrong}})
        self.assertEqual(code, 1)
        self.assertIn("2.14.1 is worse than 2.13.0: 1 worse", text)
        self.assertIn("pass → fail_accuracy: the loss is <13> off", text)
        page = (self.out / "releases.html").read_text()
        self.assertIn('<a href="report.html#c2">2.13.0</a> → <a href="report.html#c3">2.14.1</a>', page)
        self.assertIn("&lt;13&gt;", page)
        self.assertIn('<td class=worse><a href="report.html#c3">fail_accuracy</a>', page)
        self.assertEqual(self.results()[3]["name"], f"{ACCURACY}_torch-2.14.1")
        self.assertIn("[2.13.0](report.html#c2) → [2.14.1](report.html#c3)", (self.out / "releases.md").read_text())

    def test_only_the_newest_against_the_one_before_is_red(self):
        wrong = {"status": "fail_accuracy"}
        code, text = self.run_tool({"2.12.1": {ACCURACY: PASS}, "2.13.0": {ACCURACY: wrong}, "2.14.1": {ACCURACY: wrong}})
        self.assertEqual(code, 0)
        self.assertIn("worse: ", text)  # older changes are shown, although they are not red

    def test_slower_by_more_than_the_interval_is_red(self):
        code, text = self.run_tool({"2.13.0": {SPEED: timed(1.5)}, "2.14.1": {SPEED: timed(1.3)}})
        self.assertEqual(code, 1)
        self.assertIn("1 slower", text)
        self.assertRegex(text, r"speed-up 1\.50 \[1\.\d\d 1\.\d\d\] → 1\.30")

    def test_slower_within_the_interval_is_green(self):
        code, text = self.run_tool({"2.13.0": {SPEED: timed(1.5, half=0.2)}, "2.14.1": {SPEED: timed(1.3, half=0.2)}})
        self.assertEqual(code, 0, text)
        self.assertNotIn("slower", text)

    def test_a_missing_row_is_red(self):
        plans = {"2.13.0": {ACCURACY: PASS, OTHER: PASS}, "2.14.1": {"cases": {ACCURACY: PASS}, "listed": [ACCURACY, OTHER]}}
        code, text = self.run_tool(plans)
        self.assertEqual(code, 1)
        self.assertIn(f"missing: {OTHER}: 2.13.0 → 2.14.1: pass → no row", text)

    def test_a_case_that_crashes_is_red(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: {"status": "crash", "reason": "SIGSEGV"}}})
        self.assertEqual(code, 1)
        self.assertIn("1 crashed", text)

    def test_a_release_that_crashes_is_red(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {"cases": {ACCURACY: PASS}, "end": "crash"}})
        self.assertEqual(code, 1)
        self.assertIn("2.14.1: torchstone ended with signal SIGSEGV", text)
        self.assertIn("2.14.1 is worse than 2.13.0: 1 missing", text)

    def test_an_older_release_that_crashes_is_no_success(self):
        code, text = self.run_tool({"2.13.0": {"cases": {ACCURACY: PASS}, "end": "crash"}, "2.14.1": {ACCURACY: PASS}})
        self.assertEqual(code, 4)
        self.assertIn("not everything was compared: 2.13.0", text)

    def test_a_release_that_does_not_install_is_red(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": "torch 2.14.1 does not install: No matching distribution"})
        self.assertEqual(code, 4)
        self.assertIn("2.14.1: torch 2.14.1 does not install: No matching distribution", text)
        self.assertIn("2.14.1 could not be used", text)

    def test_a_build_with_another_release_is_not_compared(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {"cases": {ACCURACY: PASS}, "torch": "2.13.0"}})
        self.assertEqual(code, 4, text)
        self.assertRegex(text, r"2\.14\.1: .*/torchstone was built with torch 2\.13\.0")
        self.assertNotIn("worse", text)
        self.assertEqual(self.fakes.calls(), [f"2.13.0 {ACCURACY}"])
        self.assertEqual(release.numbers_of("2.15.0.dev20261101+cpu"), "2.15.0")

    def test_nothing_in_common_is_not_green(self):
        code, text = self.run_tool({"2.13.0": {}, "2.14.1": {}})
        self.assertEqual(code, 3)
        self.assertIn("nothing was compared", text)

    def test_cases_that_are_skipped_under_both_are_not_green(self):
        skipped = {ACCURACY: {"status": "unsupported"}}
        code, text = self.run_tool({"2.13.0": skipped, "2.14.1": skipped})
        self.assertEqual(code, 3, text)
        self.assertIn("nothing was compared", text)

    def test_a_speed_up_that_is_gone_is_red(self):
        code, text = self.run_tool({"2.13.0": {SPEED: timed(1.5)}, "2.14.1": {SPEED: PASS}})
        self.assertEqual(code, 1, text)
        self.assertRegex(text, r"missing: .*: speed-up 1\.50 \[.*\] → none")

    def test_refused_arguments_are_a_usage_error(self):
        code, text = self.run_tool({"2.13.0": {"cases": {}, "end": "usage"}, "2.14.1": {}})
        self.assertEqual((code, "unknown flag" in text), (2, True))

    def test_a_known_failure_is_shown_and_not_red(self):
        known = {"status": "fail_accuracy", "expected": "fail_accuracy"}
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: known}})
        self.assertEqual(code, 0)
        self.assertIn("known: ", text)

    def test_timed_cases_are_interleaved_and_every_second_round_is_reversed(self):
        plans = {name: {ACCURACY: PASS, SPEED: timed(1.5), SPEED_2: timed(1.2)} for name in ("2.12.1", "2.13.0")}
        code, _ = self.run_tool(plans, "--rounds=2")
        self.assertEqual(code, 0)
        self.assertEqual(self.fakes.calls(), [
            f"2.12.1 {ACCURACY}", f"2.13.0 {ACCURACY}",
            f"2.12.1 {SPEED}", f"2.13.0 {SPEED}", f"2.12.1 {SPEED_2}", f"2.13.0 {SPEED_2}",
            f"2.13.0 {SPEED}", f"2.12.1 {SPEED}", f"2.13.0 {SPEED_2}", f"2.12.1 {SPEED_2}"])

    def test_a_failure_in_any_round_counts(self):
        rounds = [timed(1.5), {"status": "fail_accuracy"}, timed(1.5)]
        code, text = self.run_tool({"2.13.0": {SPEED: timed(1.5)}, "2.14.1": {SPEED: rounds}})
        self.assertEqual(code, 1)
        self.assertIn("pass → fail_accuracy", text)

    def test_the_filter_and_other_arguments_reach_every_release(self):
        plans = {"2.13.0": {ACCURACY: PASS, OTHER: PASS}, "2.14.1": {ACCURACY: PASS, OTHER: PASS}}
        code, _ = self.run_tool(plans, "--", "--gtest_filter=*resnet18*")
        self.assertEqual(code, 0)
        self.assertEqual(self.fakes.calls(), [f"2.13.0 {ACCURACY}", f"2.14.1 {ACCURACY}"])

    def test_a_flag_for_timed_cases_alone_does_not_stop_the_others(self):
        plans = {name: {ACCURACY: PASS, SPEED: timed(1.5)} for name in ("2.13.0", "2.14.1")}
        code, text = self.run_tool(plans, "--rounds=1", "--", "--torchstone_repeat=5")
        self.assertEqual(code, 0, text)
        self.assertEqual(self.fakes.calls()[2:], [f"2.13.0 {SPEED} repeat=5", f"2.14.1 {SPEED} repeat=5"])
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: PASS}}, "--", "--torchstone_repeat=5",
                                   "--torchstone_repeat=6")
        self.assertEqual((code, "torchstone refuses its arguments" in text), (2, True))

    def test_compile_time_and_memory_are_highlighted_and_not_red(self):
        code, text = self.run_tool({"2.13.0": {ACCURACY: {"compile_s": 10, "peak_bytes": 2**20}},
                                    "2.14.1": {ACCURACY: {"compile_s": 15, "peak_bytes": 2**21}}})
        self.assertEqual(code, 0)
        self.assertIn("compile time 10.0 → 15.0 s", text)
        self.assertIn("peak memory 1.0 → 2.0 MiB", text)

    def check_that_compile_times_are_not_compared(self, **circumstances):
        code, text = self.run_tool({"2.13.0": {ACCURACY: {"compile_s": 10}}, "2.14.1": {ACCURACY: {"compile_s": 15, **circumstances}}})
        self.assertEqual(code, 0, text)
        self.assertNotIn("compile time", text)

    def test_compile_times_from_the_cache_are_not_compared(self):
        self.check_that_compile_times_are_not_compared(cache_hit=1)

    def test_compile_times_of_concurrent_compiles_are_not_compared(self):
        self.check_that_compile_times_are_not_compared(concurrent_compiles=2)

    def test_an_interrupted_run_reports_what_was_finished(self):
        plans = {name: {ACCURACY: PASS, SPEED: timed(1.5)} for name in ("2.13.0", "2.14.1")}
        real = runs.Program.run

        def interrupted(program, pattern, name):
            if name.startswith("2.14.1/timed"):
                raise KeyboardInterrupt
            return real(program, pattern, name)

        with mock.patch.object(runs.Program, "run", interrupted):
            code, text = self.run_tool(plans)
        self.assertEqual(code, 130)
        self.assertNotIn("missing", text)
        self.assertEqual(len(self.results()), 3)

    def test_messages_that_are_no_utf_8_are_read(self):
        fakes = Fakes(self.folder, {"2.13.0": {ACCURACY: PASS}})
        fakes.written(release.Release("2.13.0")).write_text("#!/bin/sh\nprintf 'bad \\377' >&2\nexit 2\n")
        with self.assertRaisesRegex(runs.UsageError, "bad"):
            runs.Program(self.folder / "2.13.0/torchstone", [], self.out).cases()

    def test_arguments_that_are_refused_late_lose_no_results(self):
        plans = {name: {ACCURACY: PASS, SPEED: timed(1.5)} for name in ("2.13.0", "2.14.1")}
        real = runs.Program.run

        def refused(program, pattern, name):
            if "/timed" in name:
                raise runs.UsageError("not with a timed case")
            return real(program, pattern, name)

        with mock.patch.object(runs.Program, "run", refused):
            code, text = self.run_tool(plans)
        self.assertEqual(code, 2)
        self.assertIn("torchstone refuses its arguments: not with a timed case", text)
        self.assertEqual(len(self.results()), 2)

    def test_sigterm_ends_the_program_which_reports_what_it_finished(self):
        fakes = Fakes(self.folder, {"2.13.0": {ACCURACY: PASS}, "2.14.1": {"cases": {ACCURACY: PASS, OTHER: PASS}, "end": "hang"}})
        named = [f"{name}={fakes.written(release.Release(name))}" for name in fakes.plans]
        tool = subprocess.Popen([sys.executable, "-B", torchstone_releases.__file__, *named, f"--out={self.out}", "--"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until = time.monotonic() + 60
        while not (self.folder / "calls.hangs").exists() and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.2)
        tool.terminate()
        text, _ = tool.communicate(timeout=60)
        self.assertEqual(tool.returncode, 130, text)
        self.assertEqual([r["name"] for r in self.results()], [f"{ACCURACY}_torch-2.13.0", f"{ACCURACY}_torch-2.14.1"])

    def test_a_second_run_into_a_folder_reads_no_old_results(self):
        self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: PASS}})
        for plan in self.folder.glob("2.14.1/plan.json"):
            plan.write_text(json.dumps({**json.loads(plan.read_text()), "end": "crash"}))
        code, text = self.run_tool({"2.13.0": {ACCURACY: PASS}, "2.14.1": {ACCURACY: PASS}})
        self.assertEqual(code, 1, text)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["2.13.0"], ["2.13.0", "2.13.0"], ["2.13", "2.14.1"], ["2.13.0", "2.14.1", "--rounds=0"],
                          ["2.13.0", "2.14.1", "--between"], ["2.13.0", "2.14.1", "--", "--torchstone_out=x"], ["bisect", "2.14.1"]):
            with self.subTest(arguments), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as ended:
                torchstone_releases.main(arguments)
            self.assertEqual(ended.exception.code, 2)


class Bisection(WithFolder):
    NAMES = ["2.11.0", "2.12.0", "2.12.1", "2.13.0", "2.14.1"]

    def bisect(self, facts, *arguments):
        return self.run_tool(dict(zip(self.NAMES, facts)), *arguments, before=["bisect"])

    def test_finds_the_first_release_that_fails(self):
        wrong = {ACCURACY: {"status": "fail_accuracy", "reason": "13 off"}}
        code, text = self.bisect([{ACCURACY: PASS}] * 3 + [wrong] * 2)
        self.assertEqual(code, 0, text)
        self.assertIn("2.13.0 is the first release in which the case fails (2.12.1: pass → fail_accuracy: 13 off)", text)
        self.assertEqual(sum(call.startswith("2.11.0") for call in self.fakes.calls()), 1)  # not timed: runs once

    def test_finds_the_first_release_that_passes_again(self):
        wrong = {ACCURACY: {"status": "fail_accuracy"}}
        code, text = self.bisect([wrong] + [{ACCURACY: PASS}] * 4)
        self.assertEqual(code, 0)
        self.assertIn("2.12.0 is the first release in which the case passes again", text)

    def test_finds_the_first_release_that_is_slower(self):
        code, text = self.bisect([{SPEED: timed(1.5)}] * 4 + [{SPEED: timed(1.2)}])
        self.assertEqual(code, 0)
        self.assertIn("2.14.1 is the first release in which the case is slower (2.13.0: 1.50", text)

    def test_options_may_stand_before_the_releases(self):
        wrong = {ACCURACY: {"status": "fail_accuracy"}}
        code, text = self.run_tool(dict(zip(self.NAMES, [{ACCURACY: PASS}] * 4 + [wrong])), before=["bisect", "--rounds=1"])
        self.assertEqual(code, 0, text)
        self.assertIn("2.14.1 is the first release in which the case fails", text)

    def test_releases_that_cannot_be_judged_are_named(self):
        code, text = self.bisect([{ACCURACY: PASS}, "does not install", "does not build", {ACCURACY: {"status": "crash"}},
                                  {ACCURACY: {"status": "crash"}}])
        self.assertEqual(code, 0)
        self.assertIn("2.13.0 is the first release in which the case fails", text)
        self.assertIn("Not judged between them: 2.12.0: does not install; 2.12.1: does not build", text)

    def test_a_release_that_does_not_decide_is_left_out(self):
        code, text = self.bisect([{ACCURACY: PASS}, {ACCURACY: PASS}, {ACCURACY: {"status": "undecided"}}, {ACCURACY: {"status": "crash"}},
                                  {ACCURACY: {"status": "crash"}}])
        self.assertEqual(code, 0, text)
        self.assertIn(f"{self.NAMES[3]} is the first release", text)
        self.assertIn(f"{self.NAMES[2]}: undecided", text)

    def test_no_difference_is_told(self):
        code, text = self.bisect([{SPEED: timed(1.5)}] * 5)
        self.assertEqual(code, 3)
        self.assertIn("2.11.0 and 2.14.1 do not differ: 1.50", text)

    def test_ends_have_to_be_usable(self):
        code, text = self.bisect([{ACCURACY: PASS}] * 4 + ["does not install"])
        self.assertEqual(code, 4)
        self.assertIn("does not install", text)

    def test_wants_one_case(self):
        for cases, words in (({ACCURACY: PASS, OTHER: PASS}, "2 cases are selected"), ({}, "no case is selected")):
            code, text = self.bisect([cases] * 5)
            self.assertEqual((code, words in text), (2, True), text)
            for plan in self.folder.glob("*/plan.json"):
                plan.unlink()

    def test_takes_the_releases_between_that_pip_lists(self):
        plans = {"2.11.0": {ACCURACY: PASS}, "2.12.0": {ACCURACY: PASS}, "2.12.1": {ACCURACY: {"status": "crash"}},
                 "2.13.0": {ACCURACY: {"status": "crash"}}, "2.14.1": {ACCURACY: {"status": "crash"}}}
        self.fakes = Fakes(self.folder, plans)
        code, text = self.call(["bisect", "2.11.0", "2.14.1", "--between"])
        self.assertEqual(code, 0, text)
        self.assertIn("2.12.1 is the first release in which the case fails", text)

    def test_several_cases_are_refused_before_another_release_is_installed(self):
        code, text = self.bisect([{ACCURACY: PASS, OTHER: PASS}] * 5)
        self.assertEqual((code, self.fakes.made), (2, ["2.11.0"]), text)
        self.assertIn("2 cases are selected", text)

    def test_a_build_that_exists_tells_the_cases_before_anything_is_installed(self):
        self.fakes = Fakes(self.folder, {name: {ACCURACY: PASS, OTHER: PASS} for name in self.NAMES})
        self.fakes.ready = ["2.14.1"]
        code, text = self.call(["bisect", *self.NAMES])
        self.assertEqual((code, self.fakes.made), (2, ["2.14.1"]), text)
        self.assertIn("2.14.1: 2 cases are selected", text)

    def test_an_end_without_a_case_is_refused_before_the_other_is_installed(self):
        code, text = self.bisect([{}] + [{ACCURACY: PASS}] * 4)
        self.assertEqual((code, self.fakes.made), (2, ["2.11.0"]), text)
        self.assertIn("2.11.0: no case is selected", text)


class Refusals(WithFolder):
    """Errors that are reported before the first release is installed and before a case runs."""

    def setUp(self):
        super().setUp()
        self.fakes = Fakes(self.folder, {name: {ACCURACY: PASS} for name in ("2.10.0", "2.11.0", "2.13.0", "2.14.1", "2.15.0.dev20261101")})

    def check_refused(self, words, *messages, code=2):
        found, text = self.call(words)
        self.assertEqual((found, self.fakes.made, self.fakes.calls()), (code, [], []), text)
        for message in messages:
            self.assertIn(message, text)
        self.assertNotIn("worse", text)
        self.assertFalse(self.out.exists())

    def named(self, release_name, **plan):
        self.fakes.plans[release_name] = {"cases": {ACCURACY: PASS}, **plan}
        return f"{release_name}={self.fakes.written(release.Release(release_name))}"

    def test_a_named_program_of_another_release(self):
        right, wrong = self.named("2.13.0"), self.named("2.14.1", torch="2.13.0")
        for before in ([], ["bisect"]):
            self.check_refused([*before, right, wrong], f"{wrong.partition('=')[2]} was built with torch 2.13.0 (expected 2.14.1)")

    def test_a_named_program_that_is_none(self):
        self.check_refused(["2.13.0", "2.14.1=/no/such/program"], "2.14.1: /no/such/program is no program")
        self.check_refused(["2.13.0", f"2.14.1={self.folder}"], f"2.14.1: {self.folder} is no program")
        self.check_refused(["2.13.0", "2.14.1="], "'2.14.1=' names no program")

    def test_a_named_program_that_does_not_answer(self):
        program = self.folder / "broken"
        program.write_text("#!/bin/sh\necho no LibTorch was found >&2\nexit 1\n")
        program.chmod(0o755)
        self.check_refused(["2.13.0", f"2.14.1={program}"], "--version: no LibTorch was found", code=4)

    def test_all_releases_that_cannot_be_installed(self):
        for before in ([], ["bisect"]):
            self.check_refused([*before, "2.10.0", "2.13.0", "2.99.0"], "2.10.0: too old (expected 2.11 or newer)",
                               "2.99.0: no such release (pip offers 2.14.1, 2.13.0, 2.12.1, 2.12.0, 2.11.0)")
        self.check_refused(["2.13.0", "2.14.1+cu999"], "2.14.1+cu999: no such release")

    def test_a_nightly_that_pip_does_not_offer(self):
        self.check_refused(["2.14.1", "2.15.0.dev20261102"], "2.15.0.dev20261102: no such release (pip offers 2.15.0.dev20261101, 2.14.1")
        code, text = self.call(["2.14.1", "2.15.0.dev20261101"])
        self.assertEqual(self.fakes.made, ["2.14.1", "2.15.0.dev20261101"], text)

    def test_what_is_installed_or_cannot_be_asked_is_not_refused(self):
        self.fakes.offers, self.fakes.installed = "2.14.1", ["2.13.0"]
        self.assertEqual(self.call(["2.13.0", "2.14.1"])[0], 0)
        self.fakes.offers, self.fakes.installed = "", []
        code, text = self.call(["2.13.0", "2.14.1"])
        self.assertEqual(code, 0, text)
        self.assertIn("pip cannot list the releases of torch", text)

    def test_arguments_of_torchstone_without_hyphens_before_them(self):
        self.check_refused(["2.13.0", "2.14.1", "--torchstone_only=my model.pt2"],
                           "torchstone's arguments follow --: torchstone-releases RELEASE RELEASE -- '--torchstone_only=my model.pt2'")

    def test_a_call_that_does_not_tell_what_to_run(self):
        for before in ([], ["bisect"]):
            printed = io.StringIO()
            with contextlib.redirect_stderr(printed), self.assertRaises(SystemExit) as ended:
                torchstone_releases.main([*before, "2.13.0", "2.14.1", f"--out={self.out}"], self.fakes)
            self.assertEqual((ended.exception.code, self.fakes.made), (2, []))
            self.assertIn("which cases? Put torchstone's arguments after --", printed.getvalue())

    def test_a_selection_without_cases_is_told_before_the_next_release_is_installed(self):
        self.fakes.plans = {"2.13.0": {}, "2.14.1": "does not install"}
        _, text = self.call(["2.13.0", "2.14.1"])
        self.assertLess(text.index("2.13.0: no case is selected"), text.index("2.14.1: does not install"))

    def test_the_usage_names_both_commands(self):
        code, text = self.call(["--help"])
        self.assertEqual(code, 0)
        self.assertIn("usage: torchstone-releases [options] RELEASE[=PROGRAM] RELEASE[=PROGRAM]... -- [ARGUMENTS OF torchstone]\n"
                      "       torchstone-releases bisect [options] RELEASE[=PROGRAM] RELEASE[=PROGRAM]... -- [ARGUMENTS OF torchstone]\n", text)
        self.assertNotIn("[bisect]", text)


class Parts(unittest.TestCase):
    def test_releases_are_ordered_and_a_nightly_precedes_its_release(self):
        names = ["2.15.0", "2.9.1", "2.15.0.dev20261101", "2.14.1", "2.15.0.dev20261031"]
        self.assertEqual([r.name for r in release.parse_releases(names)],
                         ["2.9.1", "2.14.1", "2.15.0.dev20261031", "2.15.0.dev20261101", "2.15.0"])
        self.assertEqual(release.parse_release("2.14.1=/x/torchstone").program, "/x/torchstone")

    def test_nightlies_between_two_releases(self):
        listing = "torch (2.15.0.dev20261102)\nAvailable versions: 2.15.0.dev20261102+cpu, 2.15.0.dev20261101+cpu, 2.14.1+cpu, 2.14.0+cpu\n"
        self.assertEqual([r.name for r in release.between("2.14.0", "2.15.0.dev20261102", listing)], ["2.14.1", "2.15.0.dev20261101"])

    def test_the_statuses_are_those_of_the_table(self):
        table = (HERE.parents[1] / "reports/record/verdict.cpp").read_text()
        found = re.findall(r'\{Status::\w+, "(\w+)", (true|false), (\w+),', table)
        self.assertGreater(len(found), 20)
        self.assertEqual(cells.FINE, {name for name, passing, _ in found if passing == "true"})
        self.assertEqual(cells.SKIPPED, {name for name, _, kind in found if kind == "skipped"})

    def test_a_speed_up_of_several_rounds_is_at_least_as_wide_as_they_differ(self):
        def rows(*values):
            return [{"outcome": {"status": "pass", "metrics": dict(zip(("speedup", "speedup_low", "speedup_high"), v))}} for v in values]
        alike = cells.speed_of(rows((2, 1.9, 2.1), (2, 1.9, 2.1), (2, 1.9, 2.1), (2, 1.9, 2.1)))
        self.assertAlmostEqual(alike.value, 2)
        self.assertAlmostEqual(alike.half, math.log(2.1 / 1.9) / 4)  # half-width of the mean of four rounds
        apart = cells.speed_of(rows((1.5, 1.49, 1.51), (2, 1.99, 2.01)))
        self.assertAlmostEqual(apart.bounds()[0], 1.5)
        self.assertAlmostEqual(apart.bounds()[1], 2)
        self.assertIsNone(cells.speed_of(rows((0, 0, 0), ("NaN", 1, 2))))

    def test_more_cases_need_a_clearer_difference(self):
        before, after = cells.Speed(math.log(1.5), 0.02), cells.Speed(math.log(1.4), 0.02)
        self.assertEqual(changes.speed_change(before, after), "slower")
        self.assertEqual(changes.speed_change(before, after, 10000), "")
        self.assertEqual(changes.speed_change(after, before), "faster")
        close = cells.Speed(math.log(1.48), 0.001), cells.Speed(math.log(1.5), 0.001)
        self.assertEqual(changes.speed_change(*close), "")  # within the tolerance

    def test_a_number_of_zero_or_none_has_no_ratio(self):
        def cell(compile_s, peak_bytes):
            return cells.Cell({}, "pass", compile_s=compile_s, compiled_alone=True, peak_bytes=peak_bytes)

        for old in (10.0, 0.0, None):
            for new in (20.0, 0.0, None):
                found = [change.kind for change in changes.between({"a": {"1": cell(old, old), "2": cell(new, new)}}, "1", "2")]
                self.assertEqual(found, ["compile", "memory"] if old and new else [], (old, new))

    def test_a_filter_without_timed_cases(self):
        self.assertEqual(runs.without_timed("*a*"), "*a*-*/Performance.*")
        self.assertEqual(runs.without_timed("*a*-*b*"), "*a*-*b*:*/Performance.*")

    def test_the_first_compile_counts_not_one_from_the_cache(self):
        rows = [{"outcome": {"status": "pass", "metrics": {"compile_s": 0.1, "cache_hit": 1}}},
                {"outcome": {"status": "pass", "metrics": {"compile_s": 12.0, "cache_hit": 0}}}]
        self.assertEqual(cells.cell_of(rows).compile_s, 12.0)
        self.assertIsNone(cells.cell_of(rows[:1]).compile_s)


class RealEnvironments(WithFolder):
    """Records the commands that would make an environment, without running them."""

    def made(self, failing="", **options):
        self.commands = []

        def run(command, log, limit_s, what):
            self.commands.append(" ".join(command))
            if failing and failing in self.commands[-1]:
                raise environments.Unusable(what)
            if "-B" in command:
                build = pathlib.Path(command[command.index("-B") + 1])
                build.mkdir(parents=True, exist_ok=True)
                (build / "CMakeCache.txt").touch()

        made = environments.Environments(self.folder / "cache", "/sources", say=lambda text: None, **options)
        with mock.patch.object(environments, "logged", run):
            return made.program(release.Release("2.14.1"))

    def test_installs_once_and_builds_each_time(self):
        program = self.made(packages=["timm==1.0.31"], index="https://example.org/nightly")
        self.assertEqual(program, self.folder / "cache/2.14.1/build/bin/torchstone")
        self.assertIn("pip install", self.commands[1])
        self.assertIn("torch==2.14.1 timm==1.0.31", self.commands[1])
        self.assertIn("--extra-index-url https://example.org/nightly", self.commands[1])
        self.assertIn(f"-DTORCHSTONE_PYTHON={self.folder}/cache/2.14.1/venv/bin/python", self.commands[2])
        self.made(packages=["timm==1.0.31"])
        self.assertEqual(len(self.commands), 2)  # configure and build
        self.made()  # other packages
        self.assertEqual(len(self.commands), 4)

    def test_the_stamp_tells_what_is_installed_and_the_program_what_is_built(self):
        made = environments.Environments(self.folder / "cache", "/sources")
        wanted = release.Release("2.14.1")
        self.assertFalse(made.is_installed(wanted) or made.is_ready(wanted))
        program = self.made(packages=["timm==1.0.31"])
        self.assertTrue(made.is_installed(wanted))
        self.assertFalse(made.is_ready(wanted))
        program.parent.mkdir()
        program.touch()
        self.assertFalse(made.is_ready(wanted))  # other packages
        made.packages = ["timm==1.0.31"]
        self.assertTrue(made.is_ready(wanted))
        self.assertTrue(made.is_ready(release.Release("2.13.0", "/named")))

    def test_the_sources_tell_the_oldest_release(self):
        self.assertRegex(environments.Environments(self.folder, HERE.parents[1]).oldest(), r"^2\.\d+$")
        with self.assertRaisesRegex(environments.Unusable, "no sources of Torchstone in /no/such/folder"):
            environments.Environments(self.folder, "/no/such/folder").oldest()

    def test_pip_is_asked_for_nightlies(self):
        with mock.patch.object(subprocess, "run", return_value=subprocess.CompletedProcess([], 0, "listing", "")) as asked:
            made = environments.Environments(self.folder, "")
            self.assertEqual((made.known_to_pip(), "--pre" in asked.call_args.args[0]), ("listing", False))
            made.known_to_pip(nightlies=True)
            self.assertIn("--pre", asked.call_args.args[0])

    def test_a_log_is_told_from_its_first_error_on(self):
        log = ("Collecting torch\nERROR: Cannot install torch==2.15.0\n\nThe conflict is caused by:\n  The user requested torch==2.15.0\n"
               "  The user requested (constraint) torch<=2.14.1\nTo fix this\nERROR: ResolutionImpossible\n")
        self.assertEqual(environments.telling(log), ["ERROR: Cannot install torch==2.15.0", "The conflict is caused by:",
                                                     "The user requested torch==2.15.0", "The user requested (constraint) torch<=2.14.1"])
        self.assertEqual(environments.telling("[1/2] a.cpp\na.cpp:1:2: error: no\nninja: stopped\n"), ["a.cpp:1:2: error: no", "ninja: stopped"])
        self.assertEqual(environments.telling("a\nb\nc\n"), ["b", "c"])

    def test_an_installation_that_failed_is_tried_again(self):
        for _ in range(2):
            with self.assertRaisesRegex(environments.Unusable, "torch 2.14.1 does not install"):
                self.made(failing="pip install")
        self.assertIn("pip install", self.commands[-1])

    def test_the_end_of_the_log_is_the_reason(self):
        log = self.folder / "log"
        with self.assertRaisesRegex(environments.Unusable, "does not build: first / second"):
            environments.logged(["sh", "-c", "echo zero; echo first; echo second; exit 3"], log, 60, "does not build")

    def test_variables_that_name_another_torch_reach_neither_pip_nor_the_build(self):
        log = self.folder / "log"
        with mock.patch.dict("os.environ", {"TORCHSTONE_LIBTORCH": "/other", "PYTHONPATH": "/other", "PIP_INDEX_URL": "/index"}):
            environments.logged(["env"], log, 60, "env")
        self.assertNotIn("/other", log.read_text())
        self.assertIn("PIP_INDEX_URL=/index", log.read_text())

    def test_a_named_program_has_to_be_one(self):
        made = environments.Environments(self.folder, "")
        with self.assertRaisesRegex(environments.Unusable, "is no program"):
            made.program(release.parse_release("2.14.1=/no/such/program"))
        with self.assertRaisesRegex(environments.Unusable, "no sources"):
            made.program(release.Release("2.14.1"))


if __name__ == "__main__":
    unittest.main()
