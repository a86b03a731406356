#include <filesystem>
#include <set>

#include <gmock/gmock.h>

#include "reports/base/secrets.h"
#include "reports/record/begin_run.h"
#include "reports/record/result_variables.h"
#include "tests/environment_variable.h"

namespace torchstone {
namespace {

TEST(BeginRun, KeepsTheCommandLineAndThePlace) {
  const char* argv[] = {"./torchstone", "--gtest_filter=*"};
  const RunInfo run = begin_run(2, argv);
  EXPECT_THAT(run.argv, testing::ElementsAre("./torchstone", "--gtest_filter=*"));
  EXPECT_EQ(run.directory, std::filesystem::current_path().string());
  EXPECT_TRUE(run.id.starts_with(run.started)) << run.id;
  EXPECT_EQ(run.started.back(), 'Z');
}

TEST(BeginRun, HidesSecretsOfTheCommandLine) {
  const char* argv[] = {"./torchstone", "--something-token=planted", "--password", "planted"};
  EXPECT_THAT(begin_run(4, argv).argv,
              testing::ElementsAre("./torchstone", "--something-token=[hidden]", "--password", "[hidden]"));
}

TEST(EnvironmentFacts, AreTakenByName) {
  const EnvironmentVariable listed("OMP_NUM_THREADS", "2"), own("TORCHSTONE_OUT", "a=b"), unlisted("OMP_NO_SUCH", "x");
  const Facts facts = environment_facts({"TORCHSTONE_OUT"});
  EXPECT_EQ(facts.at("OMP_NUM_THREADS"), "2");
  EXPECT_EQ(facts.at("TORCHSTONE_OUT"), "a=b");
  for (const char* name : {"OMP_NO_SUCH", "PATH", "HOME"}) EXPECT_FALSE(facts.contains(name)) << name;
}

TEST(EnvironmentFacts, HoldNoSecret) {
  const EnvironmentVariable planted("NVIDIA_API_KEY", "planted"), token("CUDA_TOKEN", "planted");
  const EnvironmentVariable secret("TORCH_SECRET", "planted"), address("LD_PRELOAD", "ftp://user:planted@host/lib.so");
  // A list that names them changes nothing.
  for (const auto& [name, value] : environment_facts({"NVIDIA_API_KEY", "TORCH_SECRET"}))
    EXPECT_THAT(value, testing::Not(testing::HasSubstr("planted"))) << name;
}

TEST(ResultVariables, AreNamedOnceAndNameNoSecret) {
  std::set<std::string_view> seen;
  for (const auto name : result_variables()) {
    EXPECT_TRUE(seen.insert(name).second) << name;
    EXPECT_FALSE(names_secret(name)) << name;
  }
}

}  // namespace
}  // namespace torchstone
