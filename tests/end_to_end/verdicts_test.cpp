// Speed verdicts, expectations and exit codes that the planted faults of faults_test.cpp do not cover.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string write_file(const Torchstone& torchstone, const std::string& name, const std::string& text) {
  const std::string path = torchstone.out() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

/// Writes a copy of results.json in which every case has this status. Returns its path.
std::string results_with(const Torchstone& torchstone, const std::string& status) {
  auto report = torchstone.results();
  for (auto& result : report.at("results")) result.at("outcome").at("status") = status;
  return write_file(torchstone, status + ".json", report.dump());
}

/// Times the model `waits`, which sleeps. The compiled program does not sleep and is about a hundred times faster.
ProgramRun run_waiting(const Torchstone& torchstone, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.end(), {"--torchstone_checks=performance", "--torchstone_backends=fault_none",
                                     "--torchstone_measure_budget=1"});
  return torchstone.run_faults("*/waits_*fault_none*", arguments);
}

TEST(ARequiredSpeedUp, ThatIsMetIsGreen) {
  const Torchstone torchstone;
  const ProgramRun run = run_waiting(torchstone);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto outcome = torchstone.row("/waits_").at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_EQ(outcome.at("metrics").at("required_speedup"), 0.9);
}

TEST(ARequiredSpeedUp, ThatIsMissedIsExpectedWhereAFileSaysSo) {
  const Torchstone torchstone;
  const std::string file =
      write_file(torchstone, "e.yaml", "- {model: healthy, check: performance, status: fail_speedup, reason: known}\n");
  const ProgramRun run = torchstone.run_faults("*Performance*/healthy_*fault_slow*",
                                               {"--torchstone_measure_budget=1", "--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "fail_speedup");
}

/// Ten rounds are too few for an interval with this confidence, whatever the measurements.
const std::vector<std::string> too_few_rounds = {"--torchstone_checks=performance", "--torchstone_backends=fault_none",
                                                 "--torchstone_rounds=10", "--torchstone_confidence=0.9999",
                                                 "--torchstone_processes=1"};

TEST(ARequiredSpeedUp, ThatStaysUndecidedIsSaidAndOnlyRedWhenAskedToBeStrict) {
  const Torchstone torchstone;
  const std::string filter = "*Performance*/healthy_*fault_none*";
  const ProgramRun lenient = torchstone.run_faults(filter, too_few_rounds);
  EXPECT_EQ(lenient.exit_code, 0) << lenient.out << lenient.err;
  EXPECT_EQ(torchstone.row("/healthy_").at("outcome").at("status"), "undecided");
  EXPECT_THAT(lenient.out, HasSubstr("UNSURE"));
  auto arguments = too_few_rounds;
  arguments.emplace_back("--torchstone_strict_undecided");
  EXPECT_EQ(torchstone.run_faults(filter, arguments).exit_code, 5);
}

TEST(OnlyCasesThatWereLeftOut, AreNotGreen) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*/healthy_*_fault_unsupported_*");
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  EXPECT_THAT(torchstone.row("/healthy_").at("outcome").at("reason").get<std::string>(), HasSubstr("planted: not on"));
  EXPECT_THAT(run.err, HasSubstr("nothing was judged: the case was left out (1 unsupported: planted: not on"));
}

const char* const wrong = "*/healthy_inference_float32_fault_zero_cpu";
const char* const right = "*/healthy_inference_float32_fault_none_cpu";

TEST(AKnownFailure, IsGreenWhereAFileExpectsIt) {
  const Torchstone torchstone;
  const std::string yaml = write_file(
      torchstone, "e.yaml", "- {model: healthy, backend: fault_zero, status: fail_accuracy, reason: known bug}\n");
  const ProgramRun run = torchstone.run_faults(wrong, {"--torchstone_expected=" + yaml});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("XFAIL"));
  EXPECT_THAT(run.out, HasSubstr("\n             expected: known bug, " + yaml + ":1"));
  EXPECT_THAT(torchstone.row("/healthy_").at("outcome").at("notes").at("expected_because").get<std::string>(),
              HasSubstr("known bug"));
  const std::string csv = write_file(torchstone, "e.csv", "name,accuracy,graph_breaks\nhealthy,fail_accuracy,0\n");
  EXPECT_EQ(torchstone.run_faults(wrong, {"--torchstone_expected=" + csv}).exit_code, 0);
  const ProgramRun explained =
      torchstone.run_faults("*", {"--torchstone_expected=" + yaml, std::string("--torchstone_explain=") + wrong});
  EXPECT_THAT(explained.out, testing::ContainsRegex("expected_status +fail_accuracy +.*e.yaml:1"));
}

