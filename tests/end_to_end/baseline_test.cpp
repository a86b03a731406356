// Runs that are compared with a baseline, by the flag --torchstone_baseline and by torchstone-report compare.
#include <algorithm>
#include <fstream>
#include <utility>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// One thread, because a run with threads in different cache domains is not compared with one in the same cache domain.
const std::vector<std::string> timed = {"--torchstone_only=lennard_jones", "--torchstone_modes=inference",
                                        "--torchstone_checks=performance", "--torchstone_backends=eager",
                                        "--torchstone_dtypes=float32",     "--torchstone_measure_budget=0.2",
                                        "--torchstone_threads=1",          "--torchstone_tag=today"};

/// A baseline from a real run, which each test changes as it needs.
class Baseline : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const ProgramRun run = first().run(timed);
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  }
  static const Torchstone& first() {
    static const Torchstone run;
    return run;
  }
  template <typename Change>
  std::string changed(Change change) const {
    auto json = first().results();
    change(json);
    std::string path = folder_.out() + "/baseline.json";
    std::ofstream(path) << json.dump();
    return path;
  }
  static ProgramRun compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TORCHSTONE_REPORT, "compare"});
    return run_program(arguments);
  }
  Torchstone folder_;
};

void one_byte_less(nlohmann::json& json) {
  auto& bytes = json.at("results").at(0).at("outcome").at("metrics").at("compiled_peak_bytes");
  bytes = bytes.get<double>() - 1;
}

/// Divides the compiled times of the baseline by four. No noise makes the later run that fast.
void four_times_as_fast(nlohmann::json& json) {
  auto& outcome = json.at("results").at(0).at("outcome");
  for (auto& [key, series] : outcome.at("samples").items())
    if (key.starts_with("compiled"))
      for (auto& seconds : series) seconds = seconds.get<double>() / 4;
  auto& metrics = outcome.at("metrics");
  for (const char* key : {"speedup", "speedup_low", "speedup_high"}) metrics[key] = metrics.at(key).get<double>() * 4;
  metrics["compiled_ms"] = metrics.at("compiled_ms").get<double>() / 4;
}

TEST_F(Baseline, ARunMadeRedByItSaysSoInEveryReport) {
  std::vector<std::string> arguments = timed;
  const std::string baseline = changed(four_times_as_fast);
  for (const auto& argument : {"--torchstone_baseline=" + baseline, std::string("--torchstone_github=always")})
    arguments.push_back(argument);
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const std::string again = "torchstone-report compare " + baseline + " " + now.out();
  EXPECT_THAT(run.out, AllOf(HasSubstr("! SLOWER"), HasSubstr("0 of 1 case as expected"), HasSubstr("exit code 1"),
                             HasSubstr(again), HasSubstr("::error ")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("[  PASSED  ] 0 tests."), HasSubstr("[  FAILED  ] 1 test, listed below:"),
                             HasSubstr("[  FAILED  ] against the baseline: 1 case is worse than the baseline"),
                             HasSubstr("at least "), HasSubstr("times slower")));
  const auto line = run.out.find("Again: ");
  ASSERT_NE(line, std::string::npos) << run.out;
  EXPECT_THAT(run.out.substr(line, run.out.find('\n', line) - line),
              AllOf(HasSubstr("--gtest_filter="), HasSubstr("--torchstone_baseline=" + baseline)));
  const auto json = now.results();
  EXPECT_EQ(json.at("run").at("exit_code"), 1);
  EXPECT_EQ(json.at("run").at("baseline").at("again"), again);
  EXPECT_THAT(json.at("results").at(0).at("baseline").at("reason").get<std::string>(), HasSubstr("speed-up"));
  const auto is_red = AllOf(HasSubstr("1 of 1 case is not as expected"), HasSubstr("exit code 1"), HasSubstr(again),
                            HasSubstr("worse than the baseline"), Not(HasSubstr("exit code 0")));
  EXPECT_THAT(read_file(now.out() + "/report.html"), is_red);
  EXPECT_THAT(read_file(now.out() + "/junit.xml"), HasSubstr("<failure type=\"worse_than_baseline\""));
  EXPECT_THAT(read_file(now.out() + "/summary.txt"), HasSubstr("0 of 1 case as expected"));
  const std::string page = folder_.out() + "/again.html";
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "html", now.out(), "-o", page}).exit_code, 0);
  EXPECT_THAT(read_file(page), is_red);
  EXPECT_THAT(run_program({TORCHSTONE_REPORT, "markdown", now.out()}).out,
              AllOf(HasSubstr("❌"), HasSubstr("1 not as")));
  // When the red run is a baseline itself, only its measurements count, not its verdict against the older baseline.
  EXPECT_EQ(compare({now.out(), now.out()}).exit_code, 0);
  EXPECT_THAT(compare({baseline, now.out()}).out, AllOf(HasSubstr("0 BROKEN, 1 SLOWER")));
}

