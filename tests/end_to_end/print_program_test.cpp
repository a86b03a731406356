// Captured programs printed by the real program.
#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::Not;

ProgramRun printed(const Torchstone& torchstone, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--torchstone_print_program");
  return torchstone.run(arguments);
}

TEST(PrintProgram, OfEachCaseThatTheFiltersLeave) {
  const Torchstone torchstone;
  const ProgramRun run = printed(torchstone, {"--torchstone_only=lennard_jones", "--torchstone_modes=inference",
                                              "--torchstone_dtypes=float32", "--gtest_filter=*Accuracy*"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out,
              testing::StartsWith("# torchbench/Accuracy.CompiledMatchesEager/lennard_jones_inference_float32_"));
  EXPECT_THAT(run.out, Not(HasSubstr("Performance")));
  EXPECT_THAT(run.out, HasSubstr("  %input0: float32[4, 1] on cpu\n"));
  EXPECT_THAT(run.out, HasSubstr(": float32[4, 16] = aten::tanh("));
  EXPECT_THAT(run.out, HasSubstr(" nodes; 865 parameters in 10 tensors; no buffers; aten::"));
  EXPECT_THAT(run.out, Not(HasSubstr("[=====")));
  EXPECT_FALSE(std::filesystem::exists(torchstone.out() + "/results.json")) << "printing a program runs no case";
  EXPECT_FALSE(std::filesystem::exists(torchstone.out() + "/logs"));
}

TEST(PrintProgram, OfABackendThatCapturesNothingIsThatOfTheModel) {
  const Torchstone torchstone;
  const ProgramRun run =
      printed(torchstone, {"--torchstone_only=lennard_jones", "--torchstone_modes=training", "--torchstone_dtypes=amp",
                           "--torchstone_checks=accuracy", "--torchstone_backends=eager", "--torchstone_format=json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto list = nlohmann::json::parse(run.out);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0]["cases"],
            nlohmann::json({"torchbench/Accuracy.CompiledMatchesEager/lennard_jones_training_amp_eager_cpu"}));
  const auto& program = list[0]["program"];
  EXPECT_EQ(program["autocast"], "bfloat16");
  EXPECT_EQ(program["training"]["parameters"].size(), 10U);
  EXPECT_EQ(program["result"][0]["sizes"], nlohmann::json::array());
}

TEST(PrintProgram, OfAModelThatCannotBeCapturedIsTheReasonAndTheRunIsRed) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*Accuracy*branches*torchscript*", {"--torchstone_print_program"});
  EXPECT_EQ(run.exit_code, torchstone.run_faults("*Accuracy*branches*torchscript*").exit_code);
  EXPECT_THAT(run.out, HasSubstr("\nfail_to_capture: "));
}

TEST(PrintProgram, OfACrashIsItsSignal) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run_faults("*Accuracy*segfaults*", {"--torchstone_print_program"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("\ncrash: crashed with SIG"));
}

TEST(PrintProgram, WithoutACaseIsNothingSelected) {
  const Torchstone torchstone;
  const ProgramRun run = printed(torchstone, {"--gtest_filter=*no_such_case*"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("nothing selected: no case matches --gtest_filter=*no_such_case*"));
}

TEST(PrintProgram, RefusesWhatItDoesNotGoWith) {
  const Torchstone torchstone;
  const ProgramRun list = printed(torchstone, {"--torchstone_list=cases"});
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_THAT(list.err, HasSubstr("goes with neither --torchstone_list nor --torchstone_explain"));
  const ProgramRun format = printed(torchstone, {"--torchstone_format=ctest"});
  EXPECT_EQ(format.exit_code, 2);
  EXPECT_THAT(format.err, HasSubstr("text or json"));
}

}  // namespace
}  // namespace torchstone
