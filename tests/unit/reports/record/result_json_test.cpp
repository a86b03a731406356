#include "reports/record/result_json.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "reports/record/verdict.h"
#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(ModelDigests, TravelInJson) {
  Result result = simple_result("suite/case", Status::pass);
  EXPECT_FALSE(nlohmann::json(result).at("outcome").contains("weights_digest")) << "as a version without digests";
  result.outcome.model = {"0123", "abcd"};
  const nlohmann::json json = result;
  EXPECT_EQ(json.at("outcome").at("program_digest"), "0123");
  const auto read = json.get<Result>();
  EXPECT_EQ(read.outcome.model.program, "0123");
  EXPECT_EQ(read.outcome.model.weights, "abcd");
}

TEST(CompileText, SaysWhatElseWentOn) {
  Result result = simple_result("suite/case", Status::pass);
  EXPECT_EQ(compile_text(result), "");
  result.outcome.metrics = {{"compile_s", 8.1}};
  EXPECT_EQ(compile_text(result), "8.1 s");
  result.outcome.metrics["concurrent_compiles"] = 0;
  EXPECT_EQ(compile_text(result), "8.1 s");
  result.outcome.metrics["concurrent_compiles"] = 2;
  EXPECT_EQ(compile_text(result), "8.1 s (2 concurrent)");
  EXPECT_EQ(numbers_line(result), "compile 8.1 s (2 concurrent)");
  result.outcome.metrics["compile_cpu_s"] = 3.4;
  EXPECT_EQ(compile_text(result), "8.1 s (CPU 3.4 s, 2 concurrent)");
  result.outcome.metrics["concurrent_compiles"] = 0;
  EXPECT_EQ(compile_text(result), "8.1 s") << "the time of this compile";
  result.outcome.metrics["cache_hit"] = 1;
  EXPECT_EQ(compile_text(result), "8.1 s (warm)");
  result.outcome.metrics["artifact_bytes"] = 9e6;
  EXPECT_EQ(compile_text(result), "8.1 s") << "the time of the compile that made the artifact";
}

TEST(CompileText, HasTheMediansOfMeasuredCompilesWithTheirIntervals) {
  Result result = simple_result("suite/case", Status::pass, "compile_time");
  result.outcome.metrics = {{"cold_compile_s", 8.1}, {"warm_compile_s", 2.1}};
  EXPECT_EQ(compile_text(result), "8.10 s, warm 2.10 s");
  result.outcome.metrics.insert({{"cold_compile_cpu_s", 13.4},
                                 {"cold_compile_cpu_s_low", 13.2},
                                 {"cold_compile_cpu_s_high", 13.71},
                                 {"warm_compile_cpu_s", 1.9}});
  EXPECT_EQ(compile_text(result), "8.10 s (CPU 13.40 s [13.20 13.71]), warm 2.10 s (CPU 1.90 s)");
  EXPECT_EQ(numbers_line(result), "compile " + compile_text(result));
}

void expect_same(double a, double b, const std::string& what) {
  EXPECT_TRUE((std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b)))
      << what << ": " << a << " " << b;
}

