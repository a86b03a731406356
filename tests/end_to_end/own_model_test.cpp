// The user's own model as a TorchScript file, without C++ code: the files of examples/own_pt.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AScriptFile, IsJudgedAndTimedWithoutALineOfCode) {
  const Torchstone torchstone;
  const std::string model = torchstone.out() + "/my.pt", inputs = torchstone.out() + "/inputs.pt";
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which makes the file";
  const std::string script = std::string(TORCHSTONE_SOURCE_DIR) + "/examples/own_pt/save_model.py";
  const ProgramRun made = run_program({TORCHSTONE_PYTHON, "-W", "ignore", script, torchstone.out()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const ProgramRun run = torchstone.run({"--torchstone_only=" + model, "--torchstone_inputs=" + inputs,
                                         "--torchstone_measure_budget=0.5", "--torchstone_modes=inference"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  int judged = 0, timed = 0, scripted = 0;
  const auto rows = torchstone.results().at("results");
  EXPECT_EQ(rows.size(), 4U) << "accuracy and performance, with TorchScript and Inductor";
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("suite"), "own");
    EXPECT_EQ(row.at("batch_size"), 4) << "the batch size of the inputs in the file";
    EXPECT_EQ(row.at("outcome").at("status"), "pass") << row.dump(1);
    judged += row.at("check") == "accuracy" && row.at("backend") == "inductor" ? 1 : 0;
    scripted += row.at("check") == "accuracy" && row.at("backend") == "torchscript" ? 1 : 0;
    timed += row.at("check") == "performance" && row.at("outcome").at("metrics").contains("speedup") ? 1 : 0;
  }
  const auto says_no_average =
      AllOf(Not(HasSubstr(" mini ")), Not(HasSubstr(">mini<")), Not(HasSubstr("geometric mean")),
            Not(HasSubstr("as expected")), Not(HasSubstr("pass rate")));
  EXPECT_THAT(run.out, AllOf(HasSubstr("\nTorchstone: my, "), HasSubstr("inductor, inference, float32: correct ("),
                             HasSubstr("torchscript, inference, float32: correct ("), says_no_average));
  EXPECT_THAT(read_file(torchstone.out() + "/report.html"),
              AllOf(HasSubstr("my: "), HasSubstr("inductor, inference, float32: correct ("), says_no_average));
  for (const auto& row : rows) EXPECT_EQ(row.at("preset"), "") << "a model file has no presets";
  EXPECT_GE(judged, 1);
  EXPECT_GE(scripted, 1);
  EXPECT_GE(timed, 1);
  const ProgramRun other = torchstone.run({"--torchstone_only=" + model, "--torchstone_inputs=" + inputs,
                                           "--torchstone_batch_size=6", "--torchstone_checks=accuracy",
                                           "--torchstone_backends=torchscript", "--torchstone_dtypes=float32,amp"});
  EXPECT_EQ(other.exit_code, 0) << other.out << other.err;
  const auto rows_of_six = torchstone.results().at("results");
  EXPECT_EQ(rows_of_six.size(), 4U) << "inference and training, float32 and autocast";
  // The inputs in the file have 4 × 8 elements. The batch size 6 in the rows therefore comes from the generated inputs.
  for (const auto& row : rows_of_six)
    EXPECT_EQ(row.at("batch_size"), 6) << "the batch size that ran, not the requested one";
}

TEST(AModelFile, IsJudgedInItsOwnDtype) {
  const Torchstone torchstone;
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which makes the files";
  const std::string script =
      "import sys, torch\n"
      "folder, x = sys.argv[1], torch.randn(4, 8)\n"
      "half = torch.nn.Linear(8, 8).to(torch.bfloat16)\n"
      "torch.export.save(torch.export.export(half, (x.bfloat16(),)), folder + '/half.pt2')\n"
      "mixed = torch.nn.Linear(8, 8)\n"
      "mixed.register_buffer('scale', torch.ones(8, dtype=torch.double))\n"
      "torch.jit.script(mixed).save(folder + '/mixed.pt')\n"
      "torch.save([x], folder + '/inputs.pt')\n";
  const ProgramRun made = run_program({TORCHSTONE_PYTHON, "-W", "ignore", "-c", script, torchstone.out()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::vector<std::string> cheap{"--torchstone_checks=accuracy", "--torchstone_modes=inference",
                                       "--torchstone_backends=torchscript"};
  const auto dtype_of = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), cheap.begin(), cheap.end());
    const ProgramRun run = torchstone.run(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    const auto row = torchstone.row("torchscript");
    EXPECT_THAT(row.at("name").get<std::string>(), HasSubstr(row.at("dtype").get<std::string>()));
    return row.at("dtype").get<std::string>();
  };
  const std::string half = "--torchstone_only=" + torchstone.out() + "/half.pt2";
  EXPECT_EQ(dtype_of({half}), "bfloat16");
  EXPECT_EQ(dtype_of({half, "--torchstone_dtypes=float32"}), "float32");
  EXPECT_EQ(dtype_of({"--torchstone_only=" + torchstone.out() + "/mixed.pt",
                      "--torchstone_inputs=" + torchstone.out() + "/inputs.pt"}),
            "as_written");
  EXPECT_EQ(torchstone.row("torchscript").at("outcome").at("notes").at("file_dtypes"),
            "float32, float64: as_written casts none of them, another dtype all");
}

TEST(AScriptFile, FindsItsOperatorsInALibrary) {
  const Torchstone torchstone;
  if (std::string(TORCHSTONE_PYTHON).empty()) GTEST_SKIP() << "built without a Python, which makes the file";
  const auto build = std::filesystem::path(TORCHSTONE_BINARY).parent_path().parent_path();
  const std::string library = build / "lib" / "libshifted_relu.so";
  const std::string script = std::string(TORCHSTONE_SOURCE_DIR) + "/tests/operator_library/save_model.py";
  const ProgramRun made = run_program({TORCHSTONE_PYTHON, "-W", "ignore", script, library, torchstone.out()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::vector<std::string> arguments{"--torchstone_only=" + torchstone.out() + "/library.pt",
                                           "--torchstone_inputs=" + torchstone.out() + "/inputs.pt",
                                           "--torchstone_checks=accuracy"};
  const auto with = [&](const std::string& argument) {
    std::vector<std::string> all = arguments;
    all.push_back(argument);
    return torchstone.run(all);
  };
  const ProgramRun without = torchstone.run(arguments);
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("needs the operator torchstone_test::shifted_relu"));
  EXPECT_THAT(with("--torchstone_library=/nowhere/lib.so").err, HasSubstr("library /nowhere/lib.so: no such file"));
  const ProgramRun run = with("--torchstone_library=" + library);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("inductor").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone.row("torchscript").at("outcome").at("status"), "pass");
}

TEST(AFileThatIsNoModel, IsAnErrorThatNamesIt) {
  const Torchstone torchstone;
  const std::string model = torchstone.out() + "/broken.pt";
  std::ofstream(model) << "this is no zip file";
  const ProgramRun run = torchstone.run({"--torchstone_only=" + model, "--torchstone_inputs=" + model});
  EXPECT_EQ(run.exit_code, 2) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("broken.pt"));
}

}  // namespace
}  // namespace torchstone
