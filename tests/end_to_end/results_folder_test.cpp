// Results folders in the real program. Torchstone never removes files that it did not write.
#include <filesystem>
#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

const char* const healthy_alone = "*healthy_*_torchscript_*";
const char* const marker_file = "/.torchstone_results";

void put_text(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// Makes files of a source tree, whose folders have the same names as those of a results folder.
void make_sources(const std::string& folder) {
  for (const char* name : {"cases/main/main.cpp", "cases/suites/vision.yaml", "cases/notes.json", "runs/mine.txt"})
    put_text(folder + "/" + name, "mine");
}

std::map<std::string, std::string> texts_below(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename().string().front() != '.')  // skips marker and holder files
      files[entry.path().string()] = read_file(entry.path());
  return files;
}

TEST(AFolderOfOthers, IsRefusedAndLeftAsItIs) {
  const Torchstone torchstone;
  fs::remove(torchstone.out() + marker_file);
  make_sources(torchstone.out());
  const auto before = texts_below(torchstone.out());
  for (const std::string report : {"all", "none"}) {
    const ProgramRun run = torchstone.run_faults(healthy_alone, {"--torchstone_report=" + report});
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, AllOf(HasSubstr("cases/main"), HasSubstr("--torchstone_out"), HasSubstr("echo '")));
  }
  const ProgramRun claim = run_program({TORCHSTONE_REPORT, "claim", torchstone.out()});
  EXPECT_EQ(claim.exit_code, 2) << claim.out;
  EXPECT_THAT(claim.err, HasSubstr("cases/main"));
  EXPECT_EQ(texts_below(torchstone.out()), before);
}

TEST(AFolderOfOthers, WithAMarkerKeepsWhatIsTheirs) {
  const Torchstone torchstone;
  make_sources(torchstone.out());
  const auto before = texts_below(torchstone.out());
  EXPECT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "claim", torchstone.out()}).exit_code, 0);
  EXPECT_EQ(texts_below(torchstone.out()), before)
      << "claim must remove everything that the run wrote, and nothing else";
}

TEST(AResultsFolder, ThatCannotBeMadeIsNamedWithTheFlag) {
  const ProgramRun run = run_program({TORCHSTONE_BINARY, "--torchstone_out=/proc/nowhere/results",
                                      "--gtest_filter=*lennard_jones_inference_float32_torchscript_cpu"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("/proc/nowhere/results: the results folder cannot be used"));
  EXPECT_THAT(run.err, HasSubstr("--torchstone_out"));
}

TEST(AResultsFolder, IsMarkedByTheFirstRun) {
  const Torchstone torchstone;
  fs::remove(torchstone.out() + marker_file);
  EXPECT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  EXPECT_TRUE(fs::exists(torchstone.out() + marker_file));
}

TEST(AResultsFolder, OfAVersionWithoutMarkersIsTakenAndEmptied) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  fs::remove(torchstone.out() + marker_file);
  const std::string old_case = torchstone.out() + "/cases/faults+Accuracy.CompiledMatchesEager+old_model.json";
  put_text(old_case, R"({"schema": "torchstone/case/1"})");
  EXPECT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  EXPECT_FALSE(fs::exists(old_case));
  EXPECT_TRUE(fs::exists(torchstone.out() + marker_file));
}

TEST(AUsedFolder, HasNoReportsOfTheRunBeforeWhenTheNextOneIsKilled) {
  const Torchstone torchstone, merged;
  ASSERT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  for (const char* name : {"results.json", "junit.xml", "report.html", "csv"})
    ASSERT_TRUE(fs::exists(torchstone.out() + "/" + name)) << name;
  EXPECT_GT(torchstone.run_faults("*zero_output_inference_*_torchscript_*", {"--gtest_break_on_failure"}).exit_code,
            128);
  for (const char* name :
       {"results.json", "junit.xml", "report.html", "results.csv", "summary.csv", "summary.txt", "csv"})
    EXPECT_FALSE(fs::exists(torchstone.out() + "/" + name)) << name;
  run_program({TORCHSTONE_REPORT, "merge", torchstone.out(), "-o", merged.out()});
  ASSERT_EQ(merged.results().at("results").size(), 1U);
  EXPECT_THAT(merged.results().at("results").at(0).at("name").get<std::string>(), HasSubstr("zero_output"));
}

TEST(AUsedFolder, KeepsTheReportsWhereARunWritesNone) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(healthy_alone).exit_code, 0);
  EXPECT_EQ(torchstone.run_faults(healthy_alone, {"--torchstone_report=none"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(torchstone.out() + "/results.json"));
}

TEST(AUsedFolder, KeepsAFileThatAFlagNames) {
  const Torchstone torchstone;
  const std::string sizes = torchstone.out() + "/batch_sizes.txt";
  put_text(sizes, "healthy,2\n");
  const ProgramRun run = torchstone.run_faults(healthy_alone, {"--torchstone_batch_size_file=" + sizes});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(read_file(sizes), "healthy,2\n");
}

}  // namespace
}  // namespace torchstone
