#include "reports/record/report_json.h"

#include <cstdlib>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/reports/sample.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

std::string json_error(const std::string& text) {
  try {
    parse_json(text, "results.json");
  } catch (const ReportError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Json, WritingWhatWasReadChangesNothing) {
  const std::string text = write_json(sample_results(), sample_run());
  const Report report = parse_json(text, "results.json");
  EXPECT_EQ(report.results.size(), sample_results().size());
  EXPECT_EQ(write_json(report.results, report.run), text);
}

TEST(Json, WritesOneResultALine) {
  const std::string text = write_json({simple_result("a", Status::pass), simple_result("b", Status::pass)}, {});
  EXPECT_THAT(text, HasSubstr("\"results\": [\n{"));
  EXPECT_THAT(text, HasSubstr("},\n{"));
}

TEST(Json, ErrorsNameFileAndPlaceAndWhatWasExpected) {
  EXPECT_THAT(json_error("{\n\"schema\": }"),
              testing::AllOf(testing::StartsWith("results.json: "), HasSubstr("line 2, column 11")));
  EXPECT_THAT(json_error(""), HasSubstr("results.json: not JSON"));
  EXPECT_EQ(json_error("[]"), "results.json: the document: expected an object, found array");
  EXPECT_EQ(json_error("{}"), "results.json: schema: expected a string, found nothing");
  EXPECT_EQ(
      json_error(R"({"schema": "torchstone/result/3"})"),
      "results.json: schema: expected \"torchstone/result/2\", found \"torchstone/result/3\", of a newer version of "
      "Torchstone");
  EXPECT_EQ(json_error(R"({"schema": "torchstone/result/0"})"),
            "results.json: schema: expected \"torchstone/result/2\", found \"torchstone/result/0\"");
  EXPECT_EQ(json_error(R"({"schema": "torchstone/result/x2"})"),
            "results.json: schema: expected \"torchstone/result/2\", found \"torchstone/result/x2\"");
  EXPECT_EQ(json_error(R"({"schema": "torchstone/result/1"})"), "results.json: run: expected an object, found nothing");
  EXPECT_EQ(json_error(R"({"schema": "torchstone/result/1", "run": {}})"), "results.json: results: expected an array");
  EXPECT_EQ(json_error(R"({"schema": "torchstone/result/1", "run": {"argv": [1]}})"),
            "results.json: run.argv[0]: expected a string, found 1");
  EXPECT_EQ(
      json_error(
          R"({"schema": "torchstone/result/1", "run": {}, "results": [{"name": "a", "outcome": {"status": 1}}]})"),
      "results.json: results[0].outcome.status: expected a string, found 1");
}

TEST(Json, TakesWhatAnEarlierReleaseLeftOutForEmpty) {
  const Report report = parse_json(R"({"schema": "torchstone/result/1", "run": {},
                     "results": [{"name": "a", "outcome": {"status": "pass"}}]})",
                                   "results.json");
  ASSERT_EQ(report.results.size(), 1u);
  EXPECT_EQ(report.results[0].name, "a");
  EXPECT_EQ(report.results[0].expected, "pass");
  EXPECT_TRUE(report.results[0].finished);
  EXPECT_TRUE(report.results[0].as_expected());
  EXPECT_EQ(report.run.tag, "");
}

TEST(Json, PassesOverWhatALaterReleaseAdds) {
  const Report report = parse_json(
      R"({"schema": "torchstone/result/1", "later": {"a": [1]}, "run": {"later": true, "tag": "nightly"},
          "results": [{"name": "a", "later": null, "outcome":
            {"status": "pass", "later": "x", "metrics": {"later_ms": 2.5}, "notes": {"later": "n"}}}]})",
      "results.json");
  EXPECT_EQ(report.run.tag, "nightly");
  EXPECT_EQ(report.results.at(0).outcome.metrics.at("later_ms"), 2.5);
  EXPECT_THAT(write_json(report.results, report.run),
              testing::AllOf(HasSubstr("later_ms"), HasSubstr(R"("later":"n")"), HasSubstr(R"("tag":"nightly")")));
  EXPECT_THAT(json_error(R"({"schema": "torchstone/result/1", "run": {},
                           "results": [{"name": "a", "outcome": {"status": "pass_later"}}]})"),
              HasSubstr("results[0].outcome.status: expected a known status, found \"pass_later\""));
}

/// Returns the results of a file of this version whose only case has these notes and this status.
std::vector<Result> noted(int version, const std::string& notes, const std::string& status = "pass") {
  return parse_json(fmt::format(R"({{"schema": "torchstone/result/{}", "run": {{}}, "results": [
                                   {{"name": "a", "outcome": {{"status": "{}", "notes": {}}}}}]}})",
                                version, status, notes),
                    "results.json")
      .results;
}

TEST(Json, MovesTheNotesOfVersion1ToTheirMembers) {
  const Result r = noted(1, R"({"infrastructure": "no compiler", "upstream_name": "deit", "tolerance": "1e-4",
                                "dynamic_timed": "batch 2 and length 4; batch 4 and length 8",
                                "noisy": "The threads lay in two caches."})")
                       .at(0);
  EXPECT_EQ(r.outcome.infrastructure_fault, "no compiler");
  EXPECT_EQ(r.upstream_name, "deit");
  EXPECT_THAT(r.outcome.timed_sizes, testing::ElementsAre("batch 2 and length 4", "batch 4 and length 8"));
  EXPECT_TRUE(r.outcome.threads_across_caches);
  EXPECT_EQ(r.outcome.why_noisy, "The threads lay in two caches.");
  EXPECT_THAT(r.outcome.notes, testing::ElementsAre(testing::Pair("tolerance", "1e-4")));
  EXPECT_FALSE(r.as_expected());
}

