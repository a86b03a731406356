// Calls of operators in exported programs must have the arguments that Python passes.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/formats/exported/graph_reader.h"

namespace torchstone::formats::exported {
namespace {

TEST(CallsOfPrograms, HaveAnUndefinedTensorForNoneWhereTheSchemaWantsOne) {
  const nlohmann::json none = {{"as_none", true}};
  const nlohmann::json node = {{"target", "torch.ops.aten.linear.default"},
                               {"inputs", {{{"name", "input"}, {"arg", none}}, {{"name", "weight"}, {"arg", none}}}}};
  const nlohmann::json graph = nlohmann::json::object();
  const auto step = call_of({node, "node"}, {graph, "graph"}, Scope(), Program());
  ASSERT_EQ(step.arguments.size(), 3);
  ASSERT_TRUE(step.arguments[0].constant.isTensor());
  EXPECT_FALSE(step.arguments[0].constant.toTensor().defined());
  EXPECT_TRUE(step.arguments[2].constant.isNone()) << "the bias is optional";
}

}  // namespace
}  // namespace torchstone::formats::exported
