// Models that train in two processes: a Python module and a C++ model, in the real program.
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Matcher;
using testing::StartsWith;

class TwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which runs the module";
    write_module("    def forward(self, x):\n        return super().forward(x)\n");
  }

  void write_module(const std::string& forward, const std::string& parameter = "",
                    const std::string& size = "4") const {
    std::ofstream(folder() + "/net.py") << "import torch\n"
                                           "class Net(torch.nn.Sequential):\n"
                                           "    def __init__(self):\n"
                                           "        super().__init__(torch.nn.Linear(8, 6), torch.nn.GELU(), "
                                           "torch.nn.Linear(6, 4))\n"
                                        << forward << "    def get_example_inputs(self" << parameter
                                        << "):\n        return (torch.randn(" << size << ", 8),)\n";
  }

  std::string folder() const { return torchstone_.out(); }

  ProgramRun run(const std::vector<std::string>& flags, const std::string& modes = "training",
                 const std::string& check = "accuracy") const {
    std::vector<std::string> arguments{"--torchstone_only=path:" + folder() + "/net.py,class:Net",
                                       "--torchstone_checks=" + check, "--torchstone_modes=" + modes,
                                       "--torchstone_world=2"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return torchstone_.run(arguments);
  }

  nlohmann::json row() const { return torchstone_.results().at("results").at(0); }

  const Torchstone torchstone_;
};

TEST_F(TwoRanks, TrainAModuleAsOneProcessDoes) {
  const ProgramRun found = run({"--torchstone_backends=torch_compile:backend=aot_eager"});
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_THAT(std::string(row().at("name")),
              AllOf(HasSubstr("/Net_training_as_written_torch_compile"), EndsWith("_cpu_ddp_2")));
  EXPECT_EQ(row().at("outcome").at("status"), "pass") << row().dump(1);
  EXPECT_EQ(row().at("outcome").at("notes").at("ranks"), "2 of ddp, 8 gradients and parameters equal in all ranks");
}

TEST_F(TwoRanks, DivideTheDefaultBatchOfTheModule) {
  write_module("    def forward(self, x):\n        return super().forward(x)\n", ", batch_size=6", "batch_size");
  const ProgramRun found = run({"--torchstone_backends=torch_compile:backend=aot_eager"});
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  EXPECT_EQ(row().at("outcome").at("status"), "pass") << row().dump(1);
  EXPECT_EQ(row().at("batch_size"), 6);
}

// Dynamo breaks the graph at DDP, and then skips the frames of torch.nn.
TEST_F(TwoRanks, OfAModuleWithoutItsOwnForwardAreNotCompiled) {
  write_module("");
  run({"--torchstone_backends=torch_compile:backend=aot_eager"});
  EXPECT_EQ(row().at("outcome").at("status"), "not_compiled") << row().dump(1);
}

TEST_F(TwoRanks, ThatDoNotReduceGradientsAreRed) {
  std::ofstream(folder() + "/no_reduce.py")
      << "import torch\n"
         "torch.nn.parallel.DistributedDataParallel = lambda module, **options: module\n";
  const ProgramRun found =
      run({"--torchstone_backends=torch_compile:backend=eager", "--torchstone_python_import=no_reduce"});
  EXPECT_EQ(found.exit_code, 1) << found.out << found.err;
  EXPECT_EQ(row().at("outcome").at("status"), "fail_accuracy") << row().dump(1);
  EXPECT_THAT(row().at("outcome").at("reason"),
              StartsWith("the ranks disagree in phase ranks: rank 1 has another gradient of 0.weight than rank 0"));
}

