// The program in places that are not a developer's shell: without descriptors, without rights, with a clock that jumps.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const char* const healthy = "*/healthy_inference_float32_torchscript_cpu";

/// A daemon's parent closes what it does not need; "cmd >&-" does so too.
class ClosedDescriptors : public testing::TestWithParam<const char*> {};

TEST_P(ClosedDescriptors, MakeNoCaseCrash) {
  const Torchstone torchstone;
  std::vector<std::string> command{"/bin/sh", "-c", std::string("exec \"$0\" \"$@\" ") + GetParam()};
  for (const auto& word : torchstone.faults_command(healthy)) command.push_back(word);
  const ProgramRun run = run_program(command);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(torchstone.row("healthy").at("outcome").at("status"), "pass");
}

INSTANTIATE_TEST_SUITE_P(Each, ClosedDescriptors, testing::Values("<&-", ">&-", "2>&-", "<&- >&- 2>&-"),
                         [](const auto& info) { return "case_" + std::to_string(info.index); });

TEST(ClosedDescriptors, AreNoMatterToTheReportToolEither) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "results.json") << "{}";
  const ProgramRun run =
      run_program({"/bin/sh", "-c", "exec \"$0\" csv \"$1\" -o \"$1\" 2>&-", TORCHSTONE_REPORT, folder.path()});
  EXPECT_EQ(run.exit_code, 2);
  std::ifstream file(folder.path() / "results.json");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "{}");  // no message went into it
}

}  // namespace
}  // namespace torchstone
