#include "models/formats/file_dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/named_value.h>

#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::set<c10::ScalarType> dtypes_of(const std::vector<torch::ScalarType>& parameters, torch::ScalarType input) {
  torch::jit::Module module("net");
  for (size_t i = 0; i < parameters.size(); ++i)
    module.register_parameter("weight" + std::to_string(i), torch::ones({3}).to(parameters[i]), false);
  module.define("def forward(self, x):\n  return x\n");
  const ScriptFile file(module, {torch::ones({2}).to(input), torch::arange(2)});
  return dtypes_of_file(file.path("net.pt"), file.path("inputs.pt"));
}

TEST(DtypesOfAFile, AreThoseOfItsParametersAndInputs) {
  EXPECT_THAT(dtypes_of({torch::kBFloat16, torch::kBFloat16}, torch::kBFloat16), ElementsAre(torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kFloat, torch::kBFloat16}, torch::kFloat),
              UnorderedElementsAre(torch::kFloat, torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kFloat}, torch::kHalf), UnorderedElementsAre(torch::kFloat, torch::kHalf));
  EXPECT_THAT(dtypes_of({torch::kLong}, torch::kHalf), ElementsAre(torch::kHalf));
  EXPECT_THAT(dtypes_of({}, torch::kLong), testing::IsEmpty());
}

TEST(DtypesOfAFile, AreThoseOfBuffersAndConstantsToo) {
  torch::jit::Module module("net");
  module.register_parameter("weight", torch::ones({3}), false);
  module.register_buffer("scale", torch::ones({3}).to(torch::kHalf));
  module.define("def forward(self, x):\n  return x + self.weight * self.scale\n");
  const auto graph = module.get_method("forward").graph();
  const auto multiply_by = [&](const torch::Tensor& value) {
    const torch::jit::WithInsertPoint end(graph->block()->return_node());
    graph->block()->replaceOutput(0, graph->insert(c10::aten::mul, {graph->outputs()[0], value}));
  };
  multiply_by(torch::tensor(2.0, torch::kDouble));  // a number of a trace
  const ScriptFile file(module, {torch::ones({3})});
  EXPECT_THAT(dtypes_of_file(file.path("net.pt"), file.path("inputs.pt")),
              UnorderedElementsAre(torch::kFloat, torch::kHalf));
  multiply_by(torch::ones({3}, torch::kBFloat16));
  const ScriptFile with_constant(module, {torch::ones({3})});
  EXPECT_THAT(dtypes_of_file(with_constant.path("net.pt"), with_constant.path("inputs.pt")),
              UnorderedElementsAre(torch::kFloat, torch::kHalf, torch::kBFloat16));
}

TEST(DtypesOfAFile, OfAnExportedProgramAreReadToo) {
  const std::string folder = TORCHSTONE_TEST_DIR "/oracles/exported/torch213/";
  EXPECT_THAT(dtypes_of_file(folder + "plain.pt2", ""), ElementsAre(torch::kFloat));
  EXPECT_ANY_THROW(dtypes_of_file(folder + "no_such.pt2", ""));
}

}  // namespace
}  // namespace torchstone::formats
