#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/write/formats.h"
#include "tests/unit/reports/sample.h"

namespace torchstone::write {
namespace {

using nlohmann::json;
using testing::Contains;

constexpr const char* resnet50 = "torchbench/Performance.CompiledIsFaster/resnet50_inference_float32_inductor_cpu_full";

/// Returns the records of one case by the names of their metrics.
std::map<std::string, json> records_of(const Report& report, const std::string& name) {
  std::map<std::string, json> records;
  for (const auto& record : json::parse(write_benchmark_database(report))) {
    if (record["benchmark"]["extra_info"]["case"] != name) continue;
    EXPECT_TRUE(records.emplace(record["metric"]["name"], record).second) << record["metric"];
  }
  return records;
}

/// Returns the entries of one of the action's files by their names.
std::map<std::string, json> entries_of(const Report& report, const std::string& file) {
  std::map<std::string, json> entries;
  for (const auto& [name, text] : write_benchmark_action(report)) {
    if (name != file) continue;
    for (const auto& entry : json::parse(text)) EXPECT_TRUE(entries.emplace(entry["name"], entry).second) << entry;
  }
  return entries;
}

TEST(BenchmarkDatabase, HasUpstreamsNamesAndUnits) {
  const auto records = records_of({sample_run(), sample_results()}, resnet50);
  const json& speedup = records.at("speedup");
  EXPECT_EQ(speedup["benchmark"]["name"], "Torchstone");
  EXPECT_EQ(speedup["benchmark"]["mode"], "inference");
  EXPECT_EQ(speedup["benchmark"]["dtype"], "float32");
  EXPECT_EQ(speedup["benchmark"]["extra_info"]["device"], "cpu");
  EXPECT_EQ(speedup["benchmark"]["extra_info"]["torch"], "2.13.0");
  EXPECT_EQ(speedup["model"],
            json::parse(R"({"name":"resnet50","type":"model","backend":"inductor","origins":["torchbench"]})"));
  EXPECT_EQ(
      speedup["metric"],
      json::parse(
          R"({"name":"speedup","benchmark_values":[1.43],"target_value":1.0,"extra_info":{"unit":"x","low":"1.4","high":"1.46"}})"));
  EXPECT_EQ(records.at("abs_latency")["metric"]["benchmark_values"], json::array({12.5}));
  EXPECT_EQ(records.at("abs_latency")["metric"]["extra_info"]["unit"], "ms");
  EXPECT_EQ(records.at("compilation_latency")["metric"]["benchmark_values"], json::array({8.125}));
  EXPECT_DOUBLE_EQ(records.at("dynamo_peak_mem")["metric"]["benchmark_values"][0].get<double>(), 2.8);
  EXPECT_EQ(records.at("dynamo_peak_mem")["metric"]["extra_info"]["unit"], "GB");
  EXPECT_EQ(records.at("eager_ms")["metric"]["extra_info"]["unit"], "ms");
  EXPECT_FALSE(records.contains("compiled_ms")) << "the metric is written as abs_latency";
}

/// The database's column of values holds only numbers, so upstream writes a status into extra_info.
TEST(BenchmarkDatabase, HasTheStatusOfAccuracyAsText) {
  Result wrong = simple_result("a", Status::fail_accuracy);
  wrong.upstream_name = "hf_a";
  const auto records = records_of({{}, {wrong}}, "a");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records.at("accuracy")["metric"],
            json::parse(R"({"name":"accuracy","extra_info":{"benchmark_values":["fail_accuracy"]}})"));
  EXPECT_EQ(records.at("accuracy")["model"]["name"], "hf_a");
}

TEST(BenchmarkDatabase, LeavesOutWhatIsNoNumber) {
  Result failed = simple_result("a", Status::fail_to_compile, "performance"), odd = failed;
  odd.name = "b";
  odd.outcome.metrics = {{"speedup", nan_value}, {"compiled_ms", infinity}, {"eager_ms", 2}};
  const Report report{{}, {failed, odd}};
  EXPECT_TRUE(records_of(report, "a").empty());
  const auto records = records_of(report, "b");
  EXPECT_EQ(records.size(), 1u);
  EXPECT_TRUE(records.contains("eager_ms"));
  EXPECT_EQ(json::parse(write_benchmark_database({})), json::array());
}

/// Every value must be a finite number or, for accuracy, a string. extra_info may hold only strings
/// (Map(String, String)).
TEST(BenchmarkDatabase, FitsTheSchemaOfTheTable) {
  const std::set<std::string> parts{"benchmark", "model", "metric"};
  for (const auto& record : json::parse(write_benchmark_database({sample_run(), sample_results()}))) {
    for (const auto& [key, part] : record.items()) EXPECT_THAT(parts, Contains(key)) << record;
    for (const auto& [key, value] : record["benchmark"]["extra_info"].items()) EXPECT_TRUE(value.is_string()) << key;
    const json& metric = record["metric"];
    if (metric["name"] == "accuracy") continue;
    ASSERT_EQ(metric["benchmark_values"].size(), 1u) << record;
    EXPECT_TRUE(metric["benchmark_values"][0].is_number()) << record;
  }
}

TEST(BenchmarkAction, PutsEachMetricIntoTheFileOfItsDirection) {
  const Report report{sample_run(), sample_results()};
  const auto bigger = entries_of(report, "bigger_is_better.json"),
             smaller = entries_of(report, "smaller_is_better.json");
  const std::string name = resnet50;
  EXPECT_EQ(bigger.at(name + " speedup"), json({{"name", name + " speedup"},
                                                {"unit", "x"},
                                                {"value", 1.43},
                                                {"range", "[1.400x, 1.460x]"},
                                                {"extra", "pass"}}));
  EXPECT_EQ(smaller.at(name + " compiled_ms"),
            json({{"name", name + " compiled_ms"}, {"unit", "ms"}, {"value", 12.5}, {"extra", "pass"}}));
  EXPECT_EQ(smaller.at(name + " compiled_peak_bytes")["unit"], "B");
  EXPECT_FALSE(smaller.contains(name + " speedup"));
  EXPECT_FALSE(smaller.contains(name + " rounds")) << "no comparison judges it";
  EXPECT_FALSE(bigger.contains(name + " speedup_low")) << "it is a range";
}

TEST(BenchmarkAction, HasAUnitForCountsAndTheReasonOfNoise) {
  Result r = simple_result("a", Status::pass, "performance");
  r.outcome.metrics = {{"speedup", 1.2}, {"graph_breaks", 3}};
  r.outcome.why_noisy = "the machine was busy";
  const Report report{{}, {r}};
  EXPECT_EQ(entries_of(report, "smaller_is_better.json").at("a graph_breaks")["unit"], "count");
  EXPECT_EQ(entries_of(report, "bigger_is_better.json").at("a speedup")["extra"], "pass\nnoisy: the machine was busy");
}

TEST(Dashboards, LeaveOutANumberWhoseIntervalSaysNothing) {
  Result r = simple_result("a", Status::pass, "performance");
  r.outcome.metrics = {{"speedup", 5.12}, {"speedup_low", 0.01}, {"speedup_high", 8046}, {"compiled_ms", 3}};
  Result known = r;
  known.name = "b";
  known.outcome.metrics["speedup_low"] = 5, known.outcome.metrics["speedup_high"] = 5.2;
  const Report report{{}, {r, known}};
  EXPECT_FALSE(entries_of(report, "bigger_is_better.json").contains("a speedup"));
  EXPECT_TRUE(entries_of(report, "bigger_is_better.json").contains("b speedup"));
  EXPECT_TRUE(entries_of(report, "smaller_is_better.json").contains("a compiled_ms"));
  EXPECT_FALSE(records_of(report, "a").contains("speedup"));
  EXPECT_TRUE(records_of(report, "a").contains("abs_latency"));
}

/// The action fails on an empty list.
TEST(BenchmarkAction, HasAnEmptyTextWithoutANumber) {
  Result r = simple_result("a", Status::crash, "performance");
  const auto texts = [&] {
    std::map<std::string, std::string> of_names;
    for (const auto& [name, text] : write_benchmark_action({{}, {r}})) of_names[name] = text;
    return of_names;
  };
  EXPECT_THAT(texts(), testing::Each(testing::Pair(testing::_, "")));
  r.outcome.metrics = {{"speedup", -infinity}, {"compiled_ms", 3}};
  EXPECT_NE(texts().at("smaller_is_better.json"), "");
  EXPECT_EQ(texts().at("bigger_is_better.json"), "");
}

}  // namespace
}  // namespace torchstone::write
