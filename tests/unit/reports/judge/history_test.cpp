#include "reports/judge/history.h"

#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/merge_results.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;

HistoryPoint point(int day, double speedup, const std::string& name = "suite/Performance.CompiledIsFaster/resnet50") {
  HistoryPoint p;
  p.started = "2026-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day);
  p.run = "run-" + p.started;
  p.name = name;
  p.device = "cpu";
  p.machine = "Some CPU";
  p.status = "pass";
  p.metrics = {{"speedup", speedup}};
  return p;
}

/// Returns one run per day with the speed-up `before`, or `after` from day `changed` on. Days differ slightly.
std::vector<HistoryPoint> runs(int days, int changed, double before, double after) {
  std::vector<HistoryPoint> points;
  for (int day = 1; day <= days; ++day)
    points.push_back(point(day, (day < changed ? before : after) + 0.001 * (day * 7 % 5)));
  return points;
}

std::string history_error(const std::string& text) {
  try {
    parse_history(text, "history.jsonl");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(History, KeepsWhatATrendNeeds) {
  const auto points = history_points({sample_run(), sample_results()});
  ASSERT_EQ(points.size(), sample_results().size() - 1) << "a case that is there twice has one point";
  EXPECT_EQ(points[0].run, sample_run().id);
  EXPECT_EQ(points[0].started, sample_run().started);
  EXPECT_THAT(points[0].machine, HasSubstr(sample_run().machine.at("cpu")));
  EXPECT_EQ(points[0].status, "pass");
  EXPECT_DOUBLE_EQ(points[0].metrics.at("error_of_limit"), 0.12);
  EXPECT_FALSE(points[0].metrics.contains("max_abs_error"));
}

TEST(History, KnowsWhichSpeedUpsAreNoisy) {
  Report report{sample_run(), {simple_result("a", Status::pass, "performance"), simple_result("b", Status::pass)}};
  report.results[0].outcome.metrics["speedup"] = 1.2;
  report.results[0].outcome.why_noisy = "the threads ran in different cache domains";
  const auto read = parse_history(write_history(history_points(report)), "history.jsonl");
  ASSERT_EQ(read.size(), 2u);
  EXPECT_TRUE(read[0].noisy);
  EXPECT_FALSE(read[1].noisy);
  EXPECT_THAT(history_table(read, "speedup", 100), HasSubstr("1 series, 0 with a step, 1 whose last value is noisy"));
  EXPECT_THAT(history_error(R"({"run": "r", "name": "a", "noisy": 1})"),
              HasSubstr("history.jsonl:1: noisy: expected true or false, found number"));
}

TEST(History, KnowsTheMetricsThatItKeepsAndThoseOfLaterVersions) {
  const auto points = parse_history(R"({"run": "r", "name": "a", "metrics": {"of_tomorrow": 1}})", "history.jsonl");
  const auto known = known_metrics(points);
  EXPECT_TRUE(known.contains("speedup") && known.contains("of_tomorrow"));
  EXPECT_FALSE(known.contains("nosuch"));
}

TEST(History, ARunThatWasKilledIsNamedByItsFirstCase) {
  Report report{{}, {simple_result("b", Status::pass), simple_result("a", Status::pass)}};
  report.results[0].recorded = "2026-02-02";
  report.results[1].recorded = "2026-02-01";
  for (const auto& p : history_points(report)) EXPECT_EQ(p.run, "2026-02-01");
}

TEST(History, WritingWhatWasReadChangesNothing) {
  const std::string text = write_history(history_points({sample_run(), sample_results()}));
  EXPECT_EQ(write_history(parse_history(text, "history.jsonl")), text);
}

TEST(History, HoldsEachCaseOfARunOnceAndTheOldestRunFirst) {
  const auto one = runs(3, 9, 1.4, 1.4);
  const auto both = unite_histories({one[2], one[1]}, {one[0], one[1], point(2, 9.9), point(2, 1.1, "other")});
  ASSERT_EQ(both.size(), 4u);
  EXPECT_EQ(both[0].run, one[0].run);
  EXPECT_DOUBLE_EQ(both[1].metrics.at("speedup"), one[1].metrics.at("speedup")) << "what was there stays";
  EXPECT_EQ(both[2].name, "other");
  EXPECT_EQ(both[3].run, one[2].run);
}

TEST(History, ErrorsNameFileAndLineAndWhatWasExpected) {
  const std::string good = R"({"run": "r", "name": "a"})";
  EXPECT_EQ(history_error(good + "\n\nnonsense\n" + good + "\n"),
            "history.jsonl:3: expected a JSON object, found nonsense");
  EXPECT_EQ(history_error(good + "\n[1]\n"), "history.jsonl:2: the line: expected an object, found array");
  EXPECT_EQ(history_error(R"({"name": "a"})"), "history.jsonl:1: run: expected a string, found nothing");
  EXPECT_EQ(
      history_error(R"({"run": "r", "name": "a", "metrics": {"speedup": "fast"}})"),
      "history.jsonl:1: metrics.speedup: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found \"fast\"");
  EXPECT_EQ(history_error(R"({"run": "r", "name": "a", "later": [1]})"), "nothing")
      << "unknown members are passed over";
  EXPECT_THROW(read_history("/no/such/history.jsonl"), ReportError);
}

TEST(History, ALastLineThatWasCutOffIsLeftOutWithAWarning) {
  const std::string whole = write_history(runs(3, 9, 1.4, 1.4));
  std::vector<std::string> warnings;
  const auto points = parse_history(whole.substr(0, whole.size() - 10), "history.jsonl", &warnings);
  EXPECT_EQ(points.size(), 2u);
  EXPECT_THAT(warnings, testing::ElementsAre("history.jsonl:3: the last line is cut off; left out"));
  warnings.clear();
  EXPECT_EQ(parse_history(whole.substr(0, whole.size() - 1), "history.jsonl", &warnings).size(), 3u);
  EXPECT_THAT(warnings, testing::IsEmpty());
}

TEST(History, SurvivesEveryDamage) {
  const std::string whole = write_history(history_points({sample_run(), sample_results()}));
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  size_t refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    for (size_t edits = 1 + below(4); edits > 0; --edits) {
      if (below(3) == 0) text.resize(below(text.size()) + 1);
      text[below(text.size())] = static_cast<char>(below(256));
    }
    const std::string error = history_error(text);
    refused += error != "nothing";
    EXPECT_THAT(error, testing::AnyOf("nothing", testing::StartsWith("history.jsonl:")));
  }
  EXPECT_GT(refused, 100u);
  EXPECT_THAT(history_error(std::string(100000, '[') + "\n"),
              testing::StartsWith("history.jsonl:1: nested too deeply"));
}

TEST(Sparkline, GoesFromTheSmallestToTheLargest) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({100, 7, 0}, 2), "█▁") << "only the last of them";
  EXPECT_EQ(sparkline({5, 5}, 8), "▅▅");
  EXPECT_EQ(sparkline({NAN, 1, INFINITY, 2}, 8), "·▁·█");
  EXPECT_EQ(sparkline({-1e308, 1e308}, 8), "▁█");
  EXPECT_EQ(sparkline({}, 8), "");
}

