#include "reports/results_folder/empty_results.h"

#include <fstream>

#include <gmock/gmock.h>

#include "reports/results_folder/case_files.h"
#include "reports/results_folder/plan.h"
#include "reports/write/reports.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;

TEST(EmptyResults, RemovesAllThatRunsWriteAndNothingElse) {
  const TemporaryFolder folder;
  const fs::path& out = folder.path();
  auto results = sample_results();
  Result lstm = simple_result("fastrnns/Performance.CompiledFasterThanEager/lstm_aten", Status::pass, "performance");
  lstm.suite = "fastrnns";
  lstm.model = "lstm_aten";
  lstm.outcome.samples = {{"eager_s", {0.001, 0.003}}, {"compiled_s", {0.004, 0.004}}};
  lstm.outcome.metrics["largest_batch"] = 8;
  results.push_back(lstm);
  write::write_reports({sample_run(), results}, out);
  for (const char* name : {"fastrnns.txt", "batch_sizes.txt", "report.html"})
    ASSERT_TRUE(fs::exists(out / name)) << name;
  write_case(out, results.front());
  write_plan(out, sample_run(), results);
  std::ofstream(out / ".12.3.tmp") << "of a killed run";
  std::ofstream(out / ".held.abcdef") << "{}";
  std::ofstream(out / "notes.txt") << "mine";
  for (const char* name : {"logs", "samples", "traces", "memory", "csv.old"}) fs::create_directories(out / name / "x");
  empty_results(out);
  EXPECT_THAT(folder.files(), testing::ElementsAre(".held.abcdef", "csv.old", "notes.txt"));
}

}  // namespace
}  // namespace torchstone::results_folder
