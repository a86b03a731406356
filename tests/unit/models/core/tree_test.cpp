#include "models/core/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/custom_class.h>

namespace torchstone {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

struct Opaque : torch::CustomClassHolder {};
const auto registered_opaque = torch::class_<Opaque>("torchstone_tests", "Opaque");

c10::IValue dict(const std::vector<std::pair<c10::IValue, c10::IValue>>& entries) {
  c10::impl::GenericDict values(
      entries.at(0).first.isString() ? c10::TypePtr(c10::StringType::get()) : c10::TypePtr(c10::IntType::get()),
      c10::AnyType::get());
  for (const auto& [key, value] : entries) values.insert(key, value);
  return values;
}

std::vector<std::string> steps_of(const std::vector<Child>& children) {
  std::vector<std::string> steps;
  for (const auto& child : children) steps.push_back(child.step);
  return steps;
}

TEST(Tree, ReadsADictInTheOrderOfInsertionAndSortsItByKeyOnlyForAComparison) {
  const auto words = dict({{"b", 1}, {"a", 2}}), numbers = dict({{10, 1}, {-1, 2}, {2, 3}});
  EXPECT_THAT(steps_of(children_of(words)), ElementsAre(".b", ".a"));
  EXPECT_THAT(steps_of(children_by_key(words)), ElementsAre(".a", ".b"));
  EXPECT_THAT(steps_of(children_of(numbers)), ElementsAre("[10]", "[-1]", "[2]"));
  EXPECT_THAT(steps_of(children_by_key(numbers)), ElementsAre("[-1]", "[2]", "[10]"));
}

TEST(Tree, RebuildsInTheOrderInWhichItFlattens) {
  const auto one = torch::ones(1), two = one + 1;
  const auto tree = dict({{"b", one}, {"a", c10::ivalue::Tuple::create({c10::IValue(), torch::Tensor(), two})}});
  const auto flat = flatten(tree);
  ASSERT_EQ(flat.size(), 2U);
  EXPECT_TRUE(flat[0].is_same(one));
  const auto rebuilt = rebuild(tree, {flat[1], flat[0]});
  EXPECT_TRUE(rebuilt.toGenericDict().at("b").toTensor().is_same(two));
  const auto found = leaves(rebuilt);
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[3].path, "a[2]");
  EXPECT_EQ(output_name(found[3].path), "output a[2]");
}

TEST(Tree, RebuildsListsWithTheirElementType) {
  const c10::IValue tensors = c10::List<torch::Tensor>({torch::ones(1)});
  EXPECT_TRUE(rebuild(tensors, {torch::zeros(2)}).isTensorList());
}

TEST(Tree, IsNotRebuiltFromAnotherNumberOfTensors) {
  const auto one = torch::ones(1);
  const auto pair = c10::ivalue::Tuple::create({one, one});
  EXPECT_THAT([&] { rebuild(pair, {one}); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("1 tensors for an output with 2")));
  EXPECT_THAT(
      [&] {
        rebuild(pair, {one, one, one});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("3 tensors for an output with 2")));
}

TEST(Tree, RefusesAnObjectBecauseItMayHideTensors) {
  const auto tree = dict({{"a", c10::ivalue::Tuple::create({1, c10::make_intrusive<Opaque>()})}});
  const auto message = HasSubstr("output a[1] is a Object: expected a tensor");
  EXPECT_THAT([&] { flatten(tree); }, ThrowsMessage<std::invalid_argument>(message));
  EXPECT_THAT([&] { leaves(tree); }, ThrowsMessage<std::invalid_argument>(message));
}

}  // namespace
}  // namespace torchstone