/// Writes a history in which runs of unchanged code differ by a factor of 1000, so that a factor of 4 is within the
/// noise. Returns its path.
std::string restless_history(const std::string& results, const std::string& file) {
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "history", results, "-o", file}).exit_code, 0);
  auto point = nlohmann::json::parse(read_file(file));
  std::ofstream lines(file);
  for (int i = 0; i < 8; ++i) {
    point["run"] = std::to_string(i), point["started"] = "2026-01-0" + std::to_string(i + 1) + "T00:00:00.000Z";
    point["noisy"] = false;
    for (const char* metric : {"speedup", "eager_ms", "compiled_ms"}) point["metrics"][metric] = i % 2 == 0 ? 1 : 1000;
    lines << point.dump() << "\n";
  }
  return file;
}

TEST_F(Baseline, WithAHistoryIsJudgedByHowFarRunsDiffer) {
  std::vector<std::string> arguments = timed;
  const std::string history = restless_history(first().out(), folder_.out() + "/history.jsonl");
  arguments.push_back("--torchstone_baseline=" + changed(four_times_as_fast));
  arguments.push_back("--torchstone_baseline_history=" + history);
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("0 SLOWER, 1 AMBIGUOUS"), HasSubstr(" --history " + history)));
}

TEST_F(Baseline, AHistoryThatCannotBeReadIsSaidBeforeAnythingRuns) {
  const ProgramRun run =
      folder_.run({"--torchstone_baseline=" + first().out(), "--torchstone_baseline_history=/no/such/history.jsonl"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("/no/such/history.jsonl"));
}

TEST_F(Baseline, OneByteMoreTurnsTheRunRedOnlyWhereThatIsAskedFor) {
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_baseline=" + changed(one_byte_less));
  const ProgramRun green = folder_.run(arguments);
  EXPECT_EQ(green.exit_code, 0) << green.out << green.err;
  EXPECT_THAT(green.out, AllOf(HasSubstr("    + compiled_peak_bytes"), HasSubstr("0 BROKEN, 0 SLOWER")));
  arguments.push_back("--torchstone_baseline_fail_on=slower,more");
  const ProgramRun run = folder_.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("compiled_peak_bytes"), HasSubstr("changed since the baseline: ")));
  EXPECT_THAT(read_file(folder_.out() + "/junit.xml"), HasSubstr("<failure type=\"changed_since_baseline\""));
  EXPECT_THAT(read_file(folder_.out() + "/csv/eager_torchbench_float32_inference_cpu_performance.csv"),
              HasSubstr(",today,"));
}

TEST_F(Baseline, ThatCannotBeReadIsSaidBeforeAnythingRuns) {
  for (const std::string path : {"/no/such/results.json", TORCHSTONE_BINARY}) {
    const ProgramRun run = folder_.run({"--torchstone_baseline=" + path});
    EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr(path));
    EXPECT_THAT(run.out, testing::Not(HasSubstr("RUN")));
  }
}

TEST_F(Baseline, TheToolHasADistinctExitCodeForEachAnswer) {
  const std::string same = first().out();
  EXPECT_EQ(compare({same, same}).exit_code, 0);
  EXPECT_EQ(compare({changed(one_byte_less), same}).exit_code, 0);
  EXPECT_EQ(compare({changed(four_times_as_fast), same}).exit_code, 1);
  EXPECT_EQ(compare({changed(one_byte_less), same, "--fail-on", "slower,more"}).exit_code, 1);
  EXPECT_EQ(compare({changed(one_byte_less), same, "--metrics", "speedup,compiled_ms", "--fail-on", "more"}).exit_code,
            0);
  EXPECT_EQ(compare({same, same, "--metrics", "speed"}).exit_code, 2);
  EXPECT_EQ(compare({same, same + "/none"}).exit_code, 2);
  const std::string gone = changed([](auto& json) { json.at("results").at(0)["name"] = "another/Case.A/b"; });
  EXPECT_EQ(compare({gone, same}).exit_code, 3);
}

