// Casts of a model's parameters and buffers.
#include <gtest/gtest.h>
#include <torchstone/model.h>

#include "models/core/model_state.h"

namespace torchstone {
namespace {

struct EachKind : Model {
  EachKind() {
    register_parameter("real", torch::ones({2}));
    register_parameter("complex", torch::complex(torch::ones({2}), torch::full({2}, 3.0)));
    register_buffer("count", torch::zeros({2}, torch::kLong));
  }
  c10::IValue forward(const Tensors& inputs) override { return inputs.at(0); }
  Tensors example_inputs(const ModelOptions& /*options*/) const override { return {torch::ones({2})}; }
};

std::vector<torch::Dtype> dtypes_in(torch::Dtype dtype) {
  EachKind model;
  model.to(dtype);
  const State state = state_of(model);
  EXPECT_TRUE(torch::equal(torch::imag(state.at("complex")).to(torch::kDouble), torch::full({2}, 3, torch::kDouble)));
  return {state.at("real").scalar_type(), state.at("complex").scalar_type(), state.at("count").scalar_type()};
}

TEST(CastOfAModel, KeepsImaginaryPartsAndIntegers) {
  using Dtypes = std::vector<torch::Dtype>;
  EXPECT_EQ(dtypes_in(torch::kFloat), (Dtypes{torch::kFloat, torch::kComplexFloat, torch::kLong}));
  EXPECT_EQ(dtypes_in(torch::kDouble), (Dtypes{torch::kDouble, torch::kComplexDouble, torch::kLong}));
  EXPECT_EQ(dtypes_in(torch::kBFloat16), (Dtypes{torch::kBFloat16, torch::kComplexFloat, torch::kLong}));
  EXPECT_EQ(dtypes_in(torch::kHalf), (Dtypes{torch::kHalf, torch::kComplexFloat, torch::kLong}));
}

TEST(CastOfAModel, GivesComplex128ThePrecisionOfTheOthers) {
  EXPECT_EQ(dtype_after_cast(torch::kComplexDouble, torch::kFloat), torch::kComplexFloat);
  EXPECT_EQ(dtype_after_cast(torch::kComplexDouble, torch::kDouble), torch::kComplexDouble);
}

}  // namespace
}  // namespace torchstone
