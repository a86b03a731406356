#include "reports/record/results_folder/ownership.h"

#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal_of(const fs::path& folder) {
  try {
    require_results_folder(folder);
    return "";
  } catch (const FolderRefused& error) {
    return error.what();
  }
}

TEST(Marker, IsMadeInAnEmptyFolderAndSaysWhatItIs) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal_of(folder.path()), "");
  EXPECT_THAT(read_text(folder.path() / marker_name), testing::StartsWith("torchstone results folder, format 1\n"));
}

TEST(Marker, CountsTheRunsThatBeginInTheFolder) {
  const TemporaryFolder folder, other;
  require_results_folder(folder.path());
  require_results_folder(other.path());
  const Origin first = begin_run_in(folder.path(), "x"), second = begin_run_in(folder.path(), "y");
  EXPECT_EQ(first.number, 1);
  EXPECT_EQ(second.number, 2);
  EXPECT_EQ(second.run, "y");
  EXPECT_EQ(second.sequence, 0);
  EXPECT_EQ(first.folder, second.folder);
  EXPECT_EQ(first.folder.size(), 16u);
  EXPECT_NE(first.folder, begin_run_in(other.path(), "x").folder);
  EXPECT_EQ(refusal_of(folder.path()), "");
}

TEST(Marker, MadeByHandOrDamagedCountsFromOne) {
  const TemporaryFolder folder;
  for (const char* text : {"", "runs: many\n", "runs: -3\n", "runs: 1e300\n", "id: \nruns: nan"}) {
    std::ofstream(folder.path() / marker_name) << "torchstone results folder, format 1\n" << text;
    const Origin origin = begin_run_in(folder.path(), "x");
    EXPECT_EQ(origin.number, 1) << text;
    EXPECT_FALSE(origin.folder.empty()) << text;
    EXPECT_EQ(begin_run_in(folder.path(), "y").number, 2) << text;
  }
}

TEST(Marker, AllowsAnythingBesideIt) {
  const TemporaryFolder folder;
  require_results_folder(folder.path());
  write_atomically(folder.path() / "cases/main.cpp", "mine");
  EXPECT_EQ(refusal_of(folder.path()), "");
}

TEST(Marker, IsMissedWhereFilesOfOthersAre) {
  for (const char* name : {"cases/main.cpp", "runs/mine.json", "notes.txt", ".gitignore", "logs/server.log"}) {
    const TemporaryFolder folder;
    write_atomically(folder.path() / name, "mine");
    write_case(folder.path(), simple_result("a/Check.B/c", Status::pass));
    EXPECT_THAT(refusal_of(folder.path()),
                AllOf(HasSubstr(folder.path().string()), HasSubstr(name), HasSubstr("--torchstone_out"),
                      HasSubstr("echo 'torchstone results folder, format 1'")));
    EXPECT_FALSE(fs::exists(folder.path() / marker_name));
    EXPECT_EQ(read_text(folder.path() / name), "mine");
  }
}

TEST(Marker, CanBeMadeByTheLineInTheMessage) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "notes.txt", "mine");
  std::ofstream(folder.path() / marker_name) << "torchstone results folder, format 1\n";
  EXPECT_EQ(refusal_of(folder.path()), "");
}

TEST(Marker, IsAddedToResultsOfVersionsWithoutOne) {
  const TemporaryFolder reports, records, linked;
  write::write_reports({sample_run(), sample_results()}, reports.path());
  EXPECT_EQ(refusal_of(reports.path()), "");
  write_case(records.path(), simple_result("a/Check.B/c", Status::pass));
  write_atomically(records.path() / "logs/a.Check.B.c.log", "");
  EXPECT_EQ(refusal_of(records.path()), "");
  fs::create_directory_symlink(records.path() / "cases", linked.path() / "cases");
  EXPECT_THAT(refusal_of(linked.path()), HasSubstr("(cases)"));
}

TEST(Marker, IsNotAddedForNamesAlone) {
  const TemporaryFolder folder;
  write_atomically(folder.path() / "results.json", "{\"mine\": true}");
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr("no record of a case"));
}

TEST(Marker, OfAnotherFormatIsRefused) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / marker_name) << "torchstone results folder, format 2\n";
  EXPECT_THAT(refusal_of(folder.path()), AllOf(HasSubstr("format 2"), HasSubstr("another version")));
}

TEST(Marker, ThatIsALinkOrHoldsSomethingElseIsNone) {
  const TemporaryFolder folder, marked;
  require_results_folder(marked.path());
  fs::create_symlink(marked.path() / marker_name, folder.path() / marker_name);
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr(marker_name));
  fs::remove(folder.path() / marker_name);
  std::ofstream(folder.path() / marker_name) << "mine";
  EXPECT_THAT(refusal_of(folder.path()), HasSubstr(marker_name));
}