TEST_F(Baseline, OfAnotherMachineIsRefusedUnlessAskedFor) {
  const std::string other = changed([](auto& json) { json.at("machine")["cpu"] = "Another CPU"; });
  const ProgramRun refused = compare({other, first().out()});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.out, HasSubstr("Another CPU"));
  EXPECT_THAT(refused.err, HasSubstr("timings not compared: the baseline is of another machine; --other-machine"));
  EXPECT_EQ(compare({"--other-machine", other, first().out()}).exit_code, 0);
  EXPECT_EQ(compare({"--metrics", "compiled_peak_bytes", other, first().out()}).exit_code, 0);
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_baseline=" + other);
  const ProgramRun run = folder_.run(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_EQ(folder_.results().at("run").at("exit_code"), 2);
  EXPECT_THAT(read_file(folder_.out() + "/report.html"),
              AllOf(HasSubstr("exit code 2: timings not compared: the baseline is of another machine"),
                    Not(HasSubstr("exit code 0"))));
  EXPECT_THAT(read_file(folder_.out() + "/junit.xml"), HasSubstr("<error type=\"exit_code\""));
}

TEST_F(Baseline, OfAnotherTorchIsRefusedUnlessAskedFor) {
  const std::string other = changed([](auto& json) { json.at("build")["torch"] = "2.1.0"; });
  const ProgramRun refused = compare({other, first().out()});
  EXPECT_EQ(refused.exit_code, 2) << refused.out << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("timings not compared: the baseline is of another torch; --other-torch"));
  EXPECT_EQ(compare({"--other-machine", other, first().out()}).exit_code, 2);
  const ProgramRun asked = compare({"--other-torch", other, first().out()});
  EXPECT_EQ(asked.exit_code, 0) << asked.out << asked.err;
  EXPECT_THAT(asked.out,
              AllOf(HasSubstr("Another release of torch: "), HasSubstr("2.1.0 in the baseline (compared as")));
  std::vector<std::string> arguments = timed;
  for (const auto& flag : {"--torchstone_baseline=" + other, std::string("--torchstone_baseline_other_torch")})
    arguments.push_back(flag);
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_NE(run.exit_code, 2) << run.out << run.err;
  for (const char* report : {"/report.html", "/results.json"})
    EXPECT_THAT(read_file(now.out() + report), HasSubstr("Another release of torch: ")) << report;
}

TEST_F(Baseline, MayBeSeveralRunsOfTheSameCode) {
  const std::string one = first().out(), other = changed([](auto&json) { json.at("run")["id"] = "another run"; });
  std::vector<std::string> arguments = timed;
  for (const auto& path : {one, other}) arguments.push_back("--torchstone_baseline=" + path);
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const std::string words = "The baseline is 2 runs: timings are of all their processes", again = one + " " + other;
  EXPECT_THAT(run.out, AllOf(HasSubstr(words), HasSubstr("torchstone-report compare " + again + " " + now.out())));
  EXPECT_THAT(compare({one, other, now.out()}).out, HasSubstr(words));
  const ProgramRun twice = compare({one, one, now.out()});
  EXPECT_EQ(twice.exit_code, 2) << twice.out << twice.err;
  EXPECT_THAT(twice.err, HasSubstr("twice (expected different runs)"));
  const ProgramRun empty = compare({one, now.out() + "/csv", now.out()});
  EXPECT_EQ(empty.exit_code, 2) << empty.out << empty.err;
  EXPECT_THAT(empty.err, HasSubstr("no results (expected a run in each of several baselines)"));
}

/// Adds two rows to the baseline: one with a backend that cannot run here, and one for a case that no suite contains.
void more_that_passed(nlohmann::json& json) {
  const auto add = [&](const std::string& backend, const std::string& label) {
    auto row = json.at("results").at(0);
    std::string name = row.at("name");
    name.replace(name.find("_eager_cpu"), std::string::npos, "_" + label + "_cpu");
    row["name"] = name, row["backend"] = backend;
    json.at("results").push_back(row);
  };
  add("tensorrt", "tensorrt");
  add("eager", "eager_of_old");
}

