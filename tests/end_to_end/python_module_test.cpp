// Python modules under torch.compile, in the real program with a real Python process.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// A module as users write it. Each test adds a line to its forward.
constexpr const char* begin_of_class = R"(import os, sys, time, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 4)

    def get_example_inputs(self):
        return (torch.randn(4, 8),)

    def forward(self, x):
        y = self.linear(x)
        )";
constexpr const char* end_of_class = "\n        return torch.sin(y)\n";

class APythonModule : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which runs the module";
  }

  /// Writes the module with this line, runs its accuracy in inference, and returns the row.
  nlohmann::json row_of(const std::string& line, const std::string& backend,
                        const std::vector<std::string>& flags = {}) {
    const std::string file = torchstone_.out() + "/net.py";
    std::ofstream(file) << begin_of_class << line << end_of_class;
    std::vector<std::string> arguments{"--torchstone_only=path:" + file + ",class:Net", "--torchstone_checks=accuracy",
                                       "--torchstone_modes=inference", "--torchstone_backends=" + backend};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    run_ = torchstone_.run(arguments);
    const auto rows = torchstone_.results().at("results");
    EXPECT_EQ(rows.size(), 1U) << run_.out << run_.err;
    return rows.empty() ? nlohmann::json() : rows.front();
  }

  /// Returns the concatenated content of the files in a results subfolder whose names have this ending.
  std::string texts_below(const std::string& folder, const std::string& end) const {
    std::string texts;
    for (const auto& entry : std::filesystem::directory_iterator(torchstone_.out() + "/" + folder)) {
      if (!entry.path().string().ends_with(end)) continue;
      std::ifstream file(entry.path());
      texts.append(std::istreambuf_iterator<char>(file), {});
    }
    return texts;
  }

  /// Writes wrong_backend.py. Its Dynamo backend `wrong` returns this expression in place of each output `out`.
  void register_wrong_backend(const std::string& expression) const {
    std::ofstream(torchstone_.out() + "/wrong_backend.py") << "import torch\n"
                                                              "@torch._dynamo.register_backend\n"
                                                              "def wrong(graph, inputs):\n"
                                                              "    return lambda *values: ["
                                                           << expression << " for out in graph(*values)]\n";
  }

  const Torchstone torchstone_;
  ProgramRun run_;
};

