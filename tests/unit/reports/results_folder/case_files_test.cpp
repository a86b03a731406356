#include "reports/results_folder/case_files.h"

#include <gmock/gmock.h>

#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Cases, ComeBackInTheOrderTheyWereRecorded) {
  const TemporaryFolder folder;
  Result late = simple_result("a/late", Status::pass), early = simple_result("z/early", Status::fail_accuracy);
  late.recorded = "2026-01-31T12:00:02.000Z";
  early.recorded = "2026-01-31T12:00:01.000Z";
  write_case(folder.path(), late);
  write_case(folder.path(), early);
  const CaseFiles cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  EXPECT_EQ(cases.results[0].name, "z/early");
  EXPECT_EQ(cases.results[1].name, "a/late");
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, AreStampedWhenWritten) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.recorded = "";
  write_case(folder.path(), result);
  EXPECT_EQ(read_cases(folder.path()).results.at(0).recorded.size(), std::string("2026-01-31T12:00:00.000Z").size());
}

TEST(Cases, StartedAndNeverFinishedIsACrash) {
  const TemporaryFolder folder;
  Result result = simple_result("a", Status::pass);
  result.finished = false;
  write_case(folder.path(), result);
  const auto cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 1u);
  EXPECT_EQ(cases.results[0].outcome.status, Status::crash);
  EXPECT_EQ(cases.results[0].outcome.reason, "started, never finished");
  EXPECT_TRUE(cases.results[0].finished);
  EXPECT_TRUE(cases.errors.empty());
}

TEST(Cases, ADamagedFileIsARowThatNamesIt) {
  const TemporaryFolder folder;
  const fs::path path = write_case(folder.path(), simple_result("suite/Check.A/b", Status::pass));
  write_case(folder.path(), simple_result("whole", Status::pass));
  fs::resize_file(path, fs::file_size(path) / 2);
  const auto cases = read_cases(folder.path());
  ASSERT_EQ(cases.results.size(), 2u);
  ASSERT_EQ(cases.errors.size(), 1u);
  EXPECT_THAT(cases.errors[0], HasSubstr(path.string()));
  const Result& row = cases.results[0].name == "whole" ? cases.results[1] : cases.results[0];
  EXPECT_EQ(row.name, "suite/Check.A/b");
  EXPECT_EQ(row.outcome.status, Status::crash);
  EXPECT_THAT(row.outcome.reason, testing::StartsWith("damaged result file: " + path.string()));
}

TEST(Cases, OfNoFolderAreNone) { EXPECT_TRUE(read_cases("/no/such/folder").results.empty()); }

}  // namespace
}  // namespace torchstone::results_folder