void expect_same(const Result& a, const Result& b) {
  for (const auto& field : text_fields()) EXPECT_EQ(a.*field.member, b.*field.member) << field.key;
  EXPECT_EQ(a.batch_size, b.batch_size);
  EXPECT_EQ(a.line, b.line);
  EXPECT_EQ(a.finished, b.finished);
  expect_same(a.duration_s, b.duration_s, "duration_s");
  EXPECT_EQ(a.outcome.status, b.outcome.status);
  EXPECT_EQ(a.outcome.reason, b.outcome.reason);
  EXPECT_EQ(a.outcome.detail, b.outcome.detail);
  EXPECT_EQ(a.outcome.phase, b.outcome.phase);
  EXPECT_EQ(a.outcome.notes, b.outcome.notes);
  EXPECT_EQ(a.outcome.infrastructure_fault, b.outcome.infrastructure_fault);
  EXPECT_EQ(a.outcome.threads_across_caches, b.outcome.threads_across_caches);
  EXPECT_EQ(a.outcome.memory_ran_out, b.outcome.memory_ran_out);
  EXPECT_EQ(a.outcome.timed_sizes, b.outcome.timed_sizes);
  ASSERT_EQ(a.outcome.failed_entrants.size(), b.outcome.failed_entrants.size());
  for (const auto& [label, failed] : a.outcome.failed_entrants) {
    EXPECT_EQ(failed.status, b.outcome.failed_entrants.at(label).status) << label;
    EXPECT_EQ(failed.reason, b.outcome.failed_entrants.at(label).reason) << label;
  }
  ASSERT_EQ(a.outcome.dynamo.has_value(), b.outcome.dynamo.has_value());
  if (a.outcome.dynamo) {
    ASSERT_EQ(a.outcome.dynamo->graph_breaks.size(), b.outcome.dynamo->graph_breaks.size());
    for (size_t i = 0; i < a.outcome.dynamo->graph_breaks.size(); ++i) {
      const GraphBreak &one = a.outcome.dynamo->graph_breaks[i], &other = b.outcome.dynamo->graph_breaks[i];
      EXPECT_EQ(one.reason, other.reason);
      EXPECT_EQ(one.user_stack, other.user_stack);
      EXPECT_EQ(one.count, other.count);
    }
    EXPECT_EQ(a.outcome.dynamo->phases_s, b.outcome.dynamo->phases_s);
    EXPECT_EQ(a.outcome.dynamo->frames, b.outcome.dynamo->frames);
  }
  EXPECT_EQ(a.upstream_name, b.upstream_name);
  EXPECT_EQ(a.baseline.change, b.baseline.change);
  EXPECT_EQ(a.baseline.reason, b.baseline.reason);
  ASSERT_EQ(a.outcome.metrics.size(), b.outcome.metrics.size());
  for (const auto& [key, value] : a.outcome.metrics) expect_same(value, b.outcome.metrics.at(key), key);
  ASSERT_EQ(a.outcome.samples.size(), b.outcome.samples.size());
  for (const auto& [key, values] : a.outcome.samples) {
    const auto& others = b.outcome.samples.at(key);
    ASSERT_EQ(values.size(), others.size()) << key;
    for (size_t i = 0; i < values.size(); ++i) expect_same(values[i], others[i], key);
  }
}

Result awkward_result() {
  Result r = simple_result("suite/A.B/c", Status::fail_accuracy);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  r.batch_size = std::numeric_limits<int64_t>::max();
  r.duration_s = 0.1 + 0.2;
  r.finished = false;
  r.expected = "uninformative";
  r.outcome.reason = std::string(10000, 'x') + "\x01\x1b\r\n\t";
  r.outcome.detail = "größe 模型 <>&\"'";
  r.outcome.metrics = {{"speedup", nan}, {"eager_ms", -infinity}, {"compiled_ms", 1.0 / 3}, {"undeclared", 5e-324},
                       {"accuracy", 1},  {"note_x", 2},           {"rounds", -0.0}};
  r.outcome.notes = {{"tolerance", "1e-4"}, {"", ""}, {"samples_x", "y"}};
  r.outcome.samples = {{"eager_s", {0.1, nan, infinity, -infinity, 1e-17}}, {"none", {}}};
  r.outcome.infrastructure_fault = "no \"compiler\"";
  r.outcome.threads_across_caches = true;
  r.outcome.memory_ran_out = true;
  r.outcome.timed_sizes = {"batch 2; length 4", ""};
  r.outcome.failed_entrants = {{"inductor_freezing", {Status::fail_accuracy, "it is \"wrong\""}}, {"xla", {}}};
  r.outcome.dynamo =
      DynamoFacts{{{"print\n, with \"quotes\"", {"<FrameSummary file a, line 1 in f>", ""}, 3}, {"item", {}, 1}},
                  {{"_compile.compile_inner", 0.1}},
                  {{{"co_name", "forward"}, {"guard_count", "7"}}, {}}};
  r.upstream_name = "deit_tiny.fb_in1k";
  r.baseline = {BaselineChange::gone, "pass → unsupported"};
  return r;
}

TEST(ResultJson, LosesNothing) {
  const Result r = awkward_result();
  expect_same(r, nlohmann::json::parse(nlohmann::json(r).dump()).get<Result>());
}

TEST(ResultJson, HasNoMemberForWhatDidNotHappen) {
  const nlohmann::json json = simple_result("a", Status::pass);
  for (const char* member : {"upstream_name", "baseline"}) EXPECT_FALSE(json.contains(member)) << member;
  for (const char* member :
       {"infrastructure_fault", "threads_across_caches", "memory_ran_out", "timed_sizes", "failed_entrants", "dynamo"})
    EXPECT_FALSE(json.at("outcome").contains(member)) << member;
}

