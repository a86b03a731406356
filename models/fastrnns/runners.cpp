// LSTM runners of upstream's fastrnns (benchmarks/fastrnns/factory.py): the library's, a loop in C++ in place of
// Python's, and TorchScript loops. The first ones take sequences of one length and return output [T, B, H], h and c
// [L, B, H].
#include <functional>
#include <random>

#include <ATen/Context.h>

#include "models/fastrnns/lstm_model.h"

namespace torchstone::fastrnns {
namespace {

constexpr double dropout = 0.4;
constexpr int64_t any_layers = 1'000;

using Forward = std::function<c10::IValue(const LstmModel& lstm, const Tensors& inputs)>;

/// A runner with nn.LSTM's weights.
class Runner : public LstmModel {
 public:
  Runner(const RecurrentSizes& lstm_sizes, Forward forward, int64_t most_layers = any_layers)
      : LstmModel(lstm_sizes, most_layers), forward_(std::move(forward)) {}
  c10::IValue forward(const Tensors& inputs) override { return forward_(*this, inputs); }

 private:
  Forward forward_;
};

/// nn.LSTM; on CUDA that is cuDNN's. `p` is its dropout between layers.
c10::IValue library_lstm(const LstmModel& lstm, const Tensors& in, double p = 0) {
  return torch::lstm(in.at(0), {in.at(1), in.at(2)}, lstm.weights(), /*has_biases=*/true, lstm.sizes().layers, p,
                     lstm.is_training(), /*bidirectional=*/false, /*batch_first=*/false);
}

Forward cudnn(double p) {
  return [p](const LstmModel& lstm, const Tensors& in) { return library_lstm(lstm, in, p); };
}

/// nn.LSTM without cuDNN. On the CPU this is the same program.
c10::IValue aten(const LstmModel& lstm, const Tensors& in) {
  struct WithoutCudnn {
    WithoutCudnn() { at::globalContext().setUserEnabledCuDNN(false); }
    ~WithoutCudnn() { at::globalContext().setUserEnabledCuDNN(was); }
    const bool was = at::globalContext().userEnabledCuDNN();
  } const without;
  return library_lstm(lstm, in);
}

/// nn.LSTM with three additional LayerNorms per step, whose results are unused: the minimal cost of an LSTM with
/// LayerNorm. Upstream times its forward only.
c10::IValue cudnn_layernorm(const LstmModel& lstm, const Tensors& in) {
  const auto output = library_lstm(lstm, in);
  const auto& x = in.at(0);
  const int64_t hidden = lstm.sizes().hidden, gates = 4 * hidden;
  const auto dummy = [&](int64_t width) { return torch::zeros({x.size(1), width}, x.options()); };
  const auto of_gates = dummy(gates), of_cell = dummy(hidden);
  for (int64_t t = 0; t < x.size(0); ++t) {
    torch::layer_norm(of_gates, {gates});
    torch::layer_norm(of_gates, {gates});
    torch::layer_norm(of_cell, {hidden});
  }
  return output;
}

/// A C++ loop over the cell's operators.
c10::IValue loop(const LstmModel& lstm, const Tensors& in) { return lstm_loop(in, lstm.weights()); }

/// Returns a script with nn.LSTM's weights.
Forward script(const char* function) {
  return [function](const LstmModel& lstm, const Tensors& in) {
    return run_script(function, {in.at(0), in.at(1), in.at(2), lstm.weights()});
  };
}

/// A script of a stack with dropout between its layers. A single layer has no dropout.
c10::IValue script_with_dropout(const LstmModel& lstm, const Tensors& in) {
  return run_script("stacked", {in.at(0), in.at(1), in.at(2), lstm.weights(), dropout, lstm.is_training()});
}

TORCHSTONE_RUNNER(lstm_cudnn, Runner, cudnn(0));
TORCHSTONE_RUNNER(lstm_cudnn_dropout, Runner, cudnn(dropout));
TORCHSTONE_RUNNER(lstm_cudnn_layernorm, Runner, cudnn_layernorm);
TORCHSTONE_RUNNER(lstm_aten, Runner, aten);
TORCHSTONE_RUNNER(lstm_py, Runner, loop, 1);
TORCHSTONE_RUNNER(lstm_jit, Runner, script("jit"), 1);
TORCHSTONE_RUNNER(lstm_jit_premul, Runner, script("jit_premul"), 1);
TORCHSTONE_RUNNER(lstm_jit_premul_bias, Runner, script("jit_premul_bias"), 1);
TORCHSTONE_RUNNER(lstm_jit_simple, Runner, script("jit_simple"), 1);
TORCHSTONE_RUNNER(lstm_jit_multilayer, Runner, script("jit_multilayer"));
TORCHSTONE_RUNNER(lstm_jit_dropout, Runner, script_with_dropout);

/// A script with LayerNorm on the gates of the input, the gates of the state, and the cell (upstream's
/// fastrnns/custom_lstms.py). It has one layer, no biases, and weights from N(0, 1). `decomposed` writes the LayerNorm
/// as separate operators without epsilon. h and c are [1, B, H].
class LayerNormLstm : public Model {
 public:
  LayerNormLstm(RecurrentSizes sizes, bool decomposed) : sizes_(sizes), decomposed_(decomposed) {
    sizes_.layers = 1;  // upstream ignores their number
    const int64_t gates = 4 * sizes.hidden;
    register_parameter("weight_ih", torch::randn({gates, sizes.input}));
    register_parameter("weight_hh", torch::randn({gates, sizes.hidden}));
    for (const auto& [name, width] :
         std::vector<std::pair<std::string, int64_t>>{{"i", gates}, {"h", gates}, {"c", sizes.hidden}}) {
      register_parameter("layernorm_" + name + "_weight", torch::ones({width}));
      register_parameter("layernorm_" + name + "_bias", torch::zeros({width}));
    }
  }

