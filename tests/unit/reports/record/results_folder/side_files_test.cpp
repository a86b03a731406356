#include "reports/record/results_folder/side_files.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "tests/temporary_folder.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;

TEST(Npy, IsTheFormatToTheByte) {
  const std::string bytes = write_npy({{1, -0.5}, {2, 1e300}});
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
  ASSERT_EQ(bytes.size(), 128u + 4 * 8);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));  // 118 follow, 128 in all
  EXPECT_EQ(bytes.substr(10, header.size()), header);
  EXPECT_EQ(bytes.substr(10 + header.size(), 118 - header.size() - 1), std::string(118 - header.size() - 1, ' '));
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128, 8), std::string("\0\0\0\0\0\0\xf0\x3f", 8));              // 1
  EXPECT_EQ(bytes.substr(136, 8), std::string("\0\0\0\0\0\0\0\x40", 8));                // 2: row by row
  EXPECT_EQ(bytes.substr(144, 8), std::string("\0\0\0\0\0\0\xe0\xbf", 8));              // -0.5
  EXPECT_EQ(bytes.substr(152, 8), std::string("\x9c\x75\x00\x88\x3c\xe4\x37\x7e", 8));  // 1e300
}

TEST(Npy, AlignsItsDataWhateverTheNumberOfRows) {
  for (const size_t rows : {0u, 1u, 9u, 10u, 99u, 100u, 1000000u}) {
    const std::string bytes = write_npy({std::vector<double>(rows, 1.5), std::vector<double>(rows, 2.5)});
    EXPECT_EQ((bytes.size() - rows * 16) % 64, 0u) << rows;
    EXPECT_EQ(bytes[bytes.size() - rows * 16 - 1], '\n') << rows;
  }
}

TEST(Npy, RefusesColumnsOfDifferentLengths) { EXPECT_THROW(write_npy({{1, 2}, {1}}), std::invalid_argument); }

TEST(SideFiles, HoldTheTimingsOfACaseAsNumPyReadsThem) {
  const TemporaryFolder folder;
  Result result = simple_result("suite/Performance.Compiled/model", Status::pass);
  result.outcome.samples = {{"eager_s", {0.5, 0.1, std::numeric_limits<double>::quiet_NaN()}},
                            {"compiled_s", {0.25, 1e-9, std::numeric_limits<double>::infinity()}}};
  write_samples(folder.path(), result);
  const fs::path path = samples_path(folder.path(), result.name);
  EXPECT_EQ(path, folder.path() / "samples" / "suite+Performance.Compiled+model.npy");
  ASSERT_TRUE(fs::exists(path));
  const std::string python = TORCHSTONE_PYTHON;
  if (python.empty() || run_line(fmt::format("'{}' -c 'import numpy'", python)).exit_code != 0)
    GTEST_SKIP() << "no Python with NumPy";
  const Finished read = run_line(
      fmt::format("'{}' -c 'import numpy, sys; a = numpy.load(sys.argv[1]); print(a.shape, a.dtype, a.tolist())' '{}'",
                  python, path.string()));
  EXPECT_EQ(read.output, "(3, 2) float64 [[0.5, 0.25], [0.1, 1e-09], [nan, inf]]\n");
}

TEST(SideFiles, AreNoneForACaseWithoutTimings) {
  const TemporaryFolder folder;
  write_samples(folder.path(), simple_result("a", Status::pass));
  EXPECT_FALSE(fs::exists(folder.path() / "samples"));
}

TEST(SideFiles, OfAnEarlierRunAreRemovedAndOthersStay) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    write_atomically(samples_path(folder.path(), name), "old");
    write_atomically(trace_path(folder.path(), name), "old");
    write_atomically(memory_path(folder.path(), name), "old");
    write_atomically(snapshot_paths(folder.path(), name).eager, "old");
    write_atomically(snapshot_paths(folder.path(), name).compiled, "old");
    write_atomically(coverage_path(folder.path(), name), "old");
    write_atomically(layers_path(folder.path(), name), "old");
    write_atomically(conv_args_path(folder.path(), name), "old");
  }
  remove_side_files(folder.path(), "a");
  remove_side_files(folder.path(), "never there");
  EXPECT_FALSE(fs::exists(samples_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(trace_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(memory_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(snapshot_paths(folder.path(), "a").eager));
  EXPECT_FALSE(fs::exists(snapshot_paths(folder.path(), "a").compiled));
  EXPECT_FALSE(fs::exists(coverage_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(layers_path(folder.path(), "a")));
  EXPECT_FALSE(fs::exists(conv_args_path(folder.path(), "a")));
  EXPECT_TRUE(fs::exists(samples_path(folder.path(), "b")));
  EXPECT_TRUE(fs::exists(folder.path() / "traces" / "b.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "memory" / "b.json"));
  EXPECT_TRUE(fs::exists(folder.path() / "memory" / "b_eager.pickle"));
  EXPECT_TRUE(fs::exists(folder.path() / "memory" / "b_compiled.pickle"));
  EXPECT_TRUE(fs::exists(folder.path() / "coverage" / "b.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "layers" / "b.csv"));
  EXPECT_TRUE(fs::exists(folder.path() / "conv_args" / "b.json"));
}

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
  EXPECT_EQ(found.outcome, DiagnosisOutcome::located);
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
    EXPECT_EQ(found.outcome, DiagnosisOutcome::unknown);
    EXPECT_THAT(found.sentence, HasSubstr("cannot be read"));
    EXPECT_EQ(found.faults.size(), 1u) << text;
  }
}

std::string related(const std::string& path, const std::vector<fs::path>& inputs, const fs::path& to) {
  Report report;
  report.results = {simple_result("suite/Check.Name/case", Status::fail_accuracy)};
  report.results[0].outcome.diagnosis = Diagnosis{.folder = path};
  relate_diagnoses(report, inputs, to);
  return report.results[0].outcome.diagnosis->folder;
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
  EXPECT_EQ(related(("../one" / usual).string(), {all}, folder.path()), "one" / usual) << "a path in merged results";
  EXPECT_EQ(related(usual.string(), {folder.path() / "two"}, all), "");
  EXPECT_EQ(related("../../../etc", {one}, one), usual) << "other texts are not used as paths";
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
