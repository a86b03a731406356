#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cases/config/case_field.h"
#include "cases/flags/flags.h"
#include "cases/listing/listing.h"
#include "cases/policy/policy.h"

namespace torchstone::listing {
namespace {

using testing::HasSubstr;

TEST(ReferencePage, IsDocsFlagsMd) {
  std::ifstream file(TORCHSTONE_SOURCE_DIR "/docs/flags.md");
  const std::string written{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(written, reference_page())
      << "docs/flags.md is not what the program says. Mend it by:\n"
         "  torchstone --torchstone_list=flags --torchstone_format=markdown > docs/flags.md";
}

TEST(ReferencePage, HasEveryFlagFieldAndPolicyKey) {
  const std::string page = reference_page();
  for (const auto& flag : flags::flag_table()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| `--torchstone_{}`", flag.name)));
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", environment_name(flag))));
  }
  for (const auto& field : config::case_fields()) EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", field.name)));
  for (const auto& key : policy::policy_schema()) EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` |", key.path)));
}

TEST(ReferencePage, StatesRangeDefaultAndMeaningOfAField) {
  EXPECT_THAT(
      reference_page(),
      HasSubstr("\n| `time_limit_s` | `time_limit` | `--torchstone_time_limit` | `SECONDS`, 1 to 86400 | 300 | of "
                "one case |\n"));
  EXPECT_THAT(
      reference_page(),
      HasSubstr("\n| `--torchstone_npy` or `--torchstone_dump_raw_metrics` | `TORCHSTONE_NPY` | `BOOL` | false |"));
  EXPECT_THAT(reference_page(), HasSubstr("`none\\|sgd\\|adam`"));
}

}  // namespace
}  // namespace torchstone::listing
