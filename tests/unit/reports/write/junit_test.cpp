#include <algorithm>
#include <set>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string here = std::string(TORCHSTONE_TEST_DIR) + "/unit/reports/";

std::string junit_of(Status status, const std::string& expected = "pass") {
  Result r = simple_result("S/Accuracy.A/b", status);
  r.expected = expected;
  r.outcome.reason = "the reason";
  return write_junit({r}, sample_run());
}

TEST(JUnit, HasTheElementOfTheStatusTable) {
  for (const auto& info : status_table()) {
    const std::string text = junit_of(info.status);
    const auto has = [&](const char* element) { return text.find(element) != std::string::npos; };
    EXPECT_EQ(has("<failure "), info.kind == StatusKind::failed) << info.name;
    EXPECT_EQ(has("<error "), info.kind == StatusKind::error) << info.name;
    EXPECT_EQ(has("<skipped "), info.kind == StatusKind::skipped) << info.name;
  }
}

TEST(JUnit, AnExpectedFailureIsSkippedAndAnUnexpectedPassFails) {
  EXPECT_THAT(junit_of(Status::crash, "crash"),
              HasSubstr("<skipped type=\"expected_failure\" message=\"expected crash: the reason\">"));
  EXPECT_THAT(junit_of(Status::pass, "crash"),
              HasSubstr("<failure type=\"unexpected_pass\" message=\"expected crash, got pass"));
}

TEST(JUnit, TheMessageIsShortAndTheContentWhole) {
  Result r = simple_result("A.b", Status::crash);
  r.outcome.reason = "first line " + std::string(10000, 'x') + "\nlast line";
  r.outcome.detail = "stack\ntrace";
  const std::string text = write_junit({r}, {}, {.testcase_properties = false});
  EXPECT_THAT(text, HasSubstr(r.outcome.reason));
  EXPECT_THAT(text, HasSubstr("stack\ntrace"));
  EXPECT_THAT(text, HasSubstr("again: ./torchstone"));
  const auto message = text.find("message=\"");
  EXPECT_LT(text.find('"', message + 9) - message, 250u);
}

TEST(JUnit, PropertiesAndPlacesAreBehindTheSwitch) {
  const std::string open = write_junit(sample_results(), sample_run());
  const std::string strict = write_junit(sample_results(), sample_run(), {.testcase_properties = false});
  EXPECT_THAT(open, HasSubstr("line=\"12\""));
  EXPECT_THAT(open, HasSubstr("<property name=\"speedup\" value=\"1.43\"/>"));
  EXPECT_THAT(strict, Not(HasSubstr("line=\"12\"")));
  EXPECT_THAT(strict, Not(HasSubstr("<property name=\"speedup\"")));
  EXPECT_THAT(strict, HasSubstr("speedup=1.430x"));
  EXPECT_THAT(strict, HasSubstr("declared=cases/torchbench.yaml:12"));
}

TEST(JUnit, NamesMetricsAndNotesAmongItsProperties) {
  Result r = simple_result("S/Accuracy.A/b", Status::pass);
  r.outcome.metrics = {{"speedup", 1.5}, {"own", 2}};
  r.outcome.notes = {{"tolerance", "1e-4"}};
  EXPECT_THAT(write_junit({r}, {}), AllOf(HasSubstr("<property name=\"accuracy\" value=\"pass\"/>"),
                                          HasSubstr("<property name=\"case\" value=\"S/Accuracy.A/b\"/>"),
                                          HasSubstr("<property name=\"speedup\" value=\"1.5\"/>"),
                                          HasSubstr("<property name=\"metric_own\" value=\"2\"/>"),
                                          HasSubstr("<property name=\"note_tolerance\" value=\"1e-4\"/>")));
}

TEST(JUnit, ListsFaultsAndFindingsAsNotes) {
  Result r = simple_result("S/Accuracy.A/b", Status::fail_to_compile);
  r.upstream_name = "deit_tiny.fb_in1k";
  r.outcome.infrastructure_fault = "the disk is full";
  r.outcome.timed_sizes = {"batch 2", "batch 4"};
  r.baseline = {BaselineChange::different_model, "other weights"};
  EXPECT_THAT(write_junit({r}, {}),
              AllOf(HasSubstr("<property name=\"note_infrastructure\" value=\"the disk is full\"/>"),
                    HasSubstr("<property name=\"note_upstream_name\" value=\"deit_tiny.fb_in1k\"/>"),
                    HasSubstr("<property name=\"note_dynamic_timed\" value=\"batch 2; batch 4\"/>"),
                    HasSubstr("<property name=\"note_different_model\" value=\"other weights\"/>"),
                    HasSubstr("\ninfrastructure=the disk is full\n")));
}