TEST_F(TwoRanks, WithASlowExchangeScaleBadly) {
  std::ofstream(folder() + "/slow_exchange.py")
      << "import time, torch\n"
         "import torch.distributed as dist\n"
         "DDP = torch.nn.parallel.DistributedDataParallel\n"
         "def late(state, bucket):\n"
         "    time.sleep(0.1)\n"
         "    return dist.all_reduce(bucket.buffer() / 2, async_op=True).get_future().then(lambda done: "
         "done.value()[0])\n"
         "class Late(DDP):\n"
         "    def __init__(self, *args, **options):\n"
         "        super().__init__(*args, **options)\n"
         "        self.register_comm_hook(None, late)\n"
         "torch.nn.parallel.DistributedDataParallel = Late\n";
  const ProgramRun found =
      run({"--torchstone_backends=torch_compile:backend=aot_eager", "--torchstone_python_import=slow_exchange",
           "--torchstone_optimizer=sgd", "--torchstone_processes=2", "--torchstone_repeat=10",
           "--torchstone_iterations_per_run=1"},
          "training", "performance");
  EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  const auto outcome = row().at("outcome");
  EXPECT_EQ(outcome.at("status"), "pass") << row().dump(1);
  EXPECT_THAT(std::string(row().at("name")), EndsWith("_cpu_ddp_2"));
  const auto metric = [&](const std::string& name) { return outcome.at("metrics").at(name).get<double>(); };
  EXPECT_EQ(metric("processes"), 2);
  for (const std::string side : {"eager", "compiled"}) {
    EXPECT_GT(metric(side + "_ms"), 100) << side;
    EXPECT_LT(metric(side + "_one_rank_ms"), 100) << side << ": a single rank exchanges nothing";
    EXPECT_LT(metric(side + "_scaling_high"), 0.9) << side;
    EXPECT_LE(metric(side + "_scaling_low"), metric(side + "_scaling")) << side;
    EXPECT_GT(metric(side + "_exposed_pct"), 50) << side;
    EXPECT_GT(metric(side + "_exchange_cost_low"), 1) << side;
    EXPECT_GT(metric(side + "_peak_bytes"), 0) << side;
  }
  EXPECT_EQ(metric("rank_state_bytes"), 2 * 4 * 82) << "weights and gradients of 82 numbers";
  EXPECT_EQ(metric("recompiles"), 0) << "recompiles in the compared steps do not count";
  EXPECT_THAT(found.out, AllOf(HasSubstr("scaling "), HasSubstr("exposed ")));
}

TEST_F(TwoRanks, HaveNothingToExchangeInInference) {
  run({"--torchstone_backends=torch_compile:backend=eager"}, "inference");
  EXPECT_EQ(row().at("outcome").at("status"), "unsupported") << row().dump(1);
  EXPECT_THAT(row().at("outcome").at("reason"), HasSubstr("inference does not have"));
}

/// A C++ model without batch norm.
class TwoRanksOfCpp : public testing::Test {
 protected:
  ProgramRun run(const std::vector<std::string>& flags) const {
    std::vector<std::string> arguments{"--torchstone_only=lennard_jones", "--torchstone_checks=accuracy",
                                       "--torchstone_modes=training",     "--torchstone_dtypes=float32",
                                       "--torchstone_batch_size=8",       "--torchstone_world=2"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return torchstone_.run(arguments);
  }

  /// Expects that two ranks give the answer of one process. Skips the test if the device is missing, or if two ranks
  /// are unsupported on it for a reason that matches `missing`.
  void expect_the_answer_of_one_process(const std::string& device, const Matcher<std::string>& missing) const {
    const bool has_python = !std::string(TORCHSTONE_PYTHON).empty();
    const ProgramRun found =
        run({has_python ? "--torchstone_backends=torchscript,inductor" : "--torchstone_backends=torchscript",
             "--torchstone_device=" + device});
    if (found.exit_code == 2 && found.err.find("device cuda") != std::string::npos) GTEST_SKIP() << found.err;
    const auto rows = torchstone_.results().at("results");
    ASSERT_EQ(rows.size(), has_python ? 2U : 1U) << found.out << found.err;
    for (const auto& row : rows) {
      const auto& outcome = row.at("outcome");
      EXPECT_THAT(std::string(row.at("name")), EndsWith("_" + device + "_ddp_2"));
      if (outcome.at("status") == "unsupported") {
        EXPECT_THAT(outcome.at("reason").get<std::string>(), missing);
        GTEST_SKIP() << outcome.at("reason");
      }
      EXPECT_EQ(outcome.at("status"), "pass") << row.dump(1);
      EXPECT_EQ(outcome.at("notes").at("ranks"), "2 of ddp, 20 gradients and parameters equal in all ranks");
    }
    EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  }

  const Torchstone torchstone_;
};

TEST_F(TwoRanksOfCpp, TrainAsOneProcessDoes) { expect_the_answer_of_one_process("cpu", HasSubstr("libgloo-dev")); }

TEST_F(TwoRanksOfCpp, TrainAsOneProcessDoesOnCuda) {
  expect_the_answer_of_one_process("cuda", AnyOf(HasSubstr("each has a GPU of its own"), HasSubstr("headers of NCCL")));
}

TEST_F(TwoRanksOfCpp, HaveNoFsdp) {
  run({"--torchstone_backends=torchscript", "--torchstone_parallel=fsdp"});
  const auto row = torchstone_.results().at("results").at(0);
  EXPECT_EQ(row.at("outcome").at("status"), "unsupported") << row.dump(1);
  EXPECT_THAT(row.at("outcome").at("reason"), HasSubstr("only Python modules have fsdp"));
}

}  // namespace
}  // namespace torchstone
