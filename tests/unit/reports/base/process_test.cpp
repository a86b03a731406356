#include "reports/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/environment_variable.h"

namespace torchstone {
namespace {

using testing::ElementsAre;

TEST(EnvironmentVariableValue, IsEmptyWhenItIsNotSet) {
  EXPECT_EQ(environment_variable("TORCHSTONE_NO_SUCH_VARIABLE"), "");
  const EnvironmentVariable variable("TORCHSTONE_NO_SUCH_VARIABLE", "a value");
  EXPECT_EQ(environment_variable("TORCHSTONE_NO_SUCH_VARIABLE"), "a value");
}

TEST(Secrets, AreKnownByTheirNames) {
  for (const char* name : {"NVIDIA_API_KEY", "TORCH_SECRET", "CUDA_TOKEN", "--api-token", "db_password",
                           "AWS_CREDENTIALS", "HTTP_AUTH", "PGPASSWD", "--passphrase"})
    EXPECT_TRUE(names_secret(name)) << name;
  for (const char* name :
       {"OMP_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF", "TORCHSTONE_CACHE", "--gtest_filter", "LD_PRELOAD"})
    EXPECT_FALSE(names_secret(name)) << name;
}

TEST(Secrets, AreKnownByTheirLooks) {
  for (const char* value : {"redis://user:pa55@host/0", "see https://:pa55@host",
                            "ghp_0123456789abcdefghijABCDEFGHIJ012345", "x=hf_0123456789abcdefghijABCDEFGHIJ0123",
                            "AKIAIOSFODNN7EXAMPLE", "-----BEGIN RSA PRIVATE KEY-----", "nvapi-0123456789abcdef"})
    EXPECT_TRUE(looks_secret(value)) << value;
  for (const char* value :
       {"https://host:8080/path@2", "hf_Bert_large_inference_float32_eager_cpu", "/opt/lib:/usr/lib",
        "*attention*:-*token*", "task-0123456789abcdefgh", "user@host", "http://host/?a=b:c@d", ""})
    EXPECT_FALSE(looks_secret(value)) << value;
}

TEST(Secrets, AreHiddenInCommands) {
  EXPECT_THAT(without_secrets({"run", "--api-token=X", "--api-token", "Y", "--auth", "--verbose", "TOKEN=Z", "--key="}),
              ElementsAre("run", "--api-token=[hidden]", "--api-token", "[hidden]", "--auth", "--verbose",
                          "TOKEN=[hidden]", "--key="));
  EXPECT_THAT(without_secrets({"--url=https://u:p@h", "https://u:p@h", "--gtest_filter=*token*"}),
              ElementsAre("--url=[hidden]", "[hidden]", "--gtest_filter=*token*"));
}

}  // namespace
}  // namespace torchstone