TEST(JUnit, LeavesTheDetailAndTheSamplesToOthers) {
  Result r = simple_result("S/Accuracy.A/b", Status::fail_accuracy);
  r.outcome.detail = "the worst element";
  r.outcome.samples = {{"eager_s", {0.25}}};
  EXPECT_THAT(write_junit({r}, {}), AllOf(HasSubstr("the worst element"), Not(HasSubstr("name=\"detail\"")),
                                          Not(HasSubstr("eager_s")), Not(HasSubstr("0.25"))));
}

TEST(JUnit, HasNoLineWhereAFileHasNone) {
  Result r = simple_result("S/Accuracy.A/b", Status::pass);
  r.file = "/models/my.pt2";
  r.line = 0;
  EXPECT_THAT(write_junit({r}, {}), AllOf(HasSubstr("file=\"/models/my.pt2\">"), HasSubstr("declared=/models/my.pt2\n"),
                                          Not(HasSubstr("declared_line"))));
}

TEST(JUnit, HasNoZeroForABatchOrADurationThatIsNotKnown) {
  Result r = simple_result("S/Accuracy.A/b", Status::pass);
  r.batch_size = 0;
  r.duration_s = 0;
  EXPECT_THAT(write_junit({r}, {}), AllOf(Not(HasSubstr("\"batch_size\"")), Not(HasSubstr("\"duration_s\""))));
}

TEST(JUnit, NamesAreUnique) {
  const std::string text = write_junit({simple_result("A.b", Status::pass), simple_result("A.b", Status::pass)}, {});
  EXPECT_THAT(text, HasSubstr("classname=\"A\" name=\"b\""));
  EXPECT_THAT(text, HasSubstr("classname=\"A\" name=\"b (2)\""));
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"A\" tests=\"2\""));
}

/// Validates the text with the first installed tool. Returns its complaints, or nothing if no tool is installed.
std::optional<std::string> complaints_about(const std::string& text) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "junit.xml";
  write_atomically(file, text);
  std::string line;
  if (is_installed("xmllint"))
    line = "xmllint --noout --schema '" + here + "junit-10.xsd' '" + file + "'";
  else if (is_installed("python3"))
    line = "python3 '" + here + "check_junit.py' '" + here + "junit-10.xsd' '" + file + "'";
  else
    return std::nullopt;
  const Finished finished = run_line(line);
  return finished.exit_code == 0 ? "" : finished.output + "exit code " + std::to_string(finished.exit_code);
}

TEST(JUnitSchema, IsMetWithoutTestCaseProperties) {
  const auto complaints = complaints_about(write_junit(sample_results(), sample_run(), {.testcase_properties = false}));
  if (!complaints) GTEST_SKIP() << "neither xmllint nor python3 is in PATH";
  EXPECT_EQ(*complaints, "");
}

TEST(JUnitSchema, RefusesWhatItShould) {
  const auto complaints = complaints_about(write_junit(sample_results(), sample_run()));
  if (!complaints) GTEST_SKIP() << "neither xmllint nor python3 is in PATH";
  EXPECT_NE(*complaints, "");  // the schema does not allow properties in test cases
  EXPECT_NE(*complaints_about("<testsuites><testsuite name='a'/></testsuites>"), "");
  EXPECT_NE(*complaints_about("<testsuites><testcase name='a'/></testsuites>"), "");
  EXPECT_NE(*complaints_about("<testsuites time='nan'/>"), "");
  EXPECT_NE(*complaints_about("<testsuites>"), "");
}

TEST(JUnitSchema, TheScriptForMachinesWithoutXmllintAgrees) {
  if (!is_installed("python3")) GTEST_SKIP() << "python3 is not in PATH";
  const TemporaryFolder folder;
  const auto exit_code = [&](const std::string& text) {
    const std::string file = folder.path() / "junit.xml";
    write_atomically(file, text);
    return run_line("python3 '" + here + "check_junit.py' '" + here + "junit-10.xsd' '" + file + "'").exit_code;
  };
  EXPECT_EQ(exit_code(write_junit(sample_results(), sample_run(), {.testcase_properties = false})), 0);
  EXPECT_EQ(exit_code(write_junit(sample_results(), sample_run())), 1);
  EXPECT_EQ(exit_code("<testsuites time='nan'/>"), 1);
  EXPECT_EQ(exit_code("<testsuites><testsuite name='a'/></testsuites>"), 1);
}

}  // namespace
}  // namespace torchstone::write
