#pragma once
#include <string>
#include <utility>
#include <vector>

#include <torch/script.h>
#include <torchstone/model.h>

#include "models/fastrnns/lstm_options.h"

namespace torchstone::fastrnns {

/// Returns the TorchScript functions of the runners, compiled once per process. A function `NAME(x, h, c, weights)`
/// returns (output, h, c); `jit_simple` returns (h, c). See models/fastrnns/lstm_model.cpp.
const torch::jit::CompilationUnit& lstm_scripts();

/// Base class of the LSTM runners of fastrnns. Names, shapes and initial values of the parameters are nn.LSTM's:
/// weight_ih_l0 [4H, I], weight_hh_l0 [4H, H], bias_ih_l0 and bias_hh_l0 [4H]. The order of the gates is input, forget,
/// cell, output. Inputs are x [T, B, I], h [L, B, H] and c [L, B, H] from N(0, 1). A forward returns (output [T, B, H],
/// h, c).
class LstmModel : public Model {
 public:
  /// Throws std::invalid_argument for more than `most_layers` layers.
  explicit LstmModel(const RecurrentSizes& sizes, int64_t most_layers = 1'000);

  Tensors example_inputs(const ModelOptions& options) const override;
  /// Returns the weights in nn.LSTM's order, four for each layer. Reads the parameters in each call, because a cast
  /// replaces them.
  Tensors weights() const;
  const RecurrentSizes& sizes() const { return sizes_; }

 private:
  RecurrentSizes sizes_;
};

/// Computes one step of an LSTM with separate operators. Takes x [B, I], h and c [B, H], and the four weights of a
/// layer. Returns the next h and c.
std::pair<torch::Tensor, torch::Tensor> lstm_step(const torch::Tensor& x, const torch::Tensor& h,
                                                  const torch::Tensor& c, const Tensors& weights);

/// Repeats lstm_step() over the steps of x. `inputs` are x [T, B, I], h and c [1, B, H]. Returns (output [T, B, H], h,
/// c).
c10::IValue lstm_loop(const Tensors& inputs, const Tensors& weights);

/// Calls a function of the scripts. While a trace is recorded, the interpreter runs the graph without optimisation, so
/// that the trace contains the unrolled loop.
c10::IValue run_script(const std::string& function, std::vector<c10::IValue> arguments);

/// Registers a runner. Its name is `lstm_` and upstream's name, or only upstream's name if that starts with `vl_`.
template <typename Make>
bool register_runner(const std::string& name, Make make, const char* file, int line) {
  const auto of_preset = [make](const ModelOptions& options) { return make(recurrent_sizes(options.preset)); };
  return register_model({.name = name,
                         .family = family,
                         .suites = {"fastrnns"},
                         .train_batch = 64,
                         .eval_batch = 64,
                         .make = of_preset,
                         .facts =
                             [] {
                               return ModelFacts{{{"executor", executor_in_force()}}, {}};
                             }},
                        file, line);
}

}  // namespace torchstone::fastrnns

/// TORCHSTONE_RUNNER(lstm_py, PyLstm) or TORCHSTONE_RUNNER(lstm_jit, ScriptedLstm, "jit"): the constructor takes the
/// sizes and the further arguments.
#define TORCHSTONE_RUNNER(identifier, Type, ...)                                                             \
  [[maybe_unused]] static const bool torchstone_runner_##identifier = torchstone::fastrnns::register_runner( \
      #identifier,                                                                                           \
      [](const torchstone::fastrnns::RecurrentSizes& sizes) {                                                \
        return std::make_shared<Type>(sizes __VA_OPT__(, ) __VA_ARGS__);                                     \
      },                                                                                                     \
      __FILE__, __LINE__)
