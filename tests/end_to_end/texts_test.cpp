// Reports that torchstone-report makes from results of the real program, apart from the HTML page: Markdown,
// OpenMetrics, dashboards, annotations, CSV, history.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const char* const uninformative = "faults/Accuracy.CompiledMatchesEager/zero_output_inference_float32_torchscript_cpu";

ProgramRun report(std::vector<std::string> arguments, const std::map<std::string, std::string>& environment = {}) {
  arguments.insert(arguments.begin(), TORCHSTONE_REPORT);
  return run_program(arguments, environment);
}

/// Results of ten quick cases of different kinds: three pass, seven do not.
struct TenCases : Torchstone {
  TenCases() {
    std::string filter;
    for (const std::string model : {"healthy", "two_outputs", "elementwise", "zero_output", "throws", "segfaults",
                                    "branches", "untraceable", "not_repeatable", "not_loadable"})
      filter += "*/" + model + "_inference_*_torchscript_*:";
    run_faults(filter, {"--torchstone_github=always"});
  }
};

/// All tests read the results of the same run.
struct Texts : testing::Test {
  const Torchstone& torchstone = ran();
  static const Torchstone& ran() {
    static const TenCases once;
    return once;
  }

  /// Writes results in which every case occurs `copies` times, under different names.
  fs::path multiplied(int copies) const {
    auto json = torchstone.results();
    const auto results = json.at("results");
    for (int i = 1; i < copies; ++i)
      for (auto result : results) {
        result["name"] = result.at("name").get<std::string>() + "_" + std::to_string(i);
        json["results"].push_back(result);
      }
    fs::create_directories(torchstone.out() + "/many");
    std::ofstream(torchstone.out() + "/many/results.json") << json.dump();
    return torchstone.out() + "/many";
  }
};

