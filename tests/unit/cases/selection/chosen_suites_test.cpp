#include <algorithm>

#include <gtest/gtest.h>

#include "cases/selection/expand.h"
#include "models/core/registry.h"
#include "tests/unit/cases/selection/expanded.h"

namespace torchstone::selection {
namespace {

using test::flags_of;
using testing::ElementsAre;

TEST(Expand, OnlyTakesAModelThatNoSuiteLists) {
  const Expanded third(two_rows, {"--torchstone_only=third.v2", "--torchstone_checks=performance"});
  EXPECT_THAT(third.names(),
              ElementsAre("small/Performance.CompiledAgainstEager/third_v2_inference_float32_inductor_cpu"));
  EXPECT_EQ(third.at("third").batch_size, 1);
  EXPECT_EQ(third.at("third").file, "zoo.cpp");
  EXPECT_EQ(Expanded(two_rows, {"--torchstone_only=thrid.v2"}).error,
            "flag --torchstone_only=thrid.v2: unknown model thrid.v2 (expected one of first, second, third.v2; did you "
            "mean third.v2?)");
}

TEST(Expand, OnlyRunsTheRowsThatAreKeptToOtherModelsForBrevity) {
  const std::string rows =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [inductor]}\n"
      "  - {checks: [performance], backends: [inductor], models: [first]}\n"
      "  - {checks: [performance], backends: [eager], models: [first]}\n"
      "  - {checks: [performance], backends: [torchscript], models: [first], required_speedup: 2}\n"
      "models: [first, second]\n";
  EXPECT_EQ(Expanded(rows).names().size(), 2U + 3U);
  // Not the control, and not the row whose requirement was measured on its model.
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=second"}).names(),
              ElementsAre("small/Accuracy.CompiledMatchesEager/second_inference_float32_inductor_cpu",
                          "small/Performance.CompiledAgainstEager/second_inference_float32_inductor_cpu"));
  EXPECT_EQ(Expanded(rows, {"--torchstone_only=first"}).names().size(), 1U + 3U);
}

TEST(Expand, OnlyRunsACombinationOnceWhoseModelsAreSharedOutAmongRows) {
  const std::string rows =
      "suite: small\nmatrix:\n  - {checks: [accuracy], backends: [torchscript, inductor], models: [first]}\n"
      "  - {checks: [accuracy], backends: [torchscript], models: [second]}\nmodels: [first, second]\n";
  EXPECT_THAT(Expanded(rows, {"--torchstone_only=third.v2"}).names(),
              ElementsAre("small/Accuracy.CompiledMatchesEager/third_v2_inference_float32_torchscript_cpu",
                          "small/Accuracy.CompiledMatchesEager/third_v2_inference_float32_inductor_cpu"));
}

TEST(Expand, OnlyNamesATorchscriptFileByItsStem) {
  const flags::Flags flags = flags_of({"--torchstone_only=dir/my-net.v2.pt"});
  EXPECT_TRUE(only_is_file(flags));
  EXPECT_EQ(only_model(flags), "my_net_v2");
  EXPECT_TRUE(flags.only.starts_with("/"));
  EXPECT_FALSE(only_is_file(flags_of({"--torchstone_only=resnet18"})));
}

}  // namespace
}  // namespace torchstone::selection