TEST(Json, ReadsTheNamesOfVersion1) {
  const Result r = parse_json(R"({"schema": "torchstone/result/1", "run": {}, "results": [
                                  {"name": "a", "expected": "vacuous", "outcome": {"status": "undelegated",
                                   "metrics": {"compiled_beside": 2, "speedup_apart": 1.5, "processes_apart": 3}}}]})",
                              "results.json")
                       .results.at(0);
  EXPECT_EQ(r.outcome.status, Status::not_compiled);
  EXPECT_EQ(r.expected, "uninformative");
  EXPECT_THAT(r.outcome.metrics, testing::UnorderedElementsAre(testing::Pair("concurrent_compiles", 2),
                                                               testing::Pair("speedup_across_caches", 1.5),
                                                               testing::Pair("processes_across_caches", 3)));
}

TEST(Json, ReadsTheBaselinesVerdictFromTheNotesOfVersion1) {
  const auto finding = [](const char* notes, const char* status) { return noted(1, notes, status).at(0).baseline; };
  const auto worse = finding(R"({"worse_than_baseline": "slower"})", "pass");
  EXPECT_EQ(worse.change, BaselineChange::worse);
  EXPECT_EQ(worse.reason, "slower");
  EXPECT_EQ(finding(R"({"worse_than_baseline": "left out"})", "unsupported").change, BaselineChange::gone);
  EXPECT_EQ(finding(R"({"different_model": "other weights"})", "pass").change, BaselineChange::different_model);
  EXPECT_EQ(finding("{}", "pass").change, BaselineChange::none);
}

TEST(Json, DecidesNothingByTheNotesOfVersion2) {
  const Result r = noted(2, R"({"infrastructure": "of a plug-in", "worse_than_baseline": "so it says"})").at(0);
  EXPECT_TRUE(r.as_expected());
  EXPECT_EQ(r.outcome.notes.size(), 2u);
}

TEST(CaseJson, OfVersion1IsReadToo) {
  const Result r = parse_case_json(R"({"schema": "torchstone/case/1", "result": {"name": "a", "outcome":
                                       {"status": "pass", "notes": {"infrastructure": "no compiler"}}}})",
                                   "a.json");
  EXPECT_EQ(r.outcome.infrastructure_fault, "no compiler");
}

TEST(Json, CutOffAnywhereIsAnErrorAndNeverHalfAReport) {
  std::string text = write_json({simple_result("a", Status::pass), simple_result("b", Status::crash)}, sample_run());
  text.resize(text.find_last_not_of('\n') + 1);  // so that a missing last byte is an error
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_THAT(json_error(text.substr(0, size)), HasSubstr("results.json: not JSON: ")) << size;
  EXPECT_EQ(json_error(text), "nothing");
}

TEST(Json, SurvivesNumbersAndDepthsThatNoProgramWrites) {
  EXPECT_THAT(json_error("[1e999]"), HasSubstr("results.json: not JSON"));
  const std::string deep(200000, '[');
  EXPECT_EQ(json_error(deep), "results.json: nested too deeply (expected at most 64)");
  EXPECT_EQ(json_error(R"({"schema": )" + deep + std::string(deep.size(), ']') + "}"),
            "results.json: nested too deeply (expected at most 64)");
  EXPECT_EQ(json_error(R"({"schema": [[[]]]})"), "results.json: schema: expected a string, found array");
}

TEST(CaseJson, IsItsOwnSchema) {
  const Result result = simple_result("a", Status::pass);
  EXPECT_EQ(parse_case_json(write_case_json(result), "a.json").name, "a");
  EXPECT_THROW(parse_case_json(write_json({result}, {}), "a.json"), ReportError);
  EXPECT_THROW(parse_case_json(R"({"schema": "torchstone/case/1"})", "a.json"), ReportError);
}

int fuzz_inputs() {
  const char* text = std::getenv("TORCHSTONE_FUZZ_INPUTS");
  return text == nullptr ? 300 : std::atoi(text);
}

/// Changes, removes, doubles or inserts bytes at a few places.
std::string mutated(std::string text, std::mt19937& random) {
  static const std::string tokens = "{}[]\",:0123456789-eE.tfn\\\n\x00\xff";
  const auto below = [&](size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random); };
  for (size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0:
        text[at] = tokens[below(tokens.size())];
        break;
      case 1:
        text.erase(at, 1 + below(20));
        break;
      case 2:
        text.insert(at, text.substr(at, 1 + below(40)));
        break;
      default:
        text.insert(at, 1, tokens[below(tokens.size())]);
    }
  }
  return text;
}

TEST(JsonFuzz, EveryInputIsReadOrRefusedWithTheFilesName) {
  const std::string whole = write_json({sample_results()[2], sample_results()[22], sample_results()[28]}, sample_run());
  std::mt19937 random(1337);
  int refused = 0;
  for (int i = 0; i < fuzz_inputs(); ++i) {
    const std::string text = mutated(whole, random);
    const std::string error = json_error(text);
    if (error == "nothing") continue;
    ++refused;
    ASSERT_TRUE(error.starts_with("results.json: ")) << error;
  }
  EXPECT_GT(refused, fuzz_inputs() / 10);
}

}  // namespace
}  // namespace torchstone