TEST_F(Texts, MarkdownHasTheVerdictThenTheFailuresThenTheRest) {
  const ProgramRun run = report({"markdown", torchstone.out()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("<!-- torchstone -->\n### ❌ Torchstone: 3 of 10 cases as expected\n"));
  const size_t failures = run.out.find("\n#### 7 not as expected\n"),
               tables = run.out.find("<details><summary>faults: 10");
  ASSERT_NE(tables, std::string::npos) << run.out;
  EXPECT_LT(failures, tables);
  EXPECT_THAT(run.out, AllOf(HasSubstr(std::string("❌ `") + uninformative + "` **uninformative**"),
                             HasSubstr("--gtest_filter=")));
  EXPECT_EQ(std::ranges::count(run.out, '\n') > 40, true);
}

TEST_F(Texts, MarkdownCountsWhatItCutsOff) {
  const ProgramRun all = report({"markdown", torchstone.out()});
  EXPECT_THAT(all.out, Not(HasSubstr("cut off here")));
  const std::string file = torchstone.out() + "/many/summary.md";
  ASSERT_EQ(report({"markdown", multiplied(100).string(), "-o", file}).exit_code, 0);
  const std::string text = read_file(file);
  EXPECT_THAT(text, HasSubstr("Torchstone: 300 of 1000 cases as expected"));
  EXPECT_GT(text.size(), 150'000u);
  EXPECT_LE(text.size(), 200'000u);
  EXPECT_THAT(text, testing::ContainsRegex("_… [0-9]+ of 700 failures are cut off here; all are in results.json_"));
  const ProgramRun small = report({"markdown", torchstone.out(), "--limit", "3000"});
  EXPECT_LE(small.out.size(), 3000u);
  EXPECT_THAT(small.out, testing::ContainsRegex("_… [0-9]+ of 7 failures are cut off here"));
}

TEST_F(Texts, OpenMetricsIsReadByTheReferenceParser) {
  const std::string file = torchstone.out() + "/metrics.txt";
  ASSERT_EQ(report({"openmetrics", torchstone.out(), "-o", file}).exit_code, 0);
  const std::string text = read_file(file);
  EXPECT_THAT(text, testing::EndsWith("\n# EOF\n"));
  EXPECT_THAT(text, HasSubstr("\ntorchstone_cases{status=\"pass\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(std::string("\ntorchstone_case_as_expected{case=\"") + uninformative + "\""));
  // Unit tests check the grammar of each line. This parser also requires complete metric families and known types.
  const std::string reader =
      "import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families as f; "
      "print({m.name: len(m.samples) for m in f(open(sys.argv[1], newline='').read())})";
  if (std::string(TORCHSTONE_PYTHON).empty() ||
      run_program({TORCHSTONE_PYTHON, "-c", "import prometheus_client"}).exit_code != 0)
    GTEST_SKIP() << "the Python package prometheus_client is not installed";
  const ProgramRun read = run_program({TORCHSTONE_PYTHON, "-c", reader, file});
  EXPECT_EQ(read.exit_code, 0) << read.err;
  EXPECT_THAT(read.out,
              AllOf(HasSubstr("'torchstone_case_as_expected': 10"), HasSubstr("'torchstone_compile_seconds': ")));
}

TEST_F(Texts, ForDashboardsHaveTheNumbersOfEveryCaseThatHasSome) {
  const std::string database = torchstone.out() + "/database.json", action = torchstone.out() + "/action";
  ASSERT_EQ(report({"benchmark_database", torchstone.out(), "-o", database}).exit_code, 0);
  const auto records = nlohmann::json::parse(read_file(database));
  EXPECT_EQ(std::ranges::count_if(records, [](const auto& r) { return r["metric"]["name"] == "accuracy"; }), 10);
  for (const auto& record : records) EXPECT_EQ(record["model"]["origins"], nlohmann::json::array({"faults"})) << record;
  const ProgramRun run = report({"benchmark_action", torchstone.out(), "-o", action});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(action + "/smaller_is_better.json\n"));
  const auto entries = nlohmann::json::parse(read_file(action + "/smaller_is_better.json"));
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) EXPECT_TRUE(entry["value"].is_number()) << entry;
}

TEST_F(Texts, AnnotationsAreAtMostEightAndACount) {
  const ProgramRun few = report({"github", torchstone.out()}), many = report({"github", multiplied(3).string()});
  EXPECT_EQ(std::ranges::count(few.out, '\n'), 7) << few.out;
  EXPECT_EQ(std::ranges::count(many.out, '\n'), 9) << many.out;
  EXPECT_THAT(many.out, testing::EndsWith("::error title=Torchstone::and 13 more cases not as expected\n"));
  const std::regex annotation(
      "::error file=tests/faults/faults\\.yaml,line=[0-9]+,title=[^:,]+::[^\n]+%0Aagain: [^\n]+");
  const ProgramRun here = report({"github", torchstone.out()}, {{"GITHUB_WORKSPACE", TORCHSTONE_SOURCE_DIR}});
  const std::string first = here.out.substr(0, here.out.find('\n'));
  EXPECT_TRUE(std::regex_match(first, annotation)) << first;
}

TEST(Annotations, AreInTheLogOfARunWhereTheyAreWanted) {
  const Torchstone torchstone;
  const auto run = [&](const std::string& when, const std::map<std::string, std::string>& environment) {
    return run_program(torchstone.faults_command("*zero_output*_torchscript_*", {"--torchstone_github=" + when}),
                       environment);
  };
  EXPECT_THAT(run("always", {{"GITHUB_ACTIONS", ""}}).out, HasSubstr("\n::error file="));
  EXPECT_THAT(run("auto", {{"GITHUB_ACTIONS", "true"}}).out, HasSubstr("\n::error file="));
  EXPECT_THAT(run("auto", {{"GITHUB_ACTIONS", ""}}).out, Not(HasSubstr("::error ")));
  EXPECT_THAT(run("never", {{"GITHUB_ACTIONS", "true"}}).out, Not(HasSubstr("::error ")));
}

TEST_F(Texts, CsvIsWhatTheRunWroteItself) {
  const std::string folder = torchstone.out() + "/again";
  ASSERT_EQ(report({"csv", torchstone.out(), "-o", folder}).exit_code, 0);
  const std::string wide = read_file(torchstone.out() + "/results.csv"),
                    upstream = "/csv/torchscript_faults_float32_inference_cpu_accuracy.csv";
  EXPECT_EQ(read_file(folder + "/results.csv"), wide);
  EXPECT_EQ(read_file(folder + upstream), read_file(torchstone.out() + upstream));
  EXPECT_THAT(read_file(folder + upstream), StartsWith("dev,name,batch_size,accuracy"));
  const ProgramRun to_output = report({"csv", torchstone.out()});
  EXPECT_EQ(to_output.out, wide);
  EXPECT_EQ(std::ranges::count(wide, '\n'), 11);
}

/// Writes twenty runs with the recorded results and a speed-up of about 1.5. From the 13th run on, it is about 1.0.
std::vector<std::string> twenty_runs(const Torchstone& torchstone) {
  std::vector<std::string> folders;
  for (int i = 0; i < 20; ++i) {
    auto json = torchstone.results();
    json["run"]["id"] = "run" + std::to_string(100 + i);
    json["run"]["started"] = "2026-01-" + std::to_string(10 + i) + "T12:00:00.000Z";
    for (auto& result : json["results"])
      result["outcome"]["metrics"]["speedup"] = (i < 12 ? 1.5 : 1.0) + 0.001 * ((i * 7) % 5);
    folders.push_back(torchstone.out() + "/run" + std::to_string(i));
    fs::create_directories(folders.back());
    std::ofstream(folders.back() + "/results.json") << json.dump();
  }
  return folders;
}

TEST_F(Texts, HistoryFindsTheRunThatBroughtAStep) {
  const auto folders = twenty_runs(torchstone);
  const std::string file = torchstone.out() + "/history.jsonl";
  std::vector<std::string> arguments = {"history"};
  arguments.insert(arguments.end(), folders.begin(), folders.begin() + 10);
  arguments.insert(arguments.end(), {"-o", file});
  const ProgramRun before = report(arguments);
  ASSERT_EQ(before.exit_code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("10 series, 0 with a step\n"));
  arguments.insert(arguments.begin() + 1, folders.begin() + 5, folders.end());  // five of these are already in the file
  const ProgramRun after = report(arguments);
  EXPECT_THAT(after.out, AllOf(HasSubstr("10 series, 10 with a step\n"),
                               testing::ContainsRegex("! 1\\.50.*x → 1\\.00.*x since run run112")));
  const std::string history = read_file(file);
  EXPECT_EQ(std::ranges::count(history, '\n'), 200) << "one line for each run and case, without duplicates";
  const std::string page = torchstone.out() + "/trend.html";
  ASSERT_EQ(report({"html", folders.back(), "--history", file, "-o", page}).exit_code, 0);
  EXPECT_THAT(read_file(page), HasSubstr("× since the run of 2026-01-22T12:00:00.000Z"));
}

TEST_F(Texts, HistoryRefusesAMetricThatThereIsNot) {
  const std::string file = torchstone.out() + "/refused.jsonl";
  const ProgramRun run = report({"history", torchstone.out(), "--metric", "spedup", "-o", file});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, AllOf(HasSubstr("--metric spedup: expected one of "), HasSubstr("did you mean speedup?")));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(report({"history", torchstone.out(), "--metric", "artifact_bytes"}).exit_code, 0);
}

