#include "reports/run_info.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "reports/text.h"

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

}  // namespace
}  // namespace torchstone
