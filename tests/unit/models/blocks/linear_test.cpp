#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/blocks/basic_layers.h"

namespace torchstone {
namespace {

using testing::Contains;
using testing::Not;

std::vector<std::string>* called = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  called->emplace_back(function.name());
  return nullptr;
}

std::vector<std::string> operators_of(const std::function<void()>& call) {
  std::vector<std::string> names;
  called = &names;
  const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  call();
  at::removeCallback(handle);
  return names;
}

TEST(Linear, AddsItsBiasWithinTheProductForEachNumberOfDimensions) {
  nn::Linear layer(4, 6);
  torch::nn::Linear of_libtorch(4, 6);
  for (const auto& sizes : std::vector<std::vector<int64_t>>{{5, 4}, {2, 5, 4}, {2, 3, 5, 4}}) {
    const auto input = torch::randn(sizes);
    const auto names = operators_of([&] { layer(input); });
    EXPECT_THAT(names, Contains("aten::addmm")) << input.sizes();
    EXPECT_THAT(names, Not(Contains("aten::add_"))) << input.sizes();
  }
  EXPECT_THAT(operators_of([&] {
                of_libtorch(torch::randn({2, 5, 4}));
              }),
              Contains("aten::add_"))
      << "LibTorch's layer no longer needs a replacement";
}

TEST(Linear, ReturnsWhatTheLayerOfLibTorchDoes) {
  for (const bool has_bias : {true, false}) {
    nn::Linear layer(nn::LinearOptions(4, 6).bias(has_bias));
    for (const auto& sizes : std::vector<std::vector<int64_t>>{{5, 4}, {2, 5, 4}, {4}}) {
      const auto input = torch::randn(sizes);
      EXPECT_TRUE(layer(input).allclose(layer->torch::nn::LinearImpl::forward(input), 1e-5, 1e-6))
          << input.sizes() << has_bias;
    }
  }
}

}  // namespace
}  // namespace torchstone
