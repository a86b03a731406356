// Torchstone gives verdicts while other programs still compile. The compile worker of these tests never answers.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CompilingForEver : public testing::Test {
 protected:
  CompilingForEver() {
    std::ofstream(python_) << "#!/bin/sh\n"
                              "case \"$*\" in *--serve*) exec sleep 60 ;; esac\n"
                              "exec '"
                           << TORCHSTONE_PYTHON << "' \"$@\"\n";
    fs::permissions(python_, fs::perms::owner_all);
  }

  ProgramRun run(const std::string& filter, const std::string& interrupt_when) const {
    return torchstone_.run(
        {"--torchstone_only=lennard_jones", "--gtest_filter=" + filter, "--torchstone_python=" + python_.string(),
         "--torchstone_heartbeat=1", "--torchstone_cache=" + (folder_.path() / "cache").string()},
        {}, interrupt_when);
  }

  const TemporaryFolder folder_;
  const fs::path python_ = folder_.path() / "python";
  const Torchstone torchstone_;
};

TEST_F(CompilingForEver, KeepsNoVerdictOfACaseThatNeedsNoCompile) {
  const std::string quick = "lennard_jones_inference_float32_torchscript_cpu ", slow = "compiling [0/1]";
  const ProgramRun run = this->run("*Accuracy*inference_float32*", slow);
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_THAT(run.out.substr(0, run.out.find(slow)), HasSubstr(quick)) << run.out;
  EXPECT_EQ(torchstone_.row("torchscript").at("outcome").at("status"), "pass");
  EXPECT_EQ(torchstone_.row("inductor").at("outcome").at("status"), "interrupted");
}

TEST_F(CompilingForEver, KeepsATimedCaseWaitingUntilCtrlC) {
  const ProgramRun run =
      this->run("*Performance*inference_float32_inductor*:*Accuracy*float32_inductor*", "compiling [0/");
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_EQ(torchstone_.row("Performance").at("outcome").at("status"), "interrupted");
}

/// In the output of --gtest_list_tests, suite names end with a dot.
TEST(OrderOfCases, IsWhatNeedsNoCompileThenWhatDoesAndTimedOnesLast) {
  const ProgramRun list = Torchstone().run({"--gtest_list_tests"});
  std::istringstream lines(list.out);
  bool timed = false, compiled = false;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(".")) {
      EXPECT_FALSE(timed && line.find("Performance") == std::string::npos) << line;
      timed = timed || line.find("Performance") != std::string::npos;
      compiled = false;
    } else if (line.starts_with("  ")) {
      const bool compiles = line.find("_inductor_") != std::string::npos;
      EXPECT_FALSE(compiled && !compiles && !TORCHSTONE_GTEST_ORDERS_BY_PLACE) << line;
      compiled = compiled || compiles;
      ++rows;
    }
  }
  EXPECT_GT(rows, 100);
  EXPECT_TRUE(timed);
}

}  // namespace
}  // namespace torchstone
