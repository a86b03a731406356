// Logs of operator inputs in the real program. Recorded inputs run, and broken ones get a status and a reason.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::string written(const Torchstone& torchstone, const std::string& name, const std::string& text) {
  fs::create_directories(torchstone.out() + "/given");
  const std::string path = torchstone.out() + "/given/" + name;
  std::ofstream(path) << text;
  return path;
}

/// Runs the suite operators on a log. By default it compares eager with eager, so nothing has to be compiled.
ProgramRun run_log(const Torchstone& torchstone, const std::string& log, const std::string& check = "accuracy",
                   const std::string& backend = "eager") {
  std::vector<std::string> flags{"--torchstone_suite=operators", "--torchstone_operator_logs=" + log,
                                 "--torchstone_backends=" + backend, "--torchstone_checks=" + check};
  if (check == "performance") flags.push_back("--torchstone_repeat=3");
  return torchstone.run(flags);
}

TEST(OperatorLogs, WhatTheProgramRecordsItReadsAndRuns) {
  const Torchstone recorder, reader;
  const std::string log = recorder.out() + "/log.txt";
  const ProgramRun recorded =
      recorder.run({"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
                    "--torchstone_backends=eager,torchscript", "--torchstone_log_operator_inputs=" + log});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.out << recorded.err;
  const std::string text = read_file(log);
  EXPECT_THAT(text, HasSubstr("Operator: aten.addmm.default\ncnt: "));
  EXPECT_THAT(text, HasSubstr("Operator: aten.tanh.default\ncnt: "));
  const ProgramRun run = run_log(reader, log, "performance");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("aten.addmm.default: eager="));
  EXPECT_THAT(read_file(reader.out() + "/csv/operatorbench_operators_float32.csv"),
              HasSubstr("Operator,eager 20th,eager 50th,eager 80th\naten.addmm.default,"));
  const auto row = reader.row("aten_tanh_default_0_");
  EXPECT_EQ(row.at("outcome").at("notes").at("operator"), "aten.tanh.default");
  EXPECT_GE(row.at("outcome").at("metrics").at("logged_calls"), 1);
}

TEST(OperatorLogs, ABrokenLineEndsTheRunWithItsPlace) {
  const Torchstone torchstone;
  const auto log = written(torchstone, "broken.txt", "Operator: aten.relu.default\ncnt: 1, ((T([2, f32),), {})\n");
  const ProgramRun run = run_log(torchstone, log);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("broken.txt:2:20: "));
  EXPECT_THAT(run.err, HasSubstr("(expected a comma or ])"));
}

TEST(OperatorLogs, AnAbsentOperatorAndAnInputThatCannotBeMadeAreRows) {
  const Torchstone torchstone;
  const auto log = written(torchstone, "faults.txt",
                           "Operator: aten.no_such_operator.default\ncnt: 1, ((T([2], f32),), {})\n"
                           "Operator: aten.relu.default\ncnt: 1, ((ST([2, 2], f32, torch.sparse_coo, True, 1),), {})\n"
                           "Operator: aten.tanh.default\ncnt: 1, ((T([2], f32),), {})\n");
  const ProgramRun run = run_log(torchstone, log);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const auto absent = torchstone.row("no_such_operator").at("outcome");
  EXPECT_EQ(absent.at("status"), "model_fail_to_load");
  EXPECT_THAT(absent.at("reason").get<std::string>(),
              HasSubstr("faults.txt:2: operator aten.no_such_operator.default does not exist in torch "));
  const auto sparse = torchstone.row("relu").at("outcome");
  EXPECT_EQ(sparse.at("status"), "model_fail_to_load");
  EXPECT_THAT(sparse.at("reason").get<std::string>(), HasSubstr("cannot be made"));
  EXPECT_EQ(torchstone.row("tanh").at("outcome").at("status"), "pass");
}

TEST(OperatorLogs, MasksExpandedInputsAndNaNsAreJudged) {
  const Torchstone torchstone;
  const auto log = written(torchstone, "masks.txt",
                           "Operator: aten.native_batch_norm_backward.default\n"
                           "cnt: 1, ((T([2, 3, 4, 4], f32), T([2, 3, 4, 4], f32), T([3], f32), T([3], f32), "
                           "T([3], f32), T([3], f32), T([3], f32), True, 1e-05, [True, True, False]), {})\n"
                           "Operator: aten.sum.dim_IntList\n"
                           "cnt: 1, ((T([4, 10], f32, stride=(0, 0)), [0], True), {})\n"
                           "Operator: aten.sqrt.default\ncnt: 1, ((T([64], f32),), {})\n");
  const ProgramRun run = run_log(torchstone, log, "accuracy", "torchscript");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("native_batch_norm_backward").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.row("sum_dim_IntList").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.row("sqrt").at("outcome").at("status"), "pass");
}

TEST(OperatorLogs, WhatARuleLeavesOutIsListedWithTheReason) {
  const Torchstone torchstone;
  const auto log = written(torchstone, "skipped.txt",
                           "Operator: aten.embedding.default\ncnt: 1, ((T([4, 4], f32), T([2], i64)), {})\n");
  const ProgramRun run = torchstone.run(
      {"--torchstone_suite=operators", "--torchstone_operator_logs=" + log, "--torchstone_list=skipped"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("aten_embedding_default_0"));
  EXPECT_THAT(run.out, HasSubstr("its indices cannot be drawn at random"));
}

TEST(Fastrnns, SwappedGatesAreNoLstm) {
  const Torchstone torchstone;
  const auto suite =
      written(torchstone, "swapped.yaml",
              "suite: fastrnns\nmatrix: [{checks: [accuracy], modes: [inference, training], backends: [nn_lstm], "
              "tolerance: 0.001, optimizer: sgd}]\n"
              "models: [swapped_gates, lstm_jit]\n");
  const ProgramRun run = torchstone.run(
      {"--torchstone_plugin=" TORCHSTONE_FAULTS, "--torchstone_suites=" + suite, "--torchstone_executor=simple"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  for (const std::string mode : {"inference", "training"}) {
    EXPECT_EQ(torchstone.row("swapped_gates_" + mode).at("outcome").at("status"), "fail_accuracy");
    EXPECT_EQ(torchstone.row("lstm_jit_" + mode).at("outcome").at("status"), "pass");
  }
  const auto healthy = torchstone.row("lstm_jit_inference").at("outcome");
  EXPECT_THAT(healthy.at("notes").at("executor").get<std::string>(),
              HasSubstr("profiling executor on, profiling mode off"));
}

}  // namespace
}  // namespace torchstone
