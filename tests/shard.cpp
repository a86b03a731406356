// Linked into every test program. Removes GoogleTest's sharding variables from the environment, because tests start
// other GoogleTest programs (torchstone, or the test program itself). With these variables, such a child would run only
// every n-th of its tests, or none.
#include <cstdlib>

#include <gtest/gtest.h>

namespace torchstone {
namespace {

/// GoogleTest has already read the variables when it sets up environments.
class OwnShard : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"}) unsetenv(name);
  }
};

[[maybe_unused]] const auto* const own_shard = testing::AddGlobalTestEnvironment(new OwnShard);

}  // namespace
}  // namespace torchstone
