#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "reports/base/text.h"
#include "reports/record/begin_run.h"

namespace torchstone {
namespace {

TEST(MachineFacts, HoldNumbersWhereNumbersBelongAndNothingEmpty) {
  const Facts facts = machine_facts();
  for (const char* key : {"cores", "usable_cores", "memory_bytes", "load_average"}) {
    ASSERT_TRUE(facts.contains(key)) << key;
    EXPECT_TRUE(parse_number(facts.at(key)).has_value()) << key << " " << facts.at(key);
  }
  for (const auto& [key, value] : facts) EXPECT_FALSE(value.empty()) << key;
}

TEST(MachineFacts, NameTheHostOnlyByAHash) {
  const std::string host = machine_facts().at("host");
  EXPECT_EQ(host.size(), 16u);
  EXPECT_EQ(host.find_first_not_of("0123456789abcdef"), std::string::npos) << host;
  EXPECT_EQ(host, machine_facts().at("host"));
}

TEST(BeginRun, KeepsTheCommandLineAndThePlace) {
  const char* argv[] = {"./torchstone", "--gtest_filter=*"};
  const RunInfo run = begin_run(2, argv);
  EXPECT_THAT(run.argv, testing::ElementsAre("./torchstone", "--gtest_filter=*"));
  EXPECT_EQ(run.directory, std::filesystem::current_path().string());
  EXPECT_TRUE(run.id.starts_with(run.started)) << run.id;
  EXPECT_EQ(run.started.back(), 'Z');
}

TEST(EnvironmentFacts, HoldWhatLibrariesListenToAndNothingElse) {
  setenv("OMP_TORCHSTONE_TEST", "a=b", 1);
  setenv("SECRET_OMP_TORCHSTONE_TEST", "x", 1);
  const Facts facts = environment_facts();
  unsetenv("OMP_TORCHSTONE_TEST");
  unsetenv("SECRET_OMP_TORCHSTONE_TEST");
  EXPECT_EQ(facts.at("OMP_TORCHSTONE_TEST"), "a=b");
  EXPECT_FALSE(facts.contains("SECRET_OMP_TORCHSTONE_TEST"));
  EXPECT_FALSE(facts.contains("PATH"));
}

}  // namespace
}  // namespace torchstone
