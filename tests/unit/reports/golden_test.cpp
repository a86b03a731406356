// Compares what every writer makes of the same results with the files in golden/, byte for byte.
// TORCHSTONE_UPDATE_GOLDEN=1 writes these files again. Read the difference before you commit it.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "reports/base/files.h"
#include "reports/console/summary_text.h"
#include "reports/record/report_json.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
const fs::path golden = fs::path(TORCHSTONE_TEST_DIR) / "unit/reports/golden";

void expect_golden(const std::string& file, const std::string& text) {
  if (std::getenv("TORCHSTONE_UPDATE_GOLDEN") != nullptr) {
    write_atomically(golden / file, text);
    GTEST_SKIP() << "golden/" << file << " was written anew";
  }
  ASSERT_TRUE(fs::exists(golden / file)) << file;
  EXPECT_EQ(text, read_text(golden / file)) << file;
}

TEST(Golden, Json) { expect_golden("results.json", write_json(sample_results(), sample_run())); }
TEST(Golden, WideCsv) { expect_golden("results.csv", write::write_wide_csv(sample_results())); }
TEST(Golden, SummaryCsv) { expect_golden("summary.csv", write::write_summary_csv(sample_results())); }
TEST(Golden, JUnit) { expect_golden("junit.xml", write::write_junit(sample_results(), sample_run())); }
TEST(Golden, StrictJUnit) {
  expect_golden("junit_strict.xml", write::write_junit(sample_results(), sample_run(), {.testcase_properties = false}));
}
TEST(Golden, Summary) {
  expect_golden("summary.txt",
                console::write_summary(sample_results(), sample_run(), {"out/results.json", "out/junit.xml"}));
}

TEST(Golden, UpstreamCsvs) {
  std::string all;
  for (const auto& [name, text] : tables::write_upstream_csvs(sample_results())) all += "# " + name + "\n" + text;
  expect_golden("upstream_csvs.txt", all);
}

TEST(Golden, ConsoleRows) {
  std::string rows;
  for (const auto& result : sample_results()) rows += console_row(result, false) + "\n";
  expect_golden("console.txt", rows);
}

TEST(Golden, ColoredConsoleRows) {
  std::string rows;
  for (const auto& result : sample_results()) rows += console_row(result, true).substr(0, 40) + "\n";
  expect_golden("console_color.txt", rows);
}

}  // namespace
}  // namespace torchstone
