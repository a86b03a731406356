#include "models/formats/file_dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

using testing::ElementsAre;

std::set<c10::ScalarType> dtypes_of(const std::vector<torch::ScalarType>& parameters, torch::ScalarType input) {
  torch::jit::Module module("net");
  for (size_t i = 0; i < parameters.size(); ++i)
    module.register_parameter("weight" + std::to_string(i), torch::ones({3}).to(parameters[i]), false);
  module.define("def forward(self, x):\n  return x\n");
  const ScriptFile file(module, {torch::ones({2}).to(input), torch::arange(2)});
  return dtypes_of_file(file.path("net.pt"), file.path("inputs.pt"));
}

TEST(DtypesOfAFile, AreThoseOfItsParameters) {
  EXPECT_THAT(dtypes_of({torch::kBFloat16, torch::kBFloat16}, torch::kFloat), ElementsAre(torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kFloat, torch::kBFloat16}, torch::kFloat),
              testing::UnorderedElementsAre(torch::kFloat, torch::kBFloat16));
  EXPECT_THAT(dtypes_of({torch::kLong}, torch::kHalf), ElementsAre(torch::kHalf)) << "of the inputs";
  EXPECT_THAT(dtypes_of({}, torch::kLong), testing::IsEmpty());
}

TEST(DtypesOfAFile, OfAnExportedProgramAreReadToo) {
  const std::string folder = TORCHSTONE_TEST_DIR "/oracles/exported/torch213/";
  EXPECT_THAT(dtypes_of_file(folder + "plain.pt2", ""), ElementsAre(torch::kFloat));
  EXPECT_ANY_THROW(dtypes_of_file(folder + "no_such.pt2", ""));
}

}  // namespace
}  // namespace torchstone::formats
