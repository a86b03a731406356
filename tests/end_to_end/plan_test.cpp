// torchstone-report plan for lists and results of the real program, and the verdict on merged chunks.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/end_to_end/binary.h"

namespace torchstone {
namespace {

using testing::HasSubstr;

TEST(Plan, DividesARunIntoChunksThatRunAlone) {
  const Torchstone whole, chunk;
  whole.run_faults("*/healthy_inference_*:*/unchanged_inference_*",
                   {"--torchstone_checks=accuracy", "--torchstone_backends=eager"});
  const size_t cases = whole.results().at("results").size();
  ASSERT_GT(cases, 1U);
  const ProgramRun planned =
      run_program({TORCHSTONE_REPORT, "plan", whole.out(), "--length", "0.001", "--format", "json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto plan = nlohmann::json::parse(planned.out);
  EXPECT_EQ(plan.at("chunks").size(), cases) << "every case is longer than a chunk";
  EXPECT_THAT(plan.at("assumed"), testing::IsEmpty());
  // The filter of a chunk comes from a file, as on Slurm and Kubernetes.
  const std::string name = plan.at("chunks").at(0).at("cases").at(0), file = chunk.out() + "/flags";
  std::ofstream(file) << "--gtest_filter=" << name << "\n";
  auto command = chunk.faults_command(
      "", {"--torchstone_checks=accuracy", "--torchstone_backends=eager", "--gtest_flagfile=" + file});
  std::erase_if(command, [](const std::string& word) { return word.starts_with("--gtest_filter"); });
  run_program(command);
  EXPECT_EQ(chunk.row("").at("name"), name);
}

TEST(Plan, MergedResultsHaveTheExitCodeOfOneRun) {
  const Torchstone right, wrong, merged;
  const std::vector<std::string> eager{"--torchstone_checks=accuracy", "--torchstone_backends=eager"};
  right.run_faults("*/healthy_inference_*", eager);
  const int code = wrong.run_faults("*/segfaults_*", eager).exit_code;
  ASSERT_EQ(code, 4);
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", right.out(), wrong.out(), "-o", merged.out()}).exit_code, 0);
  EXPECT_EQ(
      run_program({TORCHSTONE_REPORT, "merge", "--exit-code", right.out(), wrong.out(), "-o", merged.out()}).exit_code,
      code);
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "merge", "--exit-code", right.out(), "-o", merged.out()}).exit_code, 0);
}

TEST(Plan, RefusesWhatItCannotUse) {
  EXPECT_EQ(run_program({TORCHSTONE_REPORT, "plan", "--length", "1"}).exit_code, 2);
  EXPECT_THAT(run_program({TORCHSTONE_REPORT, "plan", "/dev/null", "--length", "0"}).err, HasSubstr("above 0"));
  const ProgramRun no_image =
      run_program({TORCHSTONE_REPORT, "plan", "--cases", "/dev/null", "--length", "1", "--format", "k8s"});
  EXPECT_EQ(no_image.exit_code, 2);
  EXPECT_THAT(no_image.err, HasSubstr("--image"));
}

}  // namespace
}  // namespace torchstone