TEST(AKnownFailure, IsRedWhereItsErrorExceedsTheBound) {
  const Torchstone torchstone;
  const std::string file =
      write_file(torchstone, "e.yaml",
                 "- {model: healthy, backend: fault_zero, status: fail_accuracy, reason: known bug, max_error: 1.5}\n");
  const ProgramRun run = torchstone.run_faults(wrong, {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("fail_accuracy, expected fail_accuracy up to 1.5×"), HasSubstr("an error of "),
                             HasSubstr("more than the 1.5× of the known failure (max_error, " + file + ":1)")));
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "gate", "accuracy", "-f", torchstone.out()}).exit_code, 1);
}

TEST(AnUnexpectedPass, IsRedAndNamesTheLineToRemove) {
  const Torchstone torchstone;
  const std::string file = write_file(torchstone, "e.yaml", "\n- {model: healthy, status: crash, reason: known}\n");
  const ProgramRun run = torchstone.run_faults(right, {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("XPASS"));
  EXPECT_THAT(run.out, HasSubstr("pass although " + file + ":2 expects crash: remove that expectation"));
}

TEST(AnotherFailureThanTheExpectedOne, IsRed) {
  const Torchstone torchstone;
  const std::string file = write_file(torchstone, "e.yaml", "- {model: healthy, status: timeout, reason: known}\n");
  EXPECT_EQ(torchstone.run_faults(wrong, {"--torchstone_expected=" + file}).exit_code, 1);
}

TEST(AnExpectationThatHasExpired, CountsAsNotThereAndSaysSo) {
  const Torchstone torchstone;
  const std::string file = write_file(torchstone, "e.yaml",
                                      "- model: healthy\n  status: fail_accuracy\n  reason: known\n"
                                      "  issue: https://example.org/7\n  expires: 2020-01-31\n");
  const ProgramRun run = torchstone.run_faults(wrong, {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const std::string said = file + ":1: the expectation fail_accuracy of healthy expired on 2020-01-31";
  EXPECT_THAT(run.err, HasSubstr("warning: " + said));
  EXPECT_THAT(run.out, HasSubstr(said));
  EXPECT_THAT(run.err, HasSubstr("https://example.org/7"));
}

TEST(AnExpectationOfNoCase, IsAWarning) {
  const Torchstone torchstone;
  const std::string file = write_file(torchstone, "e.yaml", "- {model: helthy, status: crash, reason: typo}\n");
  const ProgramRun run = torchstone.run_faults(right, {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("line 1 (helthy; did you mean healthy?)"));
}

TEST(AnExpectedStatusFileThatIsBroken, IsAUsageErrorWithItsLine) {
  const Torchstone torchstone;
  const std::string file = write_file(torchstone, "e.yaml", "- {model: healthy,\n   staus: crash}\n");
  const ProgramRun run = torchstone.run_faults(right, {"--torchstone_expected=" + file});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("e.yaml:2: [0].staus: unknown key"));
  EXPECT_THAT(run.err, HasSubstr("did you mean status?"));
  EXPECT_EQ(torchstone.run_faults(right, {"--torchstone_expected=" + file + ".none"}).exit_code, 2);
  EXPECT_EQ(torchstone.run_faults(right, {"--torchstone_update_expected"}).exit_code, 2);
}

TEST(AnUpdateOfExpectedStatuses, MakesTheNextRunGreen) {
  const Torchstone torchstone;
  const std::string file =
      write_file(torchstone, "e.yaml",
                 "# nightly\n- {model: healthy, backend: fault_none, status: crash, reason: gone}\n"
                 "- {model: two_outputs, status: crash, reason: not run here}\n");
  const std::string both = std::string(wrong) + ":" + right;
  const std::string expected = "--torchstone_expected=" + file;
  EXPECT_EQ(torchstone.run_faults(both, {expected}).exit_code, 1);
  const ProgramRun update = torchstone.run_faults(both, {expected, "--torchstone_update_expected"});
  EXPECT_EQ(update.exit_code, 0) << update.out << update.err;
  EXPECT_THAT(update.out, HasSubstr("e.yaml: 0 changed, 1 removed, 1 new"));
  EXPECT_THAT(
      read_file(file),
      testing::StartsWith(
          "# nightly\n- {model: two_outputs, status: crash, reason: not run here}\n- name: "
          "faults/Accuracy.CompiledMatchesEager/healthy_inference_float32_fault_zero_cpu\n  status: fail_accuracy\n"));
  EXPECT_EQ(torchstone.run_faults(both, {expected}).exit_code, 0);
  const std::string before = read_file(file);
  EXPECT_THAT(torchstone.run_faults(both, {expected, "--torchstone_update_expected"}).out,
              HasSubstr("nothing to change"));
  EXPECT_EQ(read_file(file), before);
}

TEST(AnUpdateOfExpectedStatuses, DoesNotHideAMissingCompiler) {
  const Torchstone torchstone;
  const std::string file = torchstone.out() + "/new.yaml";
  const ProgramRun run = torchstone.run_faults("*/healthy_*_fault_missing_*",
                                               {"--torchstone_expected=" + file, "--torchstone_update_expected"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(TheReportTool, NamesItsCommandsWhenItDoesNotKnowOne) {
  const ProgramRun run = run_program({TORCHSTONE_REPORT, "tap", "results"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              testing::AllOf(HasSubstr("unknown command tap (expected one of merge, "), HasSubstr("--plugin=LIBRARY")));
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "--help"}).exit_code, 0);
}

TEST(TheGateOfTheReportTool, EndsWithEachOfItsExitCodes) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run_faults(right).exit_code, 0);
  const auto gate = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TORCHSTONE_REPORT, "gate"});
    return run_program(arguments);
  };
  const auto accuracy = [&](const std::string& expected) {
    return gate({"accuracy", "--actual", torchstone.out(), "--expected", expected});
  };
  const std::string same = write_file(torchstone, "same.csv", "name,accuracy\nhealthy,pass\n");
  const std::string other = write_file(torchstone, "other.csv", "name,accuracy\nhealthy,fail_to_run\n");
  EXPECT_EQ(accuracy(same).exit_code, 0) << accuracy(same).out;
  EXPECT_THAT(accuracy(same).out, HasSubstr("green: 1 PASS"));
  EXPECT_EQ(accuracy(results_with(torchstone, "pass")).exit_code, 0);
  EXPECT_EQ(accuracy(results_with(torchstone, "fail_to_run")).exit_code, 1);
  EXPECT_EQ(accuracy(other).exit_code, 1);
  EXPECT_THAT(accuracy(other).out, HasSubstr("! healthy  IMPROVED: accuracy=pass, expected=fail_to_run"));
  EXPECT_EQ(accuracy(torchstone.out() + "/none.csv").exit_code, 2);
  EXPECT_EQ(gate({"accuracy"}).exit_code, 2);
  EXPECT_EQ(gate({"accuracy", "-f", torchstone.out()}).exit_code, 0) << "every model passes";
  EXPECT_EQ(gate({"accuracy", "-f", other}).exit_code, 1) << "one model does not pass, and no other status is expected";
  EXPECT_EQ(gate({"memory", "-f", torchstone.out()}).exit_code, 2) << "there is nothing to compare with";
  const std::string empty = write_file(torchstone, "empty.csv", "name,accuracy\n");
  EXPECT_EQ(gate({"accuracy", "--actual", empty, "--expected", empty}).exit_code, 3);
  EXPECT_EQ(gate({"speedup", "-f", torchstone.out(), "-t", "1"}).exit_code, 3) << "there are no timings";
}

