// TORCHSTONE_MODEL with facts as chained calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"

namespace torchstone {
namespace {

struct DescribedByChain : Model {
  c10::IValue forward(const Tensors& inputs) override { return inputs.at(0) * 2; }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::ones({options.batch_size})}; }
};

struct DescribedWithOptions : DescribedByChain {
  explicit DescribedWithOptions(const ModelOptions& options) : batch(options.batch_size) {}
  int64_t batch;
};

TORCHSTONE_MODEL(DescribedByChain).name("described_by_chain").suite("described").batch_size(8).not_trained("no loss");
TORCHSTONE_MODEL(DescribedWithOptions);

TEST(ModelDescription, RegistersTheFactsOfTheChain) {
  const ModelInfo* info = find_model("described_by_chain");
  ASSERT_TRUE(info);
  EXPECT_THAT(info->suites, testing::ElementsAre("described"));
  EXPECT_EQ(info->family, "DescribedByChain");
  EXPECT_EQ(info->eval_batch, 8);
  EXPECT_EQ(info->train_batch, 8);
  EXPECT_EQ(info->not_trained, "no loss");
  EXPECT_TRUE(std::string(info->file).ends_with("model_description_test.cpp"));
  EXPECT_EQ(info->make({})->forward({torch::ones({1})}).toTensor().item<float>(), 2);
}

TEST(ModelDescription, NamesAModelByItsClassAndPassesOptionsToItsConstructor) {
  const ModelInfo* info = find_model("DescribedWithOptions");
  ASSERT_TRUE(info);
  const auto model = info->make({.batch_size = 5});
  EXPECT_EQ(dynamic_cast<const DescribedWithOptions&>(*model).batch, 5);
}

}  // namespace
}  // namespace torchstone
