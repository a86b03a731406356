#include "reports/base/process.h"

#include <gtest/gtest.h>

#include "tests/environment_variable.h"

namespace torchstone {
namespace {

TEST(EnvironmentVariableValue, IsEmptyWhenItIsNotSet) {
  EXPECT_EQ(environment_variable("TORCHSTONE_NO_SUCH_VARIABLE"), "");
  const EnvironmentVariable variable("TORCHSTONE_NO_SUCH_VARIABLE", "a value");
  EXPECT_EQ(environment_variable("TORCHSTONE_NO_SUCH_VARIABLE"), "a value");
}

}  // namespace
}  // namespace torchstone