TEST_F(Baseline, ThatHasMoreThanTheRunTurnsItRed) {
  std::vector<std::string> arguments = timed;
  std::ranges::replace(arguments, std::string("--torchstone_backends=eager"),
                       std::string("--torchstone_backends=eager,tensorrt"));
  arguments.push_back("--torchstone_baseline=" + changed(more_that_passed));
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("! GONE"), HasSubstr("[  FAILED  ] against the baseline: 2 cases of the baseline are gone"),
            HasSubstr("[  PASSED  ] 1 test."), HasSubstr("_tensorrt_cpu  pass → unsupported"),
            HasSubstr("_eager_of_old_cpu  (was pass)"), HasSubstr("2 cases of the baseline are gone")));
  EXPECT_THAT(run.err,
              AllOf(HasSubstr("2 cases of the baseline are gone"), HasSubstr("--torchstone_baseline_fail_on=slower")));
  EXPECT_THAT(run.err, Not(HasSubstr("raft_small")))
      << "an entry of a suite that this run does not select must not be reported";
  EXPECT_THAT(read_file(now.out() + "/junit.xml"), HasSubstr("<failure type=\"worse_than_baseline\""));
  arguments.push_back("--torchstone_baseline_fail_on=slower");
  const ProgramRun allowed = now.run(arguments);
  EXPECT_EQ(allowed.exit_code, 0) << allowed.out << allowed.err;
  arguments.pop_back();
  arguments.push_back("--gtest_filter=*_eager_cpu");
  const ProgramRun filtered = now.run(arguments);
  EXPECT_EQ(filtered.exit_code, 0) << filtered.out << filtered.err;
  EXPECT_THAT(filtered.out, AllOf(HasSubstr("2 cases of the baseline are not run here"), HasSubstr("--allow-absent")));
}

TEST_F(Baseline, OfOtherWeightsIsOfADifferentModel) {
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_seed=7");
  arguments.push_back("--torchstone_baseline=" + first().out());
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("! DIFFERENT MODEL"), HasSubstr("the weights differ"),
                             HasSubstr("1 case is another model than the baseline's")));
  EXPECT_THAT(read_file(now.out() + "/junit.xml"), HasSubstr("<failure type=\"different_model\""));
  const auto digests = [](const Torchstone& runner) {
    const auto outcome = runner.results().at("results").at(0).at("outcome");
    return std::pair<std::string, std::string>(outcome.at("program_digest"), outcome.at("weights_digest"));
  };
  EXPECT_EQ(digests(now).first, digests(first()).first);
  EXPECT_NE(digests(now).second, digests(first()).second);
  EXPECT_EQ(compare({first().out(), now.out()}).exit_code, 1);
  EXPECT_EQ(compare({"--fail-on", "slower", first().out(), now.out()}).exit_code, 0);
}

TEST_F(Baseline, OfAnotherProgramIsComparedAllTheSame) {
  std::vector<std::string> arguments = timed;
  arguments.push_back("--torchstone_baseline=" + changed([](auto& json) {
                        four_times_as_fast(json);
                        json.at("results").at(0).at("outcome")["program_digest"] = std::string(64, 'a');
                      }));
  Torchstone now;
  const ProgramRun run = now.run(arguments);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("! SLOWER"), HasSubstr("(the program differs)"),
                             HasSubstr("exit code 1: 1 case is worse than the baseline: lennard_jones_")));
  EXPECT_THAT(now.results().at("results").at(0).at("baseline").at("reason").get<std::string>(),
              AllOf(testing::StartsWith("at least "), HasSubstr(" times slower than the baseline: "),
                    testing::EndsWith("; different model: its program is not the baseline's")));
  arguments.push_back("--torchstone_baseline_fail_on=slower");
  EXPECT_EQ(now.run(arguments).exit_code, 1);
}

TEST_F(Baseline, FailOnMakesMoreRed) {
  const std::string more = changed([](auto& json) {
    json.at("results").push_back(json.at("results").at(0));
    json.at("results").at(1)["name"] = "another/Case.A/b";
  });
  const ProgramRun lost = compare({more, first().out()});
  EXPECT_EQ(lost.exit_code, 1) << lost.out;
  EXPECT_THAT(lost.err, AllOf(HasSubstr("1 case of the baseline is gone: another/Case.A/b"),
                              HasSubstr("--allow-absent"), HasSubstr("--fail-on slower")));
  EXPECT_EQ(compare({"--fail-on", "slower", more, first().out()}).exit_code, 0);
  EXPECT_EQ(compare({"--allow-absent", more, first().out()}).exit_code, 0);
  const auto json = nlohmann::json::parse(compare({"--format", "json", more, first().out()}).out);
  EXPECT_EQ(json.at("counts").at("GONE"), 1);
}

}  // namespace
}  // namespace torchstone
