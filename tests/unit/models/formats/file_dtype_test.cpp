#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/named_value.h>

#include "models/formats/model_file.h"
#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::set<c10::ScalarType> dtypes_of(const ScriptFile& file) {
  std::set<c10::ScalarType> dtypes;
  script_model_info(file.path("net.pt"), file.path("inputs.pt"), &dtypes);
  return dtypes;
}

std::set<c10::ScalarType> dtypes_of(const std::vector<torch::ScalarType>& parameters, torch::ScalarType input) {
  torch::jit::Module module("net");
  for (size_t i = 0; i < parameters.size(); ++i)
    module.register_parameter("weight" + std::to_string(i), torch::ones({3}).to(parameters[i]), false);
  module.define("def forward(self, x, places):\n  return x\n");
  return dtypes_of(ScriptFile(module, {torch::ones({2}).to(input), torch::arange(2)}));
}

TEST(DtypesOfAFile, AreThoseOfItsParametersAndInputs) {
  EXPECT_THAT(dtypes_of({torch::kBFloat16, torch::kBFloat16}, torch::kBFloat16), ElementsAre(torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kFloat, torch::kBFloat16}, torch::kFloat),
              UnorderedElementsAre(torch::kFloat, torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kFloat}, torch::kHalf), UnorderedElementsAre(torch::kFloat, torch::kHalf));
  EXPECT_THAT(dtypes_of({torch::kLong}, torch::kHalf), ElementsAre(torch::kHalf));
  EXPECT_THAT(dtypes_of({}, torch::kLong), testing::IsEmpty());
}

TEST(DtypesOfAFile, HaveTheDtypeOfThePartsOfComplexNumbers) {
  EXPECT_THAT(dtypes_of({torch::kComplexFloat}, torch::kFloat), ElementsAre(torch::kFloat));
  EXPECT_THAT(dtypes_of({torch::kComplexDouble}, torch::kComplexDouble), ElementsAre(torch::kDouble));
  EXPECT_THAT(dtypes_of({torch::kComplexDouble}, torch::kFloat), UnorderedElementsAre(torch::kFloat, torch::kDouble));
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
  multiply_by(torch::tensor(2.0, torch::kDouble));  // a scalar as traces hold it, which must not count
  EXPECT_THAT(dtypes_of(ScriptFile(module, {torch::ones({3})})), UnorderedElementsAre(torch::kFloat, torch::kHalf));
  multiply_by(torch::ones({3}, torch::kBFloat16));
  EXPECT_THAT(dtypes_of(ScriptFile(module, {torch::ones({3})})),
              UnorderedElementsAre(torch::kFloat, torch::kHalf, torch::kBFloat16));
}

TEST(DtypesOfAFile, OfAnExportedProgramAreReadToo) {
  const std::string folder = TORCHSTONE_TEST_DIR "/oracles/exported/torch213/";
  EXPECT_THAT(dtypes_of_exported(folder + "plain.pt2"), ElementsAre(torch::kFloat));
  EXPECT_ANY_THROW(dtypes_of_exported(folder + "no_such.pt2"));
}

}  // namespace
}  // namespace torchstone::formats
