#include "models/fastrnns/lstm_model.h"

#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

namespace torchstone::fastrnns {
namespace {

// The order of the gates is input, forget, cell, output: c' = σ(f)·c + σ(i)·tanh(g), h' = σ(o)·tanh(c').
constexpr const char* source = R"JIT(
def step(gates, c) -> Tuple[Tensor, Tensor]:
    i, f, g, o = gates.chunk(4, 1)
    next_c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(next_c), next_c

def cell(x, h, c, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor]:
    return step(torch.mm(x, w_ih.t()) + torch.mm(h, w_hh.t()) + b_ih + b_hh, c)

def layer(x, h, c, w_ih, w_hh, b_ih, b_hh) -> Tuple[Tensor, Tensor, Tensor]:
    outputs: List[Tensor] = []
    for t in range(x.size(0)):
        h, c = cell(x[t], h, c, w_ih, w_hh, b_ih, b_hh)
        outputs.append(h)
    return torch.stack(outputs), h, c

def jit(x, h, c, weights: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    output, h1, c1 = layer(x, h[0], c[0], weights[0], weights[1], weights[2], weights[3])
    return output, h1.unsqueeze(0), c1.unsqueeze(0)

def jit_premul(x, h, c, weights: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    projected = torch.matmul(x, weights[0].t())
    w_hh = weights[1]
    h1 = h[0]
    c1 = c[0]
    outputs: List[Tensor] = []
    for t in range(x.size(0)):
        h1, c1 = step(projected[t] + torch.mm(h1, w_hh.t()) + weights[2] + weights[3], c1)
        outputs.append(h1)
    return torch.stack(outputs), h1.unsqueeze(0), c1.unsqueeze(0)

def jit_premul_bias(x, h, c, weights: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    rows = x.reshape(x.size(0) * x.size(1), x.size(2))
    projected = torch.addmm(weights[2], rows, weights[0].t()).view(x.size(0), x.size(1), -1)
    w_hh = weights[1]
    h1 = h[0]
    c1 = c[0]
    outputs: List[Tensor] = []
    for t in range(x.size(0)):
        h1, c1 = step(projected[t] + torch.mm(h1, w_hh.t()) + weights[3], c1)
        outputs.append(h1)
    return torch.stack(outputs), h1.unsqueeze(0), c1.unsqueeze(0)

def jit_simple(x, h, c, weights: List[Tensor]) -> Tuple[Tensor, Tensor]:
    w_ih, w_hh, b_ih, b_hh = weights[0], weights[1], weights[2], weights[3]
    h1 = h[0]
    c1 = c[0]
    for t in range(x.size(0)):
        h1, c1 = cell(x[t], h1, c1, w_ih, w_hh, b_ih, b_hh)
    return h1.unsqueeze(0), c1.unsqueeze(0)

def stacked(x, h, c, weights: List[Tensor], p: float, training: bool) -> Tuple[Tensor, Tensor, Tensor]:
    last_h: List[Tensor] = []
    last_c: List[Tensor] = []
    output = x
    layers = h.size(0)
    for l in range(layers):
        k = 4 * l
        output, h1, c1 = layer(output, h[l], c[l], weights[k], weights[k + 1], weights[k + 2], weights[k + 3])
        last_h.append(h1)
        last_c.append(c1)
        if training and p > 0.0 and l + 1 < layers:
            output = torch.dropout(output, p, training)
    return output, torch.stack(last_h), torch.stack(last_c)

def jit_multilayer(x, h, c, weights: List[Tensor]) -> Tuple[Tensor, Tensor, Tensor]:
    return stacked(x, h, c, weights, 0.0, False)

def norm(x, weight, bias, decomposed: bool) -> Tensor:
    if decomposed:
        deviation = torch.std(x, [-1], False, True)
        return (x - torch.mean(x, [-1], True)) / deviation * weight + bias
    return torch.layer_norm(x, [x.size(-1)], weight, bias, 1e-5)

def jit_layernorm(x, h, c, weights: List[Tensor], decomposed: bool) -> Tuple[Tensor, Tensor, Tensor]:
    h1 = h[0]
    c1 = c[0]
    outputs: List[Tensor] = []
    for t in range(x.size(0)):
        from_x = norm(torch.mm(x[t], weights[0].t()), weights[2], weights[3], decomposed)
        from_h = norm(torch.mm(h1, weights[1].t()), weights[4], weights[5], decomposed)
        i, f, g, o = (from_x + from_h).chunk(4, 1)
        c1 = norm(torch.sigmoid(f) * c1 + torch.sigmoid(i) * torch.tanh(g), weights[6], weights[7], decomposed)
        h1 = torch.sigmoid(o) * torch.tanh(c1)
        outputs.append(h1)
    return torch.stack(outputs), h1.unsqueeze(0), c1.unsqueeze(0)

def vl_jit(sequences: List[Tensor], h, c, weights: List[Tensor]) -> List[Tensor]:
    results: List[Tensor] = []
    for s in range(len(sequences)):
        x = sequences[s].unsqueeze(1)
        output, h1, c1 = layer(x, h[0][s:s + 1], c[0][s:s + 1], weights[0], weights[1], weights[2], weights[3])
        results.append(output.squeeze(1))
    return results
)JIT";

}  // namespace

const torch::jit::CompilationUnit& lstm_scripts() {
  static const auto unit = torch::jit::compile(source);
  return *unit;
}

LstmModel::LstmModel(const RecurrentSizes& sizes, int64_t most_layers) : sizes_(sizes) {
  if (sizes.layers > most_layers) {
    throw std::invalid_argument(
        fmt::format("this runner has {} layer, but {} are requested (expected --torchstone_layers=1 "
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
  // The script's own executor may have differentiated its loops already, and a trace of that has no gradients.
  const auto graph = torch::jit::toGraphFunction(script).graph()->copy();
  torch::jit::Inline(*graph);
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  torch::jit::GraphExecutor(graph, function).run(arguments);
  return arguments.front();
}

}  // namespace torchstone::fastrnns
