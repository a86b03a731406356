// Secrets in the environment and on the command line reach no file of the results folder.
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Secrets, ReachNoFileOfTheResultsFolder) {
  const Torchstone torchstone;
  auto command = torchstone.faults_command("*/healthy_inference_*_torchscript_*");
  command.push_back("--torchstone_tag=https://user:planted-value@host");
  const auto run = run_program(command, {{"NVIDIA_API_KEY", "planted-value"},
                                         {"TORCH_SECRET", "planted-value"},
                                         {"CUDA_TOKEN", "planted-value"},
                                         {"LD_LIBRARY_PATH", "/nowhere:ftp://user:planted-value@host"},
                                         {"OMP_WAIT_POLICY", "passive"}});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("planted-value")));
  for (const char* writer : {"markdown", "openmetrics", "github", "benchmark_database"})
    EXPECT_EQ(
        run_program({TORCHSTONE_REPORT, writer, torchstone.out(), "-o", torchstone.out() + "/" + writer}).exit_code, 0);
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(torchstone.out())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    EXPECT_THAT(read_file(entry.path()), Not(HasSubstr("planted-value"))) << entry.path();
  }
  EXPECT_GT(files, 5u);
  const auto results = torchstone.results();
  EXPECT_EQ(results.at("environment").at("OMP_WAIT_POLICY"), "passive");
  EXPECT_FALSE(results.at("environment").contains("NVIDIA_API_KEY"));
}

}  // namespace
}  // namespace torchstone
