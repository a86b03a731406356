// One's own model: a TorchScript file without a line of code, and a plug-in built against the installed package.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

constexpr const char* make_script = R"(
import sys, torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(8, 16), torch.nn.Linear(16, 3)
    def forward(self, x):
        return self.b(torch.relu(self.a(x))).softmax(-1)
torch.manual_seed(0)
torch.jit.trace(Net().eval(), torch.randn(4, 8)).save(sys.argv[1])
torch.save([torch.randn(4, 8)], sys.argv[2])
)";

TEST(AScriptFile, IsJudgedAndTimedWithoutALineOfCode) {
  const Torchstone torchstone;
  const std::string model = torchstone.out() + "/my.pt", inputs = torchstone.out() + "/inputs.pt";
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which makes the file";
  const ProgramRun made = run_program({TORCHSTONE_PYTHON, "-W", "ignore", "-c", make_script, model, inputs});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProgramRun run = torchstone.run(
      {"--torchstone_only=" + model, "--torchstone_inputs=" + inputs, "--torchstone_measure_budget=0.5"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  int judged = 0, timed = 0, scripted = 0;
  const auto rows = torchstone.results().at("results");
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
    judged += row.at("check") == "accuracy" && row.at("backend") == "inductor" ? 1 : 0;
    scripted += row.at("check") == "accuracy" && row.at("backend") == "torchscript" ? 1 : 0;
    timed += row.at("check") == "performance" && row.at("outcome").at("metrics").contains("speedup") ? 1 : 0;
  }
  EXPECT_GE(judged, 1);
  EXPECT_GE(scripted, 1);
  EXPECT_GE(timed, 1);
}

TEST(AFileThatIsNoModel, IsAnErrorThatNamesIt) {
  const Torchstone torchstone;
  const std::string model = torchstone.out() + "/broken.pt";
  std::ofstream(model) << "this is no zip file";
  const ProgramRun run = torchstone.run({"--torchstone_only=" + model, "--torchstone_inputs=" + model});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("broken.pt"));
}

TEST(AnInstalledPackage, BuildsAPlugInWhoseModelIsJudged) {
  const Torchstone torchstone;
  const std::string prefix = torchstone.out() + "/prefix", build = torchstone.out() + "/build";
  const ProgramRun installed = run_program({TORCHSTONE_CMAKE, "--install", TORCHSTONE_BUILD_DIR, "--prefix", prefix});
  ASSERT_EQ(installed.exit_code, 0) << installed.out << installed.err;
  const ProgramRun configured =
      run_program({TORCHSTONE_CMAKE, "-G", "Ninja", "-S", std::string(TORCHSTONE_TEST_DIR) + "/end_to_end/consumer",
                   "-B", build, "-DCMAKE_PREFIX_PATH=" + prefix});
  ASSERT_EQ(configured.exit_code, 0) << configured.out << configured.err;
  const ProgramRun built = run_program({TORCHSTONE_CMAKE, "--build", build});
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;
  const ProgramRun run = run_program({prefix + "/bin/torchstone", "--torchstone_plugin=" + build + "/libmy_models.so",
                                      "--torchstone_only=tiny_mlp", "--torchstone_checks=accuracy",
                                      "--torchstone_backends=torchscript", "--torchstone_out=" + torchstone.out()});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("tiny_mlp_inference_float32_torchscript").at("outcome").at("status"), "pass");
}

TEST(APlugInThatIsNone, IsAnErrorThatNamesIt) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_plugin=/no/such/libplugin.so"});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("libplugin.so"));
}

}  // namespace
}  // namespace torchstone
