// Damaged files, as full disks, editors and other programs leave them. Reading must give a report, or an error of one
// sentence that names the file. Every writer must accept what was read. The mutations are seeded.
#include <filesystem>
#include <functional>
#include <random>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/console/summary_text.h"
#include "reports/judge/baseline_report.h"
#include "reports/judge/history.h"
#include "reports/judge/table_gate.h"
#include "reports/judge/upstream_tables.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/summary.h"
#include "reports/record/tables/upstream_csv.h"
#include "reports/write/formats.h"
#include "reports/write/html/page.h"
#include "tests/unit/reports/sample.h"

#ifndef TORCHSTONE_MUTATIONS
#define TORCHSTONE_MUTATIONS 60
#endif

namespace torchstone::judge {
namespace {

constexpr int mutations = TORCHSTONE_MUTATIONS;  // mutations of each kind
using testing::HasSubstr;
using Random = std::mt19937;

size_t any_below(size_t n, Random& random) { return n == 0 ? 0 : random() % n; }

std::string truncated(const std::string& text, Random& random) {
  return text.substr(0, any_below(text.size(), random));
}

std::string with_other_bytes(std::string text, Random& random) {
  for (size_t i = 0, n = 1 + any_below(8, random); i < n && !text.empty(); ++i)
    text[any_below(text.size(), random)] = static_cast<char>(random());
  return text;
}

std::string with_a_part_moved(std::string text, Random& random) {
  const std::string part = text.substr(any_below(text.size(), random), any_below(200, random));
  if (random() % 2 == 0) text.erase(any_below(text.size(), random), part.size());
  return text.insert(any_below(text.size() + 1, random), part);
}

/// Replaces one member anywhere in the tree by another value. The result is well-formed JSON without sense.
nlohmann::json with_another_value(nlohmann::json json, Random& random) {
  static const std::vector<nlohmann::json> values = {nullptr,
                                                     true,
                                                     -1,
                                                     0,
                                                     1e308,
                                                     -1e308,
                                                     1e-320,
                                                     18446744073709551615u,
                                                     "",
                                                     "NaN",
                                                     "Infinity",
                                                     "-Infinity",
                                                     "\t\x1b[2J<b>&",
                                                     std::string(20000, 'x'),
                                                     nlohmann::json::array(),
                                                     nlohmann::json::object(),
                                                     nlohmann::json::array({1, "NaN", 2e300})};
  nlohmann::json* place = &json;
  while (place->is_structured() && !place->empty() && (place == &json || random() % 8 != 0))
    place = &*std::next(place->begin(), static_cast<std::ptrdiff_t>(any_below(place->size(), random)));
  *place = values[any_below(values.size(), random)];
  return json;
}

/// Calls `read` with each mutation of the text. It may throw only a ReportError that begins with the file's name.
void damage(const std::string& text, const std::string& file, const std::function<void(const std::string&)>& read) {
  Random random(20260131);
  const auto try_one = [&](const std::string& mutant, const char* how, int number) {
    try {
      read(mutant);
    } catch (const ReportError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(file + ":")) << how << ' ' << number;
    } catch (const std::exception& error) {
      ADD_FAILURE() << how << ' ' << number << ": " << error.what() << "\n" << mutant.substr(0, 2000);
    }
  };
  for (int i = 0; i < mutations; ++i) {
    try_one(truncated(text, random), "truncated", i);
    try_one(with_other_bytes(text, random), "bytes", i);
    try_one(with_a_part_moved(text, random), "moved", i);
  }
}

void damage_json(const std::string& text, const std::string& file,
                 const std::function<void(const std::string&)>& read) {
  damage(text, file, read);
  Random random(42);
  const auto json = nlohmann::json::parse(text);
  for (int i = 0; i < 5 * mutations; ++i) {
    const std::string mutant = with_another_value(json, random).dump();
    try {
      read(mutant);
    } catch (const ReportError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith(file + ":")) << i;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "value " << i << ": " << error.what() << "\n" << mutant.substr(0, 2000);
    }
  }
}