TEST(HistoryTable, NamesTheRunSinceWhichACaseIsSlower) {
  auto points = runs(21, 15, 1.4, 1.2);
  for (int day = 1; day <= 21; ++day)
    points.push_back(point(day, 2 + 0.01 * (day * 7 % 5), "suite/Performance.X/calm"));
  const std::string table = history_table(points, "speedup", 120);
  EXPECT_THAT(table, HasSubstr("! 1.402x → 1.202x since run run-2026-01-15"));
  EXPECT_LT(table.find("resnet50"), table.find("calm")) << "what changed comes first";
  EXPECT_THAT(table, HasSubstr("2 series, 1 with a step\n"));
  EXPECT_THAT(history_table(runs(21, 15, 1.2, 1.4), "speedup", 120), HasSubstr("* 1.202x → 1.402x"));
}

TEST(HistoryTable, KeepsMachinesApart) {
  auto points = runs(3, 9, 1.4, 1.4);
  points.push_back(point(4, 9));
  points.back().machine = "Other CPU";
  EXPECT_THAT(history_table(points, "speedup", 120),
              AllOf(HasSubstr("resnet50 @ Some CPU"), HasSubstr("resnet50 @ Other CPU"), HasSubstr("2 series")));
}

TEST(HistoryTable, FitsTheWidth) {
  auto points = runs(20, 15, 1.4, 1.2);
  for (auto& p : points) p.name += "_" + std::string(300, 'x') + "_end";
  for (const size_t width : {60u, 80u, 200u}) {
    const std::string table = history_table(points, "speedup", width);
    for (size_t begin = 0; begin < table.size(); begin = table.find('\n', begin) + 1) {
      EXPECT_LE(columns(first_line(std::string_view(table).substr(begin))), width) << table;
    }
    EXPECT_THAT(table, AllOf(HasSubstr("…"), HasSubstr("_end "))) << "the end of a name tells cases apart";
  }
}

TEST(HistoryTable, SaysWhenNothingHasTheMetric) {
  EXPECT_EQ(history_table(runs(3, 9, 1, 1), "compile_s", 80), "no case has compile_s; there are: speedup\n");
}

}  // namespace
}  // namespace torchstone::judge
