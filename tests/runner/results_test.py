"""Tests how run.py reports failed runs. It must not omit tests that did not run or did not finish."""
import pathlib
import sys
import tempfile
import unittest

from results import FAILED, PASSED, SKIPPED, of_ctest
from run import flags_for, text_of, totals, without_passed

PASS_THEN_CRASH = """[==========] Running 4 tests from 2 test suites.
[ RUN      ] Compare.IsExact
[       OK ] Compare.IsExact (12 ms)
[ RUN      ] Compare.Crashes/7
"""
SHARD = """<testsuites><testsuite name="A">
<testcase name="Passes" status="run" result="completed" time="0.5" classname="A" />
<testcase name="Fails/vgg" status="run" result="completed" time="0.25" classname="All/A">
  <failure message="a.cpp:3&#x0A;Expected: 1" type=""/><failure message="second" type=""/></testcase>
<testcase name="Skips" status="run" result="skipped" time="0" classname="A"><skipped message="a.cpp:9&#x0A;no GPU"/></testcase>
<testcase name="DISABLED_Off" status="notrun" result="suppressed" time="0" classname="A" />
</testsuite></testsuites>"""


class Results(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def of(self, *cases, **shards):
        (self.folder / "ctest.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
        for name, xml in shards.items():
            (self.folder / f"{name}.xml").write_text(xml)
        return {test.name: test for test in of_ctest(self.folder / "ctest.xml", self.folder)}

    @staticmethod
    def case(name, status, note="", output=""):
        return f'<testcase name="{name}" time="1.5" status="{status}">{note}<system-out>{output}</system-out></testcase>'

    def test_a_shard_counts_test_by_test(self):
        tests = self.of(self.case("unit", "fail", '<failure message=""/>'), unit=SHARD)
        self.assertEqual({name: test.status for name, test in tests.items()},
                         {"A.Passes": PASSED, "All/A.Fails/vgg": FAILED, "A.Skips": SKIPPED})
        self.assertEqual(tests["A.Skips"].reason, "no GPU")
        self.assertEqual(tests["All/A.Fails/vgg"].reason, "a.cpp:3 Expected: 1")
        self.assertEqual(tests["A.Passes"].seconds, 0.5)

    def test_a_shard_that_fails_although_its_tests_passed_is_red(self):
        passing = '<testsuites><testcase name="B" classname="A" status="run" time="1"/></testsuites>'
        tests = self.of(self.case("unit", "fail", '<failure message="leak"/>'), unit=passing)
        self.assertEqual((tests["unit"].status, tests["unit"].reason), (FAILED, "leak"))

    def test_a_crash_is_named_and_what_came_after_it_is_not_lost(self):
        tests = self.of(self.case("unit/1_of_2", "fail", '<failure message=""/>', PASS_THEN_CRASH))
        self.assertEqual(tests["Compare.IsExact"].status, PASSED)
        self.assertEqual(tests["Compare.Crashes/7"].status, FAILED)
        self.assertIn("the program ended in this test", tests["Compare.Crashes/7"].reason)
        self.assertIn("2 tests did not run", tests["unit/1_of_2"].reason)

    def test_a_crash_in_the_first_test_loses_no_other(self):
        output = "[==========] Running 9 tests from 2 test suites.\n[ RUN      ] Compare.IsExact\n"
        tests = self.of(self.case("unit/1_of_2", "fail", '<failure message=""/>', output))
        self.assertEqual(tests["Compare.IsExact"].status, FAILED)
        self.assertIn("8 tests did not run", tests["unit/1_of_2"].reason)

    def test_a_program_that_does_not_start_is_red(self):
        tests = self.of(self.case("unit", "fail", '<failure message=""/>', "cannot open libtorch.so"),
                        self.case("gone", "notrun", '<skipped message="Unable to find executable"/>'))
        self.assertEqual((tests["unit"].status, tests["unit"].reason), (FAILED, "cannot open libtorch.so"))
        self.assertEqual((tests["gone"].status, tests["gone"].reason), (FAILED, "Unable to find executable"))

    def test_a_skip_tells_its_reason(self):
        gtest = "[ RUN      ] A.B\na.cpp:3: Skipped\nno browser\n\n[  SKIPPED ] A.B (0 ms)\n"
        tests = self.of(self.case("script", "notrun", '<skipped message="SKIP_RETURN_CODE=77"/>', "timm is absent\n"),
                        self.case("A.B", "notrun", '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>', gtest))
        self.assertEqual((tests["script"].status, tests["script"].reason), (SKIPPED, "timm is absent"))
        self.assertEqual((tests["A.B"].status, tests["A.B"].reason), (SKIPPED, "no browser"))

    def test_a_test_of_its_own_counts_once(self):
        tests = self.of(self.case("coverage", "run"), self.case("A.B", "fail", '<failure message=""/>', "[ RUN      ] A.B\nwrong\n"))
        self.assertEqual({name: test.status for name, test in tests.items()}, {"coverage": PASSED, "A.B": FAILED})

    def test_the_text_names_failures_and_skips_and_counts_all(self):
        tests = self.of(self.case("unit", "fail", '<failure message=""/>'), unit=SHARD).values()
        text = text_of(list(tests))
        self.assertIn("  A.Skips (unit): no GPU\n", text)
        self.assertIn("  All/A.Fails/vgg (unit): a.cpp:3 Expected: 1\n", text)
        self.assertEqual(totals(list(tests)), "1 passed, 1 failed, 1 skipped")


class Output(unittest.TestCase):
    def test_tests_that_passed_without_a_word_are_not_shown(self):
        run, ok = "[ RUN      ] A.{}\n", "[       OK ] A.{} (0 ms)\n"
        failed = [run.format("b"), "wrong\n", "[  FAILED  ] A.b (0 ms)\n"]
        spoke = [run.format("c"), "said\n", ok.format("c")]
        lines = ["[----------] 3 tests from A\n", run.format("a"), ok.format("a"), *failed, *spoke, run.format("d")]
        self.assertEqual(list(without_passed(lines)), [*failed, *spoke, run.format("d")])


class Flags(unittest.TestCase):
    def test_large_is_left_out_unless_all_is_asked_for(self):
        self.assertEqual(flags_for(["-R", "x"], False), ["-R", "x", "-LE", "^large$"])
        self.assertEqual(flags_for(["-R", "x", "-LE", "unit"], False), ["-R", "x", "-LE", "(^large$)|(unit)"])
        self.assertEqual(flags_for(["-R", "x", "-LE", "a", "-LE", "b"], False),
                         ["-R", "x", "-LE", "(^large$)|(a)", "-LE", "(^large$)|(b)"])
        self.assertEqual(flags_for(["-R", "x"], True), ["-R", "x"])

    def test_cases_run_in_two_processes_unless_tests_are_selected(self):
        self.assertEqual(flags_for(["-LE", "unit"], True), ["-LE", "unit", "-C", "shards"])
        self.assertEqual(flags_for([], False), ["-LE", "^large$", "-C", "shards"])
        self.assertEqual(flags_for(["-L", "accuracy"], True), ["-L", "accuracy"])


if __name__ == "__main__":
    sys.exit(unittest.main())
