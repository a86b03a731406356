// Linked into every test program. A test that starts a program which is itself a GoogleTest program (torchstone, or the
// test program again) must not hand its own share on: the child would run every n-th of its tests, or none.
#include <cstdlib>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

/// GoogleTest has read the variables when environments are set up.
class OwnShard : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"}) unsetenv(name);
  }
};

[[maybe_unused]] const auto* const own_shard = testing::AddGlobalTestEnvironment(new OwnShard);

}  // namespace
}  // namespace torchstone