/// Writes one file of each kind that a run writes.
void fill(const fs::path& out) {
  auto results = sample_results();
  Result lstm = simple_result("fastrnns/Performance.CompiledFasterThanEager/lstm_aten", Status::pass, "performance");
  lstm.suite = "fastrnns";
  lstm.model = "lstm_aten";
  lstm.outcome.samples = {{"eager_s", {0.001, 0.003}}, {"compiled_s", {0.004, 0.004}}, {"eager_forward_s", {0.002}}};
  lstm.outcome.metrics["largest_batch"] = 8;
  results.push_back(lstm);
  write::write_reports({sample_run(), results}, out);
  for (const char* name : {"fastrnns.txt", "batch_sizes.txt", "report.html"})
    ASSERT_TRUE(fs::exists(out / name)) << name;
  write_case(out, results.front());
  write_case(out, simple_result("Plugin.Test", Status::pass));
  write_plan(out, sample_run(), results);
  write_samples(out, lstm);
  for (const fs::path& path : {trace_path(out, lstm.name), memory_path(out, lstm.name), coverage_path(out, lstm.name),
                               layers_path(out, lstm.name), conv_args_path(out, lstm.name),
                               snapshot_paths(out, lstm.name).eager, snapshot_paths(out, lstm.name).compiled})
    write_atomically(path, "{}");
  for (const char* name : {"capture", "fastrnns.Performance.CompiledFasterThanEager.lstm_aten"})
    write_atomically(out / "logs" / (std::string(name) + ".log"), "");
  std::ofstream(out / ".12.3.tmp") << "of a killed run";
  std::ofstream(out / "cases/.12.3.tmp") << "of a killed run";
}

/// Returns the texts of all files of a folder, by relative path.
std::map<std::string, std::string> files_below(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory() || entry.is_symlink())
      files[entry.path().lexically_relative(folder).string()] =
          entry.is_symlink() ? "-> " + fs::read_symlink(entry).string() : read_text(entry.path());
  return files;
}

/// Adds files that a user may have in folders with the same names.
void add_foreign_files(const fs::path& folder) {
  for (const char* name :
       {"cases/main/main.cpp", "cases/suites/vision.yaml", "cases/notes.json", "cases/README.md", "runs/2026.txt",
        "runs/mine.json", "logs/server.log", "csv/mine.csv", "csv/deep/a_b_c_d_e_f.csv", "traces/trace.json",
        "samples/x.npy", "notes.txt", "csv.old/x.csv", ".hidden.tmp"})
    write_atomically(folder / name, std::string("mine: ") + name);
}

TEST(EmptyResults, RemovesAllThatRunsWriteAndNothingElse) {
  const TemporaryFolder folder;
  add_foreign_files(folder.path());
  const auto foreign = files_below(folder.path());
  ASSERT_NO_FATAL_FAILURE(fill(folder.path()));
  empty_results(folder.path());
  EXPECT_EQ(files_below(folder.path()), foreign);
}

TEST(EmptyResults, LeavesNothingButTheMarkerAndHolders) {
  const TemporaryFolder folder;
  require_results_folder(folder.path());
  ASSERT_NO_FATAL_FAILURE(fill(folder.path()));
  std::ofstream(folder.path() / ".held.abcdef") << "{}";
  empty_results(folder.path());
  EXPECT_THAT(folder.files(), testing::ElementsAre(".held.abcdef", marker_name));
}

TEST(ReportName, StaysInsideAndIsNoRecord) {
  const std::string longest(255, 'x');
  for (const std::string& name : {std::string("a.txt"), std::string("tables/a..txt"), longest, "x/" + longest})
    EXPECT_TRUE(is_report_name(name)) << name;
  for (const std::string& name :
       {std::string(""), std::string("."), std::string(".."), std::string("../a"), std::string("a/../../b"),
        std::string("a/../b"), std::string("/etc/a"), std::string("a/"), std::string("./a"), std::string("a\nb"),
        std::string("a\0b", 3), std::string(".torchstone_results"), std::string(".held.a"), std::string("cases/a.json"),
        std::string("runs/a.json"), longest + "x", "x/" + longest + "x/y"})
    EXPECT_FALSE(is_report_name(name)) << name;
}

TEST(EmptyResults, KeepsTheFilesThatItIsToldTo) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "out", link = folder.path() / "link";
  fs::create_directories(out);
  fs::create_directory_symlink(out, link);
  ASSERT_NO_FATAL_FAILURE(fill(out));
  write_atomically(out / "tables/slowest.txt", "");
  write_atomically(out / "tables/fastest.txt", "");
  note_written(out, {"tables/slowest.txt", "tables/fastest.txt"});
  empty_results(out, {link / "batch_sizes.txt", out / "tables/slowest.txt", out / "logs/capture.log", "/no/such"});
  std::vector<std::string> left;
  for (const auto& [name, text] : files_below(out)) left.push_back(name);
  EXPECT_THAT(left, testing::ElementsAre("batch_sizes.txt", "logs/capture.log", "tables/slowest.txt"));
}

TEST(EmptyResults, RemovesLinksAndNothingBehindThem) {
  const TemporaryFolder folder, elsewhere;
  ASSERT_NO_FATAL_FAILURE(fill(elsewhere.path()));
  const auto before = files_below(elsewhere.path());
  const fs::path out = folder.path() / "out";
  fs::create_directories(out / "csv");
  write_atomically(elsewhere.path() / "tables/slowest.txt", "mine");
  note_written(out, {"tables/slowest.txt"});
  for (const auto& name : own_folders())
    if (name != "csv" && name != "runs") fs::create_directory_symlink(elsewhere.path() / name, out / name);
  fs::create_directory_symlink(elsewhere.path() / "tables", out / "tables");
  fs::create_symlink(elsewhere.path() / "results.json", out / "results.json");
  fs::create_symlink(elsewhere.path() / "results.json", out / "csv/a_b_c_d_e_f.csv");
  empty_results(out);
  EXPECT_THAT(files_below(out), testing::ElementsAre(testing::Key("tables")));
  fs::remove(elsewhere.path() / "tables/slowest.txt");
  EXPECT_EQ(files_below(elsewhere.path()), before);
}

}  // namespace
}  // namespace torchstone::results_folder
