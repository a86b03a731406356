// Tournaments in the real program, with a model that takes about a second and the minimum number of processes.
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"
#include "tests/end_to_end/installation.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> brief{"--torchstone_tournament", "--torchstone_processes=3",
                                     "--torchstone_measure_budget=0.1", "--torchstone_suite=torchbench",
                                     "--torchstone_only=lennard_jones"};

std::vector<std::string> with(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), brief.begin(), brief.end());
  return arguments;
}

nlohmann::json model_in(const std::string& folder) {
  const std::string text = read_file(folder + "/tournament.json");
  EXPECT_FALSE(text.empty());
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("schema"), "torchstone/tournament/1");
  EXPECT_EQ(json.at("models").size(), 1U);
  return json.at("models").at(0);
}

nlohmann::json variant_of(const nlohmann::json& model, const std::string& name) {
  for (const auto& variant : model.at("variants"))
    if (variant.at("name") == name) return variant;
  ADD_FAILURE() << "no variant " << name << " in " << model.dump(1);
  return {};
}

TEST(Tournament, RanksWhatPassesAndSaysWhatToTake) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_backends=torchscript,torchscript:frozen=true,nn_lstm"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("torchbench/lennard_jones_inference_float32_cpu"), HasSubstr("torchscript:frozen=true"),
                    AnyOf(HasSubstr("Packages compiled before: for ≥ 1 call take"),
                          HasSubstr("no advice: ")),  // if other programs run concurrently, such as other tests
                    HasSubstr("tournament.html")));
  const auto model = model_in(torchstone.out());
  EXPECT_EQ(model.at("processes"), 3);
  EXPECT_EQ(model.at("preset"), "mini");
  EXPECT_FALSE(model.at("best").empty());
  for (const char* name : {"eager", "torchscript", "torchscript:frozen=true"}) {
    const auto variant = variant_of(model, name);
    EXPECT_TRUE(variant.at("timed")) << name;
    EXPECT_EQ(variant.at("process_seconds").size(), 3U);
    EXPECT_GT(variant.at("seconds"), 0);
    EXPECT_LT(variant.at("error"), 1e-5);
    EXPECT_GT(variant.at("start_s"), 0);
    EXPECT_LE(variant.at("speedup_interval").at("low"), variant.at("speedup"));
  }
  EXPECT_EQ(variant_of(model, "eager").at("speedup"), 1);
  const auto lstm = variant_of(model, "nn_lstm");  // unsupported, because the model has no LSTM
  EXPECT_FALSE(lstm.at("timed"));
  EXPECT_NE(lstm.at("status"), "pass");
  EXPECT_FALSE(lstm.at("out").get<std::string>().empty());
  const std::string page = read_file(torchstone.out() + "/tournament.html");
  EXPECT_THAT(page, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Speed-up against eager"), HasSubstr("Not timed"),
                          Not(HasSubstr("<script"))));
}

TEST(Tournament, OfTrainingTimesSteps) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_modes=training", "--torchstone_backends=torchscript"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("torchbench/lennard_jones_training_float32_cpu"));
  const auto variant = variant_of(model_in(torchstone.out()), "torchscript");
  EXPECT_TRUE(variant.at("timed"));
  EXPECT_EQ(variant.at("process_seconds").size(), 3U);
  EXPECT_GT(variant.at("error"), 0);  // error of the step's tensors relative to float64
  EXPECT_LT(variant.at("error"), 1e-5);
}

TEST(Tournament, AWrongAnswerIsRedAndNeverTimed) {
  const Torchstone torchstone;
  const ProgramRun run =
      torchstone.run(with({std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS,
                           "--torchstone_backends=torchscript,fault_weight,fault_eager,fault_killed"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("✗ fault_weight"));
  const auto model = model_in(torchstone.out());
  for (const auto& [name, status] :
       {std::pair{"fault_weight", "fail_accuracy"}, {"fault_eager", "not_compiled"}, {"fault_killed", "OOM"}}) {
    const auto variant = variant_of(model, name);
    EXPECT_EQ(variant.at("status"), status);
    EXPECT_FALSE(variant.at("timed"));
    EXPECT_FALSE(variant.contains("process_seconds"));
    for (const auto& best : model.at("best")) EXPECT_NE(best, name);
  }
  EXPECT_TRUE(variant_of(model, "torchscript").at("timed"));
}

TEST(Tournament, WhereNothingPassesThereIsNoRankingAndTheRunIsNotGreen) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      with({std::string("--torchstone_plugin=") + TORCHSTONE_FAULTS, "--torchstone_backends=fault_weight"}));
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("no ranking: only eager passed"));
}

