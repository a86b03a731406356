// Names of all files of all writers. A text in a result must never become a path.
#include <set>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/ownership.h"
#include "reports/record/results_folder/side_files.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/write/report_files.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> texts = {"../../x",
                                                 "/etc/x",
                                                 std::string("a\0/../../b", 10),
                                                 "a\nb",
                                                 "..",
                                                 std::string(5000, 'y'),
                                                 "",
                                                 "../../../../../../tmp/z",
                                                 ".",
                                                 "\x1b[2J"};
  return texts;
}

/// Returns a timing and an operator for each text. All their fields are that text.
std::vector<Result> hostile_results() {
  std::vector<Result> results;
  for (const auto& text : hostile_texts()) {
    for (const bool is_operator : {false, true}) {
      Result r = simple_result(text + (is_operator ? "o" : "m"), Status::pass);
      for (auto* field : {&r.suite, &r.model, &r.mode, &r.dtype, &r.device, &r.backend, &r.preset}) *field = text;
      r.check = is_operator ? "performance" : text;
      r.outcome.metrics = {{"speedup", 2}, {"largest_batch", 4}};
      if (is_operator) r.outcome.operator_name = text;
      r.outcome.samples = {{"eager_s", {1}}, {"compiled_s", {1}}};
      results.push_back(r);
    }
  }
  return results;
}

TEST(FileNames, OfTablesAreOnePartBelowCsv) {
  const auto results = hostile_results();
  std::set<std::string> names;
  for (const auto& files : {tables::write_upstream_csvs(results), tables::write_operatorbench_csvs(results)})
    for (const auto& [name, text] : files) {
      EXPECT_TRUE(results_folder::is_report_name(name)) << name;
      EXPECT_EQ(name.find('/'), std::string::npos) << name;
      EXPECT_TRUE(names.insert(name).second) << "two tables in one file: " << name;
    }
  EXPECT_GE(names.size(), hostile_texts().size());
}

TEST(FileNames, KeepEveryFileInsideTheFolder) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "deep/deep/out";
  const auto results = hostile_results();
  RunInfo run = sample_run();
  run.id = "../../run";
  const Written written = write_reports({run, results}, out);
  EXPECT_THAT(written.faults, testing::IsEmpty());
  for (const auto& result : results) {
    results_folder::write_case(out, result);
    results_folder::write_samples(out, result);
  }
  EXPECT_EQ(results_folder::read_cases(out).results.size(), results.size());
  EXPECT_EQ(folder.files(), std::vector<std::string>{"deep"});
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const auto below = entry.path().lexically_relative(out);
    EXPECT_LE(std::distance(below.begin(), below.end()), 2) << below;
    EXPECT_NE(*below.begin(), "..") << below;
  }
  EXPECT_GE(files, 2 * results.size());
}

}  // namespace
}  // namespace torchstone::write
