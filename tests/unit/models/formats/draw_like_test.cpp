#include <gtest/gtest.h>

#include "models/formats/script_inputs.h"

namespace torchstone::formats {
namespace {

TEST(DrawLike, GivesOtherNumbersWhereAllAreAlike) {
  for (const auto& example : {torch::ones({4, 8}), torch::zeros({4, 8}), torch::tensor(0.5)}) {
    const auto drawn = draw_like(example);
    EXPECT_EQ(drawn.sizes(), example.sizes());
    EXPECT_EQ(drawn.scalar_type(), example.scalar_type());
    EXPECT_FALSE(drawn.equal(example)) << example;
  }
}

TEST(DrawLike, StaysFiniteWhereSquaresOverflow) {
  torch::manual_seed(0);
  const auto drawn = draw_like(torch::randn({64}) * 1e30);
  EXPECT_TRUE(drawn.isfinite().all().item<bool>());
  EXPECT_GT(drawn.std().item<double>(), 1e29);
}

TEST(DrawLike, ShufflesIntegersAndMasks) {
  torch::manual_seed(0);
  const auto ids = torch::arange(50);
  const auto drawn = draw_like(ids);
  EXPECT_FALSE(drawn.equal(ids));
  EXPECT_TRUE(std::get<0>(drawn.sort()).equal(ids));
  EXPECT_EQ(draw_like(torch::full({4}, -INFINITY)).isinf().sum().item<int64_t>(), 4);
}

}  // namespace
}  // namespace torchstone::formats
