// The two forms of RepVGG must give the same answer. This check needs no oracle.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "tests/oracles/counter_fill.h"

namespace torchstone {
namespace {

/// Kernel and bias of a convolution.
struct Affine {
  torch::Tensor kernel, bias;
};

/// Merges a convolution with `kernel` and the batch norm after it, in evaluation mode.
Affine merged(torch::Tensor kernel, const State& state, const std::string& norm) {
  const auto at = [&](const char* name) { return state.at(norm + "." + name); };
  const auto scale = at("weight") / (at("running_var") + 1e-5).sqrt();
  return {kernel * scale.view({-1, 1, 1, 1}), at("bias") - at("running_mean") * scale};
}

/// Returns the three branches of the block `name` as one 3x3 convolution.
Affine one_convolution(const State& state, const std::string& name) {
  const auto wide = state.at(name + ".conv_kxk.conv.weight"), point = state.at(name + ".conv_1x1.conv.weight");
  auto sum = merged(wide, state, name + ".conv_kxk.bn");
  const auto add = [&](const torch::Tensor& kernel, const std::string& norm) {
    const auto branch = merged(torch::constant_pad_nd(kernel, {1, 1, 1, 1}), state, norm);
    sum = {sum.kernel + branch.kernel, sum.bias + branch.bias};
  };
  add(point, name + ".conv_1x1.bn");
  if (state.count(name + ".identity.weight")) {
    add(torch::eye(wide.size(0)).view({wide.size(0), -1, 1, 1}), name + ".identity");
  }
  return sum;
}

TEST(RepVgg, TheDeployedFormAnswersAsTheTrainedOne) {
  torch::NoGradGuard no_grad;
  const ModelOptions options{.batch_size = 2};
  const auto trained = find_model("repvgg_a2")->make(options),
             deployed = find_model("repvgg_a2_deployed")->make(options);
  trained->eval();
  deployed->eval();
  counter_fill(*trained);
  const auto from = state_of(*trained);
  for (auto& [name, tensor] : state_of(*deployed)) {
    const auto block = name.substr(0, name.find(".reparam_conv"));
    auto target = tensor;
    if (block == name) {
      target.copy_(from.at(name));  // the classifier
    } else {
      const auto whole = one_convolution(from, block);
      target.copy_(name.ends_with("weight") ? whole.kernel : whole.bias);
    }
  }
  const auto inputs = trained->example_inputs(options);
  const auto expected = trained->forward(inputs).toTensor(), found = deployed->forward(inputs).toTensor();
  EXPECT_LE((found - expected).abs().max().item<double>(), 1e-5 * expected.abs().max().item<double>());
  EXPECT_GT(expected.std().item<double>(), 0.1);
}

}  // namespace
}  // namespace torchstone
