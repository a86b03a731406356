#include "reports/results_folder/marker.h"

#include <fstream>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/results_folder/case_files.h"
#include "reports/write/reports.h"
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

}  // namespace
}  // namespace torchstone::results_folder