TEST(ResultJson, KeepsEachChangeSinceTheBaseline) {
  Result r = simple_result("a", Status::pass);
  for (const auto& [change, word] : {std::pair{BaselineChange::worse, "worse"},
                                     {BaselineChange::gone, "gone"},
                                     {BaselineChange::different_model, "different_model"},
                                     {BaselineChange::changed, "changed"}}) {
    r.baseline = {change, "why"};
    const nlohmann::json json = r;
    EXPECT_EQ(json.at("baseline").at("change"), word);
    EXPECT_EQ(json.get<Result>().baseline.change, change);
  }
}

TEST(ResultJson, MakesForeignBytesVisible) {
  Result r = simple_result("a", Status::pass);
  r.outcome.reason = "\xff!";
  EXPECT_EQ(nlohmann::json::parse(nlohmann::json(r).dump()).get<Result>().outcome.reason, "\\xff!");
}

TEST(ResultJson, NamesWhatIsWrong) {
  const auto message = [](const char* change) -> std::string {
    nlohmann::json json = simple_result("a", Status::pass);
    json.merge_patch(nlohmann::json::parse(change));
    try {
      json.get<Result>();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message("{}"), "nothing");
  EXPECT_EQ(message(R"({"name": null})"), "name: expected a string, found nothing");
  EXPECT_EQ(message(R"({"name": ""})"), "name: expected the name of a case, found \"\"");
  EXPECT_EQ(message(R"({"batch_size": 1e300})"), "batch_size: expected an integer, found 1e+300");
  EXPECT_EQ(message(R"({"batch_size": 18446744073709551615})"),
            "batch_size: expected an integer, found 18446744073709551615");
  EXPECT_EQ(message(R"({"baseline": {"change": "slow", "reason": ""}})"),
            "baseline.change: expected worse, gone, different_model or changed, found \"slow\"");
  EXPECT_EQ(message(R"({"outcome": {"timed_sizes": [1]}})"), "outcome.timed_sizes[0]: expected a string, found 1");
  EXPECT_EQ(message(R"({"outcome": {"dynamo": {"graph_breaks": [{"reason": "a"}, {"reason": 1}]}}})"),
            "outcome.dynamo.graph_breaks[1].reason: expected a string, found 1");
  EXPECT_EQ(message(R"({"outcome": {"dynamo": {"frames": [{"guard_count": 7}]}}})"),
            "outcome.dynamo.frames[0].guard_count: expected a string, found 7");
  EXPECT_EQ(message(R"({"outcome": {"threads_across_caches": 1}})"),
            "outcome.threads_across_caches: expected true or false");
  EXPECT_EQ(message(R"({"line": -1})"), "line: expected a line number, found -1");
  EXPECT_EQ(message(R"({"finished": 1})"), "finished: expected true or false");
  EXPECT_EQ(message(R"({"outcome": null})"), "outcome: expected an object, found nothing");
  EXPECT_EQ(message(R"({"outcome": {"status": "fine"}})"), "outcome.status: expected a known status, found \"fine\"");
  EXPECT_EQ(message(R"({"outcome": {"metrics": {"speedup": "fast"}}})"),
            "outcome.metrics.speedup: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found \"fast\"");
  EXPECT_EQ(message(R"({"outcome": {"samples": {"eager_s": [1, []]}}})"),
            "outcome.samples.eager_s[1]: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found array");
  EXPECT_EQ(message(R"({"outcome": {"notes": {"a": 1}}})"), "outcome.notes.a: expected a string, found 1");
}

TEST(AsExpected, IsTheExpectedStatusOrAPassOrACaseLeftOut) {
  const auto as_expected = [](Status status, const char* expected) {
    Result r = simple_result("a", status);
    r.expected = expected;
    return r.as_expected();
  };
  EXPECT_TRUE(as_expected(Status::pass, "pass"));
  EXPECT_TRUE(as_expected(Status::undecided, "pass"));
  EXPECT_TRUE(as_expected(Status::fail_accuracy, "fail_accuracy"));
  EXPECT_TRUE(as_expected(Status::unsupported, "fail_accuracy"));
  EXPECT_FALSE(as_expected(Status::pass, "fail_accuracy"));
  EXPECT_FALSE(as_expected(Status::crash, "fail_accuracy"));
  EXPECT_FALSE(as_expected(Status::fail_accuracy, "pass"));
}

TEST(ResultJson, OfAnOlderVersionHasOnesOwnModelInTheSuiteOfFiles) {
  Result own = simple_result("own/Accuracy.a", Status::pass), zoo = own;
  own.suite = "own";
  zoo.suite = "torchbench";
  EXPECT_TRUE(nlohmann::json(own).get<Result>().own_model);
  EXPECT_FALSE(nlohmann::json(zoo).get<Result>().own_model);
}

}  // namespace
}  // namespace torchstone
