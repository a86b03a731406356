#include "models/fastrnns/lstm_model.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include "models/fastrnns/scripts.h"

namespace torchstone::fastrnns {

LstmModel::LstmModel(const RecurrentSizes& sizes, int64_t most_layers) : sizes_(sizes) {
  if (sizes.layers > most_layers) {
    throw std::invalid_argument(
        fmt::format("this runner has {} layer, {} are asked for (expected --torchstone_layers=1 "
                    "or another runner: lstm_jit_multilayer)",
                    most_layers, sizes.layers));
  }
  const double bound = 1 / std::sqrt(static_cast<double>(sizes.hidden));
  for (int64_t layer = 0; layer < sizes.layers; ++layer) {
    const auto add = [&](const char* name, at::IntArrayRef shape) {
      register_parameter(fmt::format("{}_l{}", name, layer), torch::empty(shape).uniform_(-bound, bound));
    };
    add("weight_ih", {4 * sizes.hidden, layer == 0 ? sizes.input : sizes.hidden});
    add("weight_hh", {4 * sizes.hidden, sizes.hidden});
    add("bias_ih", {4 * sizes.hidden});
    add("bias_hh", {4 * sizes.hidden});
  }
}

Tensors LstmModel::weights() const { return parameters(/*recurse=*/false); }

Tensors LstmModel::example_inputs(const ModelOptions& options) const {
  const auto state = [&] { return torch::randn({sizes_.layers, options.batch_size, sizes_.hidden}); };
  const auto x = torch::randn({sizes_.steps, options.batch_size, sizes_.input});
  const auto h = state();
  return {x, h, state()};
}

std::pair<torch::Tensor, torch::Tensor> lstm_step(const torch::Tensor& x, const torch::Tensor& h,
                                                  const torch::Tensor& c, const Tensors& weights) {
  const auto gates =
      (torch::mm(x, weights[0].t()) + torch::mm(h, weights[1].t()) + weights[2] + weights[3]).chunk(4, 1);
  const auto next_c = torch::sigmoid(gates[1]) * c + torch::sigmoid(gates[0]) * torch::tanh(gates[2]);
  return {torch::sigmoid(gates[3]) * torch::tanh(next_c), next_c};
}

c10::IValue lstm_loop(const Tensors& inputs, const Tensors& weights) {
  auto h = inputs.at(1)[0], c = inputs.at(2)[0];
  Tensors outputs;
  for (const auto& x : inputs.at(0).unbind(0)) {
    std::tie(h, c) = lstm_step(x, h, c, weights);
    outputs.push_back(h);
  }
  return std::make_tuple(torch::stack(outputs), h.unsqueeze(0), c.unsqueeze(0));
}

c10::IValue run_script(const std::string& function, std::vector<c10::IValue> arguments) {
  auto& script = lstm_scripts().get_function(function);
  if (!torch::jit::tracer::isTracing()) return script(std::move(arguments));
  // The script's own executor may have differentiated its loops by now: a trace of that has no gradients.
  const auto graph = torch::jit::toGraphFunction(script).graph()->copy();
  torch::jit::Inline(*graph);
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  torch::jit::GraphExecutor(graph, function).run(arguments);
  return arguments.front();
}

}  // namespace torchstone::fastrnns
