// Numbers in exported programs must be computed as in Python.
#include <gmock/gmock.h>

#include "models/formats/exported/graph_reader.h"

namespace torchstone::formats::exported {
namespace {

c10::IValue computed(const std::string& target, std::vector<c10::IValue> arguments) {
  const auto function = number_function(target);
  if (!function) throw std::runtime_error("no function " + target);
  return function(arguments);
}

constexpr int64_t largest = INT64_MAX;

TEST(NumbersOfPrograms, RoundAsPythonDoes) {
  EXPECT_EQ(computed("_operator.floordiv", {-7, 2}).toInt(), -4);
  EXPECT_EQ(computed("_operator.mod", {-7, 2}).toInt(), 1);
  EXPECT_EQ(computed("_operator.mod", {7, -2}).toInt(), -1);
  EXPECT_EQ(computed("_operator.truediv", {7, 2}).toDouble(), 3.5);
  EXPECT_EQ(computed("_operator.mul", {3, 0.5}).toDouble(), 1.5);
  EXPECT_EQ(computed("_operator.pow", {-3, 3}).toInt(), -27);
  EXPECT_EQ(computed("math.trunc", {-2.7}).toInt(), -2);
  EXPECT_EQ(computed("torch.sym_max", {3, 5}).toInt(), 5);
  EXPECT_TRUE(computed("_operator.lt", {2, 2.5}).toBool());
  EXPECT_EQ(computed("torch.ops.aten.sym_size.int", {torch::zeros({2, 3}), -1}).toInt(), 3);
}

TEST(NumbersOfPrograms, ThatHaveNoValueAreErrors) {
  EXPECT_THROW(computed("_operator.floordiv", {1, 0}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.mod", {1, 0}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.add", {largest, 1}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.floordiv", {INT64_MIN, -1}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.pow", {10, 30}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.add", {1}), std::invalid_argument);
  EXPECT_THROW(computed("_operator.add", {"1", 1}), std::invalid_argument);
  EXPECT_THROW(computed("torch.ops.aten._assert_scalar.default", {false, "rows >= 2"}), std::invalid_argument);
  EXPECT_EQ(number_function("torch.ops.aten.add.Tensor"), nullptr);
}

}  // namespace
}  // namespace torchstone::formats::exported