TEST(ARepeatedRun, KeepsTheFailureOfOneRepetition) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*Accuracy*/healthy_inference_*_torchscript_*", {"--gtest_repeat=2"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  auto json = torchstone.results();
  ASSERT_EQ(json.at("results").size(), 2u) << "the same case twice";
  EXPECT_THAT(report({"summary", torchstone.out()}).out, HasSubstr("2 of 2 cases as expected"));
  json["results"][0]["outcome"]["status"] = "fail_accuracy";
  const std::string file = torchstone.out() + "/rep.json", merged = torchstone.out() + "/merged";
  std::ofstream(file) << json.dump();
  EXPECT_EQ(report({"gate", "accuracy", "-f", file}).exit_code, 1);
  EXPECT_THAT(report({"summary", file}).out, HasSubstr("1 of 2 cases as expected"));
  EXPECT_THAT(report({"junit", file}).out, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_EQ(report({"merge", file, "-o", merged}).exit_code, 0);
  EXPECT_EQ(report({"gate", "accuracy", "-f", merged}).exit_code, 1);
}

TEST(AReport, OfNothingIsNoReport) {
  const Torchstone torchstone;
  for (const char* command : {"markdown", "openmetrics", "github", "csv", "history", "html"}) {
    const ProgramRun empty = report({command, torchstone.out()}),
                     absent = report({command, torchstone.out() + "/absent"});
    EXPECT_EQ(empty.exit_code, 3) << command << empty.out;
    EXPECT_THAT(empty.err, HasSubstr("no ")) << command;
    EXPECT_EQ(absent.exit_code, 2) << command << absent.out;
    EXPECT_THAT(absent.err, HasSubstr(torchstone.out() + "/absent: expected a results folder")) << command;
  }
}

}  // namespace
}  // namespace torchstone
