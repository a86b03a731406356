#include "reports/results_folder/diagnosis_files.h"

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/results_folder/side_files.h"
#include "tests/temporary_folder.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* answer = R"({"outcome": "located", "sentence": "v3 is wrong", "nodes": 14})";

TEST(DiagnosisFiles, SayWhyNothingIsGuiltyAndHowOftenTheReproducerFailed) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "guilty.json",
                   R"({"guilty": null, "kind": null, "sentence": "no part is guilty alone", "trials": 22})");
  write_atomically(folder.path() / "confirmed.json", R"({"runs": 10, "failed": 9, "tensors": "drawn"})");
  write_atomically(folder.path() / "reproduce.py", "exit(1)");
  write_atomically(folder.path() / "foreign.txt", "");
  const Diagnosis found = read_diagnosis(answer, folder.path());
  EXPECT_EQ(found.sentence, "v3 is wrong");
  EXPECT_EQ(found.guilty->sentence, "no part is guilty alone");
  EXPECT_EQ(found.guilty->trials, 22);
  EXPECT_EQ(found.reproducer->failed, 9);
  EXPECT_EQ(found.reproducer->command, "python reproduce.py");
  EXPECT_THAT(found.files, ElementsAre("reproduce.py", "guilty.json", "confirmed.json"));
  EXPECT_TRUE(found.faults.empty());
}

TEST(DiagnosisFiles, ThatAreDamagedCostWhatTheyHoldAndAreNamed) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "guilty.json", "{\"guilty\": \x1b[31m");
  write_atomically(folder.path() / "confirmed.json", R"({"runs": "ten"})");
  const Diagnosis found = read_diagnosis(answer, folder.path());
  EXPECT_EQ(found.outcome, "located");
  EXPECT_FALSE(found.guilty);
  EXPECT_FALSE(found.reproducer);
  EXPECT_THAT(found.faults, ElementsAre("guilty.json is not used: expected a JSON object",
                                        "confirmed.json is not used: runs: expected an integer, found \"ten\""));
}

TEST(DiagnosisFiles, ThatAreNoFilesAreNamedToo) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "guilty.json");
  EXPECT_THAT(read_diagnosis(answer, folder.path()).faults,
              ElementsAre("guilty.json is not used: cannot be read (expected a regular file)"));
  EXPECT_TRUE(read_diagnosis(answer, folder.path() / "absent").faults.empty());
}

TEST(DiagnosisFiles, AnAnswerThatCannotBeReadIsStillADiagnosis) {
  for (const char* text : {"", "[]", "{\"part\": 3}", "{"}) {
    const Diagnosis found = read_diagnosis(text, "/nowhere");
    EXPECT_EQ(found.outcome, "unknown");
    EXPECT_THAT(found.sentence, HasSubstr("cannot be read"));
    EXPECT_EQ(found.faults.size(), 1u) << text;
  }
}

Report report_with(const std::string& note) {
  Report report;
  report.results = {simple_result("suite/Check.Name/case", Status::fail_accuracy)};
  report.results[0].outcome.notes["diagnosis_folder"] = note;
  return report;
}

std::string related(const std::string& note, const std::vector<fs::path>& inputs, const fs::path& to) {
  Report report = report_with(note);
  relate_diagnoses(report, inputs, to);
  const auto& notes = report.results[0].outcome.notes;
  return notes.contains("diagnosis_folder") ? notes.at("diagnosis_folder") : "none";
}

TEST(DiagnosisFolder, IsNamedFromWhereTheReportIsWritten) {
  const TemporaryFolder folder;
  const fs::path usual = diagnosis_path("", "suite/Check.Name/case"), one = folder.path() / "one",
                 all = folder.path() / "all";
  fs::create_directories(one / usual);
  fs::create_directories(folder.path() / "two");
  EXPECT_EQ(related(usual.string(), {one}, one), usual);
  EXPECT_EQ(related(usual.string(), {one, folder.path() / "two"}, all), "../one" / usual);
  EXPECT_EQ(related(usual.string(), {one / "results.json"}, all), "../one" / usual);
  fs::create_directories(all);
  EXPECT_EQ(related(("../one" / usual).string(), {all}, folder.path()), "one" / usual) << "of merged results";
  EXPECT_EQ(related(usual.string(), {folder.path() / "two"}, all), "none");
  EXPECT_EQ(related("../../../etc", {one}, one), usual) << "no other text is a path";
}

TEST(DiagnosisFolder, OfAnotherCaseIsNone) {
  EXPECT_TRUE(is_diagnosis_folder("diagnosis/a+b.c", "a/b.c"));
  EXPECT_TRUE(is_diagnosis_folder("../x/diagnosis/a+b.c", "a/b.c"));
  EXPECT_FALSE(is_diagnosis_folder("diagnosis/other", "a/b.c"));
  EXPECT_FALSE(is_diagnosis_folder("x_diagnosis/a+b.c", "a/b.c"));
  EXPECT_FALSE(is_diagnosis_folder("", "a/b.c"));
}

}  // namespace
}  // namespace torchstone::results_folder