TEST_F(APythonModule, IsJudgedInInferenceAndTrainingAsItsAuthorWroteIt) {
  const std::string file = std::string(TORCHSTONE_SOURCE_DIR) + "/examples/own_module/net.py";
  const ProgramRun run =
      torchstone_.run({"--torchstone_only=path:" + file + ",class:Net", "--torchstone_checks=accuracy"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::vector<std::string> names;
  const auto rows = torchstone_.results().at("results");
  for (const auto& row : rows) {
    names.push_back(row.at("name"));
    EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
    EXPECT_EQ(row.at("outcome").at("notes").at("subject"), "python");
    EXPECT_EQ(row.at("outcome").at("metrics").at("graph_breaks"), 0);
    EXPECT_EQ(row.at("batch_size"), 8) << "the batch size of its inputs";
  }
  EXPECT_THAT(names, ElementsAre("python/Accuracy.CompiledMatchesEager/Net_inference_as_written_torch_compile_cpu",
                                 "python/Accuracy.CompiledMatchesEager/Net_training_as_written_torch_compile_cpu"));
}

/// A module whose get_example_inputs() has the parameter batch_size with a default value.
class APythonModuleWithADefaultBatch : public APythonModule {
 protected:
  nlohmann::json row_by(const std::string& parameter, const std::vector<std::string>& flags) {
    const std::string file = torchstone_.out() + "/sized.py";
    std::ofstream(file) << "import torch\n"
                           "class Net(torch.nn.Linear):\n"
                           "    def __init__(self):\n"
                           "        super().__init__(8, 4)\n"
                           "    def forward(self, x):\n"
                           "        print('a batch of', len(x))\n"
                           "        return super().forward(x).sin()\n"
                           "    def get_example_inputs(self, "
                        << parameter << "):\n        return (torch.randn(batch_size, 8),)\n";
    std::vector<std::string> arguments{"--torchstone_only=path:" + file + ",class:Net", "--torchstone_checks=accuracy",
                                       "--torchstone_modes=inference", "--torchstone_backends=eager"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    run_ = torchstone_.run(arguments);
    const auto rows = torchstone_.results().at("results");
    EXPECT_EQ(rows.size(), 1U) << run_.out << run_.err;
    return rows.empty() ? nlohmann::json() : rows.front();
  }
};

TEST_F(APythonModuleWithADefaultBatch, IsJudgedWithIt) {
  const auto row = row_by("batch_size=16", {});
  EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
  EXPECT_EQ(row.at("batch_size"), 16);
  EXPECT_THAT(texts_below("logs", ".log"), HasSubstr("a batch of 16\n"));
}

TEST_F(APythonModuleWithADefaultBatch, IsJudgedWithTheBatchOfAFlag) {
  EXPECT_EQ(row_by("batch_size=16", {"--torchstone_batch_size=3"}).at("batch_size"), 3);
  EXPECT_THAT(texts_below("logs", ".log"), HasSubstr("a batch of 3\n"));
}

TEST_F(APythonModuleWithADefaultBatch, HasABatchOfOneIfTheDefaultIsNone) {
  EXPECT_EQ(row_by("batch_size", {}).at("batch_size"), 1);
  EXPECT_THAT(texts_below("logs", ".log"), HasSubstr("a batch of 1\n"));
}

TEST_F(APythonModuleWithADefaultBatch, HasNoBatchInItsRowIfItDoesNotLoad) {
  const auto row = row_by("batch_size=16 // 0", {});
  EXPECT_EQ(row.at("outcome").at("status"), "model_fail_to_load") << row.dump(1);
  EXPECT_EQ(row.at("batch_size"), 0) << "the batch size is unknown";
}

TEST_F(APythonModule, WithAGraphBreakIsRedIfNoneIsAllowed) {
  const auto row = row_of("torch._dynamo.graph_break()", "torch_compile:backend=aot_eager",
                          {"--torchstone_max_graph_breaks=0", "--torchstone_github=always"});
  EXPECT_EQ(run_.exit_code, 1) << run_.out << run_.err;
  EXPECT_THAT(run_.out, HasSubstr("/net.py,title=Net_inference_")) << "the annotation names the file";
  EXPECT_EQ(row.at("file"), torchstone_.out() + "/net.py");
  EXPECT_EQ(row.at("outcome").at("status"), "fail_graph_breaks") << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("notes").at("graph_breaks"), HasSubstr("net.py:13"));
  EXPECT_THAT(texts_below("csv", "_accuracy_graph_breaks.csv"), HasSubstr("net.py, line 13 in forward>"));
  EXPECT_THAT(texts_below("csv", "_accuracy_compiled_frames.csv"), HasSubstr("guard_count"));
  EXPECT_THAT(texts_below("logs", ".log"), HasSubstr("ops with 1 graph breaks (1 unique)"));
}

TEST_F(APythonModule, CompiledByAWrongBackendOfItsAuthorIsWrong) {
  register_wrong_backend("1.01 * out");
  const auto row = row_of("print('called with', tuple(x.shape))", "torch_compile:backend=wrong",
                          {"--torchstone_python_import=wrong_backend"});
  EXPECT_EQ(run_.exit_code, 1) << run_.out << run_.err;
  EXPECT_EQ(row.at("outcome").at("status"), "fail_accuracy") << row.dump(1);
  EXPECT_THAT(texts_below("logs", ".log"), HasSubstr("called with (4, 8)"));
}

TEST_F(APythonModule, ThatIsCompiledForEachSizeIsRedIfFewerRecompilesAreAllowed) {
  const auto row = row_of("", "torch_compile:backend=eager,dynamic=false",
                          {"--torchstone_dynamic=batch", "--torchstone_max_recompiles=2"});
  EXPECT_EQ(run_.exit_code, 1) << run_.out << run_.err;
  EXPECT_EQ(row.at("outcome").at("status"), "fail_recompiles") << row.dump(1);
  EXPECT_EQ(row.at("outcome").at("metrics").at("recompiles"), 6);
  EXPECT_EQ(row.at("outcome").at("notes").at("dynamic_judged"), "2, 4, 11, 15, 16, 17, 64");
}

TEST_F(APythonModule, ThatIsWrongAtOneSizeNamesIt) {
  register_wrong_backend("out * (2 if out.shape[0] == 17 else 1)");
  const auto row = row_of("", "torch_compile:backend=wrong,mark=unbacked",
                          {"--torchstone_python_import=wrong_backend", "--torchstone_dynamic=batch"});
  EXPECT_EQ(row.at("outcome").at("status"), "fail_accuracy") << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason"), StartsWith("batch 17: "));
  EXPECT_EQ(row.at("outcome").at("metrics").at("dynamic_wrong_sizes"), 1);
  EXPECT_EQ(row.at("outcome").at("metrics").at("recompiles"), 0);
}

TEST_F(APythonModule, IsTimedAtDynamicSizesAgainstCodeForEachOfThem) {
  const std::string file = std::string(TORCHSTONE_SOURCE_DIR) + "/examples/own_module/net.py";
  const ProgramRun run =
      torchstone_.run({"--torchstone_only=path:" + file + ",class:Net", "--torchstone_checks=performance",
                       "--torchstone_modes=inference", "--torchstone_backends=torch_compile:backend=aot_eager",
                       "--torchstone_dynamic=batch", "--torchstone_processes=1", "--torchstone_measure_budget=1"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto rows = torchstone_.results().at("results");
  ASSERT_EQ(rows.size(), 1U) << run.out << run.err;
  const auto& outcome = rows.front().at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << outcome.dump(1);
  EXPECT_EQ(outcome.at("samples").at("dynamic_batch"), nlohmann::json::parse("[2, 8, 64]"));
  for (const char* series : {"dynamic_eager_ms", "dynamic_ms", "static_ms", "dynamic_speedup", "dynamic_cost"})
    for (const auto& value : outcome.at("samples").at(series)) EXPECT_GT(value.get<double>(), 0) << series;
  EXPECT_GT(outcome.at("metrics").at("dynamic_cost"), 0);
  EXPECT_GT(outcome.at("metrics").at("recompiles"), 0)
      << "code compiled for the first sizes does not serve other sizes";
}

TEST_F(APythonModule, ThatEndsItsProcessHasARowThatSaysSo) {
  const auto row = row_of("os._exit(3)", "torch_compile:backend=aot_eager");
  EXPECT_EQ(row.at("outcome").at("status"), "eager_1st_run_fail") << row.dump(1);
  EXPECT_EQ(row.at("outcome").at("reason"), "Python exited with code 3 in the phase eager");
}

TEST_F(APythonModule, ThatNeverReturnsIsATimeOut) {
  const auto row = row_of("time.sleep(600)", "torch_compile:backend=aot_eager", {"--torchstone_time_limit=12"});
  EXPECT_EQ(row.at("outcome").at("status"), "timeout") << row.dump(1);
}

TEST_F(APythonModule, WithAnUnknownOptionNamesIt) {
  const auto row = row_of("", "torch_compile:inductor.epilogue_fusoin=false");
  EXPECT_EQ(row.at("outcome").at("status"), "fail_to_compile") << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason"), HasSubstr("epilogue_fusoin"));
  EXPECT_FALSE(row.at("outcome").at("notes").contains("stages")) << "an unknown option is no fault of a compiler stage";
}

/// A part of text generation with a transformers model.
class APartOfGeneration : public APythonModule {
 protected:
  void SetUp() override {
    APythonModule::SetUp();
    if (IsSkipped()) return;
    const ProgramRun found = run_program(
        {TORCHSTONE_PYTHON, "-c", "import importlib.util as u; print(u.find_spec('transformers') is not None)"});
    if (!found.out.starts_with("True")) GTEST_SKIP() << "the Python has no transformers";
  }

  ProgramRun run_part(const std::string& keys, const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments{"--torchstone_only=transformers:GPT2LMHeadModel," + keys,
                                       "--torchstone_subject=python"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return torchstone_.run(arguments, {{"PYTHONPATH", torchstone_.out()}});
  }
};

TEST_F(APartOfGeneration, IsJudgedAndHasTokensPerSecond) {
  const ProgramRun run = run_part(
      "part=decode,new=4", {"--torchstone_checks=performance", "--torchstone_repeat=3", "--torchstone_processes=1",
                            "--torchstone_backends=torch_compile:backend=aot_eager"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const auto row = torchstone_.row("Performance");
  EXPECT_THAT(std::string(row.at("name")), HasSubstr("/GPT2LMHeadModel_decode_new4_inference_as_written_"));
  const auto& metrics = row.at("outcome").at("metrics");
  EXPECT_EQ(metrics.at("new_tokens"), 1) << row.dump(1);
  EXPECT_NEAR(metrics.at("compiled_tokens_per_s").get<double>(),
              1e3 * metrics.at("tokens_per_call").get<double>() / metrics.at("compiled_ms").get<double>(), 1e-3);
}

TEST_F(APartOfGeneration, ThatMakesOtherTokensIsWrong) {
  std::ofstream(torchstone_.out() + "/wrong_tokens.py")
      << "import torch\n"
         "@torch._dynamo.register_backend\n"
         "def wrong_tokens(graph, inputs):\n"
         "    def changed(out):\n"
         "        is_logits = isinstance(out, torch.Tensor) and out.shape[-1:] == (512,)\n"
         "        return out + torch.arange(512) % 7 * 0.1 if is_logits else out\n"
         "    return lambda *values: [changed(out) for out in graph(*values)]\n";
  const ProgramRun run =
      run_part("part=generate,new=4",
               {"--torchstone_checks=accuracy", "--torchstone_backends=torch_compile:backend=wrong_tokens",
                "--torchstone_python_import=wrong_tokens", "--torchstone_diagnose=never"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(torchstone_.row("Accuracy").at("outcome").at("status"), "fail_accuracy");
}

}  // namespace
}  // namespace torchstone