void write_everything(const Report& report, const Report& baseline) {
  const auto comparison = compare_with_baseline(baseline, report);
  const auto points = history_points(report);
  EXPECT_THAT(write::write_html(report, {comparison, points, "before"}), testing::EndsWith("</html>\n"));
  EXPECT_LE(write::write_markdown(report, {.comparison = comparison}).size(), 200'000u);
  EXPECT_THAT(write::write_openmetrics(report), testing::EndsWith("# EOF\n"));
  write_comparison(comparison, /*all=*/true);
  write_comparison_json(comparison);
  write::write_wide_csv(report.results);
  write::write_summary_csv(report.results);
  tables::write_upstream_csvs(report.results, report.run.tag);
  write::write_junit(report.results, report.run);
  write::write_annotations(report, "/");
  console::write_summary(report.results, report.run, {"report.html"}, 80);
  history_table(points, "speedup", 80);
  EXPECT_EQ(write_json(parse_json(write_json(report.results, report.run), "again").results, report.run),
            write_json(report.results, report.run));
}

TEST(DamagedInput, ResultsAreRefusedOrWritten) {
  const Report whole{sample_run(), sample_results()};
  int read = 0;
  damage_json(write_json(whole.results, whole.run), "results.json", [&](const std::string& text) {
    const Report report = parse_json(text, "results.json");
    ++read;
    write_everything(report, whole);
    compare_with_baseline(report, whole);
  });
  EXPECT_GT(read, mutations) << "most mutations of single values are still results";
}

TEST(DamagedInput, CaseRecordsAreRefusedOrRead) {
  for (const auto& result : {sample_results().front(), sample_results().back()})
    damage_json(write_case_json(result), "case.json", [](const std::string& text) {
      const Result read = parse_case_json(text, "case.json");
      write_case_json(read);
      case_file_name(read.name);
    });
}

TEST(DamagedInput, HistoriesAreRefusedWithTheirLine) {
  std::vector<HistoryPoint> points;
  for (int i = 0; i < 30; ++i) {
    HistoryPoint point{
        "run " + std::to_string(i), "2026-01-31T12:00:00.000Z", "s/P.C/m", "cpu", "Some CPU", "pass", {}};
    point.metrics["speedup"] = i < 15 ? 1 + 0.001 * i : 2 + 0.001 * i;
    points.push_back(point);
  }
  const std::string text = write_history(points);
  damage(text, "history.jsonl", [](const std::string& mutant) {
    std::vector<std::string> warnings;
    const auto read = parse_history(mutant, "history.jsonl", &warnings);
    for (const auto& warning : warnings) EXPECT_THAT(warning, testing::MatchesRegex("history.jsonl:[0-9]+: .*"));
    history_table(unite_histories(read, read), "speedup", 80);
    write::write_html({sample_run(), sample_results()}, {.history = read});
  });
}

TEST(DamagedInput, TablesAreRefusedOrJudged) {
  const std::string whole =
      "dev,name,batch_size,speedup,abs_latency,accuracy,compression_ratio,graph_breaks\n"
      "cpu,resnet18,4,1.25,3.5,pass,0.9,0\ncpu,\"a \"\"b\"\",c\",4,0,1e3,fail_accuracy,nan,2\n"
      "cpu,bert,4,inf,,eager_1st_run_OOM,-1,x\n";
  damage(whole, "table.csv", [&](const std::string& text) {
    const CsvTable table = parse_csv(text, "table.csv"), expected = parse_csv(whole, "table.csv");
    gate_text(gate_accuracy(table, expected, {}));
    gate_text(gate_memory(expected, table, {.part = 0.9}));
    gate_text(gate_graph_breaks(table, expected, {}));
    gate_text(gate_speed(table, {}, {}));
  });
}

TEST(DamagedInput, PlansAreLeftOutByName) {
  const TemporaryFolder folder;
  const std::string text = read_text(results_folder::write_plan(folder.path(), sample_run(), sample_results()));
  const auto file = std::filesystem::directory_iterator(folder.path() / "runs")->path();
  Random random(7);
  for (int i = 0; i < mutations; ++i) {
    write_atomically(file, i % 2 == 0 ? truncated(text, random) : with_other_bytes(text, random));
    const results_folder::Plans plans = results_folder::read_plans(folder.path());
    EXPECT_EQ(plans.plans.size() + plans.errors.size(), 1u);
    for (const auto& error : plans.errors) EXPECT_THAT(error, testing::StartsWith(file.string() + ":"));
  }
}

}  // namespace
}  // namespace torchstone::judge
