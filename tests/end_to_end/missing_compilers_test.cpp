// Backends that Torchstone knows by name but cannot run here. Their rows are `unsupported` with a reason, never green.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(MissingCompilers, AreUnsupportedRowsAndAloneTheyJudgeNothing) {
  const Torchstone torchstone;
  const ProgramRun run = torchstone.run({"--torchstone_suite=torchbench", "--torchstone_only=lennard_jones",
                                         "--torchstone_checks=accuracy", "--torchstone_modes=inference",
                                         "--torchstone_dtypes=float32", "--torchstone_backends=tensorrt,xla"});
  EXPECT_EQ(run.exit_code, 3) << run.out << run.err;
  for (const char* name : {"tensorrt", "xla"}) {
    const auto outcome = torchstone.row(std::string("/lennard_jones_inference_float32_") + name + "_cpu").at("outcome");
    EXPECT_EQ(outcome.at("status"), "unsupported") << outcome.dump(1);
    EXPECT_THAT(outcome.at("reason").get<std::string>(), HasSubstr(std::string(name) + ": Torchstone has no lowering"));
  }
}

/// This Python's torch has another version than the program's LibTorch.
TEST(MissingCompilers, APythonWithAnotherTorchEndsTheRunBeforeItsFirstCase) {
  const Torchstone torchstone;
  const std::string python = torchstone.out() + "/python";
  std::ofstream(python) << R"(#!/bin/sh
echo '{"file": "/version.py", "python": "3.11.0", "torch": "1.13.1", "torch_git": "", "triton": ""}'
)";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  std::vector<std::string> arguments{"--torchstone_suite=torchbench", "--torchstone_only=lennard_jones",
                                     "--torchstone_checks=accuracy",  "--torchstone_modes=inference",
                                     "--torchstone_dtypes=float32",   "--torchstone_backends=eager,inductor",
                                     "--torchstone_cache=off",        "--torchstone_python=" + python};
  const ProgramRun run = torchstone.run(arguments);
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("its torch is 1.13.1"), HasSubstr("LibTorch "), HasSubstr("--torchstone_python"),
                             HasSubstr(python)));
  EXPECT_THAT(run.out, Not(HasSubstr("PASS")));
  EXPECT_THAT(read_file(torchstone.out() + "/junit.xml"),
              AllOf(HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""), HasSubstr("exit code 4: the Python of the "),
                    HasSubstr("its torch is 1.13.1")));
  arguments.push_back("--gtest_filter=*_eager_cpu");
  const ProgramRun without = torchstone.run(arguments);
  EXPECT_EQ(without.exit_code, 0) << "no case needs Python: " << without.out << without.err;
}

}  // namespace
}  // namespace torchstone