  c10::IValue forward(const Tensors& inputs) override {
    return run_script("jit_layernorm", {inputs.at(0), inputs.at(1), inputs.at(2), parameters(), decomposed_});
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto x = torch::randn({sizes_.steps, options.batch_size, sizes_.input});
    const auto h = torch::randn({1, options.batch_size, sizes_.hidden});
    return {x, h, torch::randn({1, options.batch_size, sizes_.hidden})};
  }

 private:
  RecurrentSizes sizes_;
  bool decomposed_;
};

TORCHSTONE_RUNNER(lstm_jit_layernorm, LayerNormLstm, false);
TORCHSTONE_RUNNER(lstm_jit_layernorm_decom, LayerNormLstm, true);

/// A runner over sequences of different lengths (from [30, 100), mini from [3, 8)). Inputs are one [length, I] per
/// sequence, then h and c [1, B, H]. vl_cudnn packs them for the library and returns the padded output [longest, B, H].
/// The others return a list of [length, H].
class VariableLengthRunner : public Runner {
 public:
  VariableLengthRunner(const RecurrentSizes& lstm_sizes, Forward forward) : Runner(lstm_sizes, std::move(forward), 1) {}

  /// Generates the same lengths each time, because compiled code depends on them.
  Tensors example_inputs(const ModelOptions& options) const override {
    const bool full = options.preset == Preset::full;
    std::mt19937 random(17);
    Tensors inputs;
    for (int64_t i = 0; i < options.batch_size; ++i) {
      const int64_t length = full ? 30 + static_cast<int64_t>(random() % 70) : 3 + static_cast<int64_t>(random() % 5);
      inputs.push_back(torch::randn({length, sizes().input}));
    }
    for (int i = 0; i < 2; ++i) inputs.push_back(torch::randn({1, options.batch_size, sizes().hidden}));
    return inputs;
  }
};

struct Parts {
  Tensors sequences;
  torch::Tensor h, c;
};
Parts parts_of(const Tensors& inputs) {
  return {{inputs.begin(), inputs.end() - 2}, inputs.at(inputs.size() - 2), inputs.back()};
}

c10::IValue packed_sequences(const LstmModel& lstm, const Tensors& inputs) {
  const auto [sequences, h, c] = parts_of(inputs);
  namespace rnn = torch::nn::utils::rnn;
  const auto packed = rnn::pack_sequence(sequences, /*enforce_sorted=*/false);
  const auto order = packed.sorted_indices();
  const auto data = std::get<0>(torch::lstm(packed.data(), packed.batch_sizes(),
                                            {h.index_select(1, order), c.index_select(1, order)}, lstm.weights(),
                                            /*has_biases=*/true, 1, 0, lstm.is_training(), /*bidirectional=*/false));
  return std::get<0>(
      rnn::pad_packed_sequence(rnn::PackedSequence(data, packed.batch_sizes(), order, packed.unsorted_indices())));
}

c10::IValue looped_sequences(const LstmModel& lstm, const Tensors& inputs) {
  const auto [sequences, first_h, first_c] = parts_of(inputs);
  const Tensors weights = lstm.weights();
  c10::List<torch::Tensor> results;
  for (size_t s = 0; s < sequences.size(); ++s) {
    auto h = first_h[0].narrow(0, static_cast<int64_t>(s), 1), c = first_c[0].narrow(0, static_cast<int64_t>(s), 1);
    Tensors outputs;
    for (const auto& x : sequences[s].split(1)) {
      std::tie(h, c) = lstm_step(x, h, c, weights);
      outputs.push_back(h);
    }
    results.push_back(torch::cat(outputs));
  }
  return results;
}

c10::IValue scripted_sequences(const LstmModel& lstm, const Tensors& inputs) {
  const auto [sequences, h, c] = parts_of(inputs);
  return run_script("vl_jit", {sequences, h, c, lstm.weights()});
}

TORCHSTONE_RUNNER(vl_cudnn, VariableLengthRunner, packed_sequences);
TORCHSTONE_RUNNER(vl_py, VariableLengthRunner, looped_sequences);
TORCHSTONE_RUNNER(vl_jit, VariableLengthRunner, scripted_sequences);

}  // namespace
}  // namespace torchstone::fastrnns