TEST(Tournament, ThatIsInterruptedKeepsTheModelsBeforeAndRanksNoOther) {
  const Torchstone torchstone;
  std::vector<std::string> arguments = brief;
  arguments.back() = "--gtest_filter=*lennard_jones_*:*dcgan_*:*alexnet_*";
  arguments.emplace_back("--torchstone_backends=torchscript");
  const ProgramRun run = torchstone.run(arguments, {}, "intervals over all variants");
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  const auto json = nlohmann::json::parse(read_file(torchstone.out() + "/tournament.json"));
  EXPECT_EQ(json.at("run").at("exit_code"), 130);
  EXPECT_EQ(json.at("run").at("exit_reason"), "interrupted");
  const auto& models = json.at("models");
  ASSERT_EQ(models.size(), 3U);
  EXPECT_FALSE(models.at(0).at("best").empty());
  EXPECT_EQ(models.at(0).at("exit_code"), 0);
  for (const size_t later : {1, 2}) {
    EXPECT_TRUE(models.at(later).at("best").empty());
    EXPECT_EQ(models.at(later).at("verdict"), "no ranking: interrupted");
  }
  EXPECT_THAT(read_file(torchstone.out() + "/tournament.html"),
              AllOf(HasSubstr("1 of 3 models ranked"), HasSubstr("exit code 130")));
}

TEST(Tournament, OfAFileSaysWhatShipsItAndThatWorks) {
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which runs the command";
  const Torchstone torchstone;
  std::vector<std::string> arguments = brief;
  arguments.back() = "--torchstone_only=" TORCHSTONE_TEST_DIR "/oracles/exported/torch213/plain.pt2";
  arguments.erase(arguments.end() - 2);
  arguments.emplace_back("--torchstone_backends=torchscript:frozen=true,inductor");
  arguments.emplace_back("--torchstone_tournament_ship_limit=3000");  // other tests run concurrently
  arguments.emplace_back("--torchstone_heartbeat=0.2");
  const ProgramRun run = torchstone.run(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AnyOf(HasSubstr("To ship it:"), HasSubstr("The commands that would ship each variant")));
  EXPECT_THAT(run.out, testing::ContainsRegex(": timing process [123] of 3, "));
  const auto model = model_in(torchstone.out());
  EXPECT_FALSE(model.contains("preset")) << "a model file has no presets";
  EXPECT_THAT(read_file(torchstone.out() + "/tournament.html"), Not(HasSubstr("preset mini")));
  const std::string python =
      "cd '" + torchstone.out() + "' && python() { '" TORCHSTONE_PYTHON "' -W ignore \"$@\"; } && ";
  for (const auto& [name, artifact] :
       {std::pair{"torchscript:frozen=true", "plain_torchscript.pt"}, {"inductor", "plain_inductor.pt2"}}) {
    const auto variant = variant_of(model, name);
    EXPECT_THAT(variant.at("ship_code").get<std::string>(), HasSubstr(artifact));
    const ProgramRun shipped = run_program({"/bin/sh", "-c", python + variant.at("ship_command").get<std::string>()});
    EXPECT_EQ(shipped.exit_code, 0) << shipped.err;
    EXPECT_FALSE(read_file(torchstone.out() + "/" + artifact).empty()) << artifact;
  }
  for (const auto& variant : model.at("variants")) {
    if (variant.value("ties", false) == false || variant.at("name") == "eager") continue;
    ASSERT_TRUE(variant.contains("shipped")) << variant.dump(1);
    EXPECT_THAT(run.out, HasSubstr(": make the file of " + variant.at("name").get<std::string>()));
    EXPECT_THAT(run.out, HasSubstr(": time " + variant.at("name").get<std::string>() + " as shipped"));
    EXPECT_GT(variant.at("shipped").at("seconds"), 0);
    EXPECT_LT(variant.at("shipped").at("error"), 1e-4);
  }
}