TEST(TheGateOfTheReportTool, JudgesTimings) {
  const Torchstone torchstone;
  ASSERT_EQ(run_waiting(torchstone).exit_code, 0);
  const auto code = [&](const std::string& threshold) {
    return run_program({TORCHSTONE_REPORT, "gate", "speedup", "-f", torchstone.out(), "-t", threshold}).exit_code;
  };
  EXPECT_EQ(code("1.01"), 0);
  EXPECT_EQ(code("1e9"), 1);
  EXPECT_EQ(code("-1"), 2);
  const auto memory = [&](const std::string& ratio) {
    const std::string expected = write_file(torchstone, "memory.csv", "name,compression_ratio\nwaits," + ratio + "\n");
    return run_program({TORCHSTONE_REPORT, "gate", "memory", "--actual", torchstone.out(), "--expected", expected});
  };
  EXPECT_EQ(memory("1e-3").exit_code, 0) << memory("1e-3").out;
  EXPECT_EQ(memory("1e3").exit_code, 1) << memory("1e3").out;
}

TEST(TheGateOfTheReportTool, IsStrictWithNoisySpeedUpsWhenAsked) {
  const Torchstone torchstone;
  const std::string header = "name,speedup,noisy,speedup_low,speedup_high\n", open = "open,1.2,wide,0.6,1.8\n";
  const std::string both = write_file(torchstone, "both.csv", header + "met,3,,2.9,3.1\n" + open),
                    noisy = write_file(torchstone, "noisy.csv", header + open);
  const auto code = [](const std::string& file, const std::vector<std::string>& flags) {
    std::vector<std::string> command{TORCHSTONE_REPORT, "gate", "speedup", "-f", file, "-t", "1"};
    command.insert(command.end(), flags.begin(), flags.end());
    return run_program(command).exit_code;
  };
  EXPECT_EQ(code(both, {}), 0);
  EXPECT_EQ(code(both, {"--strict-undecided"}), 5);
  EXPECT_EQ(code(noisy, {"--strict-undecided"}), 3) << "nothing was judged";
}

/// The program is compiled ahead of the cases and requested again by its case, in two children of one run.
TEST(AProgramThatDoesNotCompile, IsTriedOnceARun) {
  const Torchstone torchstone;
  const std::string cache = torchstone.out() + "/cache";
  const ProgramRun run =
      torchstone.run({"--gtest_filter=*/lennard_jones_*:*/soft_actor_critic_*", "--torchstone_suite=torchbench",
                      "--torchstone_checks=accuracy", "--torchstone_modes=inference", "--torchstone_dtypes=float32",
                      "--torchstone_backends=inductor:cpp.max_autotune=true", "--torchstone_cache=" + cache});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto outcome = torchstone.row("lennard_jones").at("outcome");
  EXPECT_EQ(outcome.at("status"), "fail_to_compile");
  EXPECT_THAT(outcome.at("reason"), HasSubstr("cpp.max_autotune: no such Inductor option"));
  const std::filesystem::directory_iterator runs(cache + "/failures");
  EXPECT_EQ(std::distance(begin(runs), end(runs)), 1) << "all children of a run share one list of failures";
}

}  // namespace
}  // namespace torchstone
