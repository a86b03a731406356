#include <filesystem>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"
#include "tests/temporary_folder.h"

namespace torchstone {
namespace {

TEST(TheExampleOfTraining, BringsACompiledResNetWhereEagerArrives) {
  const TemporaryFolder folder;
  const auto& out = folder.path();
  const ProgramRun run = run_program(
      {TORCHSTONE_EXAMPLE, "--backend", "torchscript", "--steps", "60", "--batch", "8", "--side", "32", "--out", out});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, testing::HasSubstr("the last 6 steps: eager "));
  std::istringstream csv(read_file(out / "loss.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 61U);
  EXPECT_EQ(lines.front(), "step,eager,torchscript");
  const auto loss = [&](size_t line) { return std::stod(lines.at(line).substr(lines.at(line).rfind(',') + 1)); };
  EXPECT_LT(loss(60), 0.7 * loss(1)) << "the compiled model does not learn";
}

}  // namespace
}  // namespace torchstone