TEST(Tournament, LeavesNoReportsOfAnEarlierRunBesideItsOwn) {
  const Torchstone torchstone;
  ASSERT_EQ(torchstone.run({"--gtest_filter=*/Accuracy.*/lennard_jones_inference_float32_torchscript_cpu"}).exit_code,
            0);
  EXPECT_FALSE(read_file(torchstone.out() + "/results.json").empty());
  const ProgramRun run = torchstone.run(with({"--torchstone_backends=torchscript"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_FALSE(read_file(torchstone.out() + "/tournament.html").empty());
  for (const char* name : {"results.json", "junit.xml", "report.html"})
    EXPECT_EQ(read_file(torchstone.out() + "/" + name), "") << name;
}

TEST(Tournament, TakesTheFilterAndAddsEager) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      with({"--torchstone_backends=torchscript,torchscript:frozen=true", "--gtest_filter=*_frozen_cpu"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto model = model_in(torchstone.out());
  EXPECT_EQ(model.at("variants").size(), 2U);
  EXPECT_TRUE(variant_of(model, "eager").at("timed"));
  const ProgramRun none = torchstone.run(with({"--torchstone_backends=torchscript", "--gtest_filter=*no_such*"}));
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("nothing selected"));
}

TEST(Tournament, LeavesAVariantForOtherDevicesOutAndSaysWhere) {
  const Torchstone torchstone;
  const std::string variants = torchstone.out() + "_variants.yaml";
  std::ofstream(variants)
      << "variants:\n  - eager\n  - torchscript\n  - {torchscript: {frozen: true}, devices: [cuda]}\n"
      << "excluded: [executorch, export, inductor, nativert, nn_lstm, onnxruntime, openvino, torch_compile]\n";
  const ProgramRun run = torchstone.run(with({"--torchstone_tournament_variants=" + variants}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("- torchscript:frozen=true unsupported: not tried on cpu: "));
  const auto model = model_in(torchstone.out());
  EXPECT_TRUE(variant_of(model, "torchscript").at("timed"));
  const auto frozen = variant_of(model, "torchscript:frozen=true");
  EXPECT_FALSE(frozen.at("timed"));
  EXPECT_EQ(frozen.at("out"), "not tried on cpu: " + variants + ":4 limits it to cuda");
  EXPECT_EQ(frozen.at("ladder").at("outcome").at("status"), "unsupported");
}

TEST(Tournament, IsHeldForEachBatchSizeAndThreadCount) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(
      with({"--torchstone_backends=torchscript", "--torchstone_batch_size=1,8", "--torchstone_threads=1,2"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("torchbench/lennard_jones_inference_float32_cpu_batch_size_8_threads_2\n"),
                             HasSubstr("The fastest of torchbench/lennard_jones_inference_float32_cpu\n")));
  const auto json = nlohmann::json::parse(read_file(torchstone.out() + "/tournament.json"));
  ASSERT_EQ(json.at("models").size(), 4U);
  for (const auto& model : json.at("models")) {
    EXPECT_EQ(model.at("sweep"), "torchbench/lennard_jones_inference_float32_cpu");
    EXPECT_EQ(model.at("variants").size(), 2U);
    const auto& row = model.at("variants").at(0).at("ladder");
    EXPECT_EQ(model.at("batch_size"), std::to_string(row.at("batch_size").get<int>()));
    EXPECT_THAT(row.at("name"), HasSubstr("_batch_size_" + model.at("batch_size").get<std::string>() + "_threads_" +
                                          model.at("threads").get<std::string>()));
  }
  ASSERT_EQ(json.at("sweeps").size(), 1U);
  const auto& combinations = json.at("sweeps").at(0).at("combinations");
  ASSERT_EQ(combinations.size(), 4U);
  std::vector<std::string> held;
  for (const auto& one : combinations) {
    held.push_back(one.at("batch_size").get<std::string>() + "x" + one.at("threads").get<std::string>());
    EXPECT_FALSE(one.at("best").empty());
    EXPECT_EQ(one.at("failure"), "");
    EXPECT_NEAR(one.at("samples_per_s").get<double>() * one.at("seconds").get<double>(),
                std::stod(one.at("batch_size").get<std::string>()), 1e-6);
  }
  EXPECT_THAT(held, testing::ElementsAre("1x1", "1x2", "8x1", "8x2"));
  EXPECT_THAT(read_file(torchstone.out() + "/tournament.html"), HasSubstr("by batch size and threads"));
}

TEST(Tournament, AloneTakesSeveralBatchSizesAndThreadCounts) {
  const Torchstone torchstone;
  for (const char* flag : {"--torchstone_threads=1,2", "--torchstone_batch_size=1,8"}) {
    const ProgramRun run = torchstone.run({"--torchstone_only=lennard_jones", flag});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, AllOf(HasSubstr(flag), HasSubstr("several values need --torchstone_tournament")));
  }
}

TEST(Tournament, TimesTorchCompileAgainstEagerOfItsOwnProcess) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_backends=torchscript,torch_compile"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("against eager in its own process"));
  const auto model = model_in(torchstone.out());
  EXPECT_EQ(model.at("variants").size(), 2U);
  const auto& separate = model.at("separate").at(0);
  EXPECT_EQ(separate.at("name"), "torch_compile");
  EXPECT_GT(separate.at("eager_seconds"), 0);
  EXPECT_THAT(separate.at("timed_by"), HasSubstr("Python's process"));
}

TEST(Tournament, RefusesWhatItDoesNotGoWith) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run(with({"--torchstone_checks=performance"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--torchstone_tournament does not go with --torchstone_checks"));
  const ProgramRun graphs = torchstone.run(with({"--torchstone_cuda_graphs=both"}));
  EXPECT_EQ(graphs.exit_code, 2) << "a tournament times calls without CUDA graphs";
  EXPECT_THAT(graphs.err, HasSubstr("--torchstone_tournament does not go with --torchstone_cuda_graphs"));
}

TEST_F(AnInstallation, BuildsAPlugInWhoseBackendJoinsTheTournament) {
  const std::string plugin = installation().plugin("backend_plugin", "my_backend");
  const std::string variants = installation().results_folder() + "_variants.yaml";
  std::ofstream(variants)
      << "variants: [eager, torchscript]\nexcluded: [executorch, export, inductor, nn_lstm, torch_compile]\n";
  const ProgramRun run =
      installation().run(with({"--torchstone_plugin=" + plugin, "--torchstone_tournament_variants=" + variants}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto model = model_in(installation().results_folder());
  EXPECT_TRUE(variant_of(model, "folded").at("timed"));
  EXPECT_TRUE(variant_of(model, "torchscript").at("timed"));
}

}  // namespace
}  // namespace torchstone
