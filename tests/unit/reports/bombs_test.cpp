// Small files that could need much memory or time. Each is either refused by a limit before memory is allocated, or
// read and written in time that is proportional to its size. The time limit of the test program checks the latter.
#include <fstream>
#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "reports/base/csv_format.h"
#include "reports/base/files.h"
#include "reports/judge/history.h"
#include "reports/judge/table_gate.h"
#include "reports/record/report_json.h"
#include "reports/record/tables/suite_tables.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/record/tables/upstream_suites.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

std::string bomb_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const ReportError& error) {
    return error.what();
  }
  return "no error";
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string many_columns(size_t count) {
  std::string line = "name,accuracy";
  for (size_t i = 2; i < count; ++i) line += fmt::format(",c{}", i);
  return line + "\n";
}

Result bomb_result(size_t number, const std::string& suite, const std::string& backend) {
  Result result;
  result.name = fmt::format("{}/Performance.Faster/m{}", suite, number);
  result.suite = suite;
  result.model = fmt::format("m{}", number);
  result.check = "performance";
  result.backend = backend;
  result.finished = true;
  result.outcome.status = Status::pass;
  result.outcome.metrics = {{"speedup", 1.5}};
  result.outcome.operator_name = result.model;
  return result;
}

/// Returns results whose suites, operators and backends are all different.
std::vector<Result> all_different(size_t count) {
  std::vector<Result> results;
  for (size_t i = 0; i < count; ++i) results.push_back(bomb_result(i, fmt::format("s{}", i), fmt::format("b{}", i)));
  return results;
}

TEST(Bombs, ATableOfManyColumnsIsRefusedAtTheFirstTooMany) {
  EXPECT_EQ(parse_csv(many_columns(1000), "a.csv").columns.size(), 1000u);
  EXPECT_EQ(bomb_error([] { parse_csv(many_columns(5000), "a.csv"); }),
            "a.csv:1: more than 1000 cells (expected at most 1000 columns)");
  EXPECT_THAT(bomb_error([] { parse_csv(std::string(size_t{60} << 20, ','), "a.csv"); }), HasSubstr("a.csv:1: more"));
}

TEST(Bombs, ShortRowsOfAWideTableAreCountedWithTheirEmptyCells) {
  EXPECT_EQ(bomb_error([] { parse_csv(many_columns(1000) + repeated("x,pass\n", 10'001), "a.csv"); }),
            "a.csv:10002: more than 10000 rows of 1000 columns (expected at most 10000000 cells)");
}

TEST(Bombs, ATableOf100000RowsIsJudgedModelByModel) {
  std::string text = "dev,name,batch_size,accuracy\n";
  for (int i = 0; i < 100'000; ++i) text += fmt::format("cpu,m{},1,pass\n", i);
  const CsvTable table = parse_csv(text, "a.csv");
  EXPECT_EQ(judge::gate_accuracy(table, table, {}).size(), 100'000u);
}

TEST(Bombs, AFileIsMeasuredBeforeItIsRead) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "large.csv";
  std::ofstream(file).put('a');
  std::filesystem::resize_file(file, size_t{1} << 40);  // a sparse file, which takes no space on the disk
  EXPECT_EQ(bomb_error([&] { read_at_most(file, 64 * mebibyte); }),
            file.string() + ": 1099511627776 bytes (expected at most 67108864)");
  EXPECT_THAT(bomb_error([] { read_at_most("/dev/zero", mebibyte); }),
              HasSubstr("/dev/zero: cannot be read (expected a regular file)"));
}

TEST(Bombs, JsonIsCountedBeforeItIsParsed) {
  EXPECT_EQ(bomb_error([] { parse_json(std::string(5'000'000, '['), "r.json"); }),
            "r.json: nested too deeply (expected at most 64)");
  EXPECT_EQ(bomb_error([] { parse_json("[" + repeated("0,", JsonLimits::items + 1) + "0]", "r.json"); }),
            "r.json: too many items of arrays (expected at most 32000000)");
  EXPECT_EQ(bomb_error([] { parse_json("{" + repeated("\"\":0,", JsonLimits::members + 1) + "\"\":0}", "r.json"); }),
            "r.json: too many members of objects (expected at most 8000000)");
  EXPECT_THAT(bomb_error([] { judge::parse_history(std::string(1000, '['), "h.jsonl", nullptr); }),
              HasSubstr("h.jsonl:1: nested too deeply"));
}

TEST(Bombs, BracketsInStringsAreNoNesting) {
  EXPECT_NO_THROW(check_json_limits("{\"a\": \"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"}"));
  EXPECT_NO_THROW(check_json_limits("\""));
  EXPECT_NO_THROW(check_json_limits("\"\\"));
}

TEST(Bombs, ThousandsOfSuitesAndBackendsAreWrittenWithoutTheirProduct) {
  const auto results = all_different(6'000);
  RunInfo run;
  run.machine["cpu"] = std::string(100'000, 'x');  // would be 600 MB if each suite repeated it
  EXPECT_LT(write::write_junit(results, run).size(), size_t{30} << 20);
  EXPECT_LT(write::write_summary_csv(results).size(), size_t{10} << 20);
  EXPECT_LE(write::write_markdown({{}, results}, {}).size(), write::MarkdownOptions{}.limit);
  const auto table = tables::speedup_table(results);
  ASSERT_TRUE(table);
  EXPECT_LE(table->header.size() * table->rows.size(), 110'000u);
  EXPECT_THAT(table->explanation, HasSubstr("5900 further columns and 5000 further models are in results.csv"));
  const std::string page = write::write_html({{}, results}, {});
  EXPECT_THAT(page, HasSubstr("6000 rows of 6000 columns are too many for a table"));
  EXPECT_THAT(bomb_error([&] { tables::write_upstream_csvs(results); }),
              HasSubstr("more than 1000 tables, one each of a backend, suite, dtype, mode, device and check"));
  EXPECT_THAT(bomb_error([&] { tables::write_operatorbench_csvs(results); }), HasSubstr("more than 1000 tables"));
}

TEST(Bombs, OperatorsOfThousandsOfBackendsAreNoTable) {
  std::vector<Result> results;
  for (size_t i = 0; i < 20'000; ++i) results.push_back(bomb_result(i, "s", fmt::format("b{}", i)));
  EXPECT_THAT(bomb_error([&] { tables::write_operatorbench_csvs(results); }),
              HasSubstr("operators of suite s, : 20000 backends, three columns each (expected at most 300)"));
}

TEST(Bombs, ABackendOfAMillionOptionsBecomesAWordInOnePass) {
  auto result = bomb_result(0, "s", repeated("=true", 1'000'000));
  EXPECT_EQ(tables::write_upstream_csvs({result}).size(), 1u);
}

TEST(Bombs, AStepIsLookedForAmongTheNewestThousandPoints) {
  std::vector<double> values(100'000, 1.0);
  for (size_t i = values.size() - 500; i < values.size(); ++i) values[i] = 2;
  const auto step = judge::newest_change_point(values);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->index, 99'500u);
}

}  // namespace
}  // namespace torchstone
