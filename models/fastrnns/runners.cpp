// LSTM runners of upstream's fastrnns (benchmarks/fastrnns/factory.py): the library's, a loop in C++ in place of
// Python's, and TorchScript loops. The first ones take sequences of one length and return output [T, B, H], h and c
// [L, B, H].
#include <random>

#include <ATen/Context.h>

#include "models/fastrnns/lstm_model.h"

namespace torchstone::fastrnns {
namespace {

constexpr double dropout = 0.4;

c10::IValue library_lstm(const Tensors& in, const Tensors& weights, int64_t layers, double p, bool training) {
  return torch::lstm(in.at(0), {in.at(1), in.at(2)}, weights, /*has_biases=*/true, layers, p, training,
                     /*bidirectional=*/false, /*batch_first=*/false);
}

/// nn.LSTM; on CUDA that is cuDNN's. `p` is its dropout between layers.
class CudnnLstm : public LstmModel {
 public:
  explicit CudnnLstm(const RecurrentSizes& lstm_sizes, double p = 0) : LstmModel(lstm_sizes), p_(p) {}
  c10::IValue forward(const Tensors& inputs) override {
    return library_lstm(inputs, weights(), sizes().layers, p_, is_training());
  }

 private:
  double p_;
};

/// nn.LSTM without cuDNN. On the CPU this is the same program.
class AtenLstm : public LstmModel {
 public:
  explicit AtenLstm(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes) {}
  c10::IValue forward(const Tensors& inputs) override {
    struct WithoutCudnn {
      WithoutCudnn() { at::globalContext().setUserEnabledCuDNN(false); }
      ~WithoutCudnn() { at::globalContext().setUserEnabledCuDNN(was); }
      const bool was = at::globalContext().userEnabledCuDNN();
    } const without;
    return library_lstm(inputs, weights(), sizes().layers, 0, is_training());
  }
};

/// nn.LSTM with three additional LayerNorms per step, whose results are unused: the minimal cost of an LSTM with
/// LayerNorm. Upstream times its forward only.
class CudnnLayerNormLstm : public LstmModel {
 public:
  explicit CudnnLayerNormLstm(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes) {}
  c10::IValue forward(const Tensors& inputs) override {
    const auto output = library_lstm(inputs, weights(), sizes().layers, 0, is_training());
    const auto& x = inputs.at(0);
    const int64_t gates = 4 * sizes().hidden;
    const auto dummy = [&](int64_t width) { return torch::zeros({x.size(1), width}, x.options()); };
    const auto of_gates = dummy(gates), of_cell = dummy(sizes().hidden);
    for (int64_t t = 0; t < x.size(0); ++t) {
      torch::layer_norm(of_gates, {gates});
      torch::layer_norm(of_gates, {gates});
      torch::layer_norm(of_cell, {sizes().hidden});
    }
    return output;
  }
};

/// A C++ loop over the cell's operators.
class PyLstm : public LstmModel {
 public:
  explicit PyLstm(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes, 1) {}
  c10::IValue forward(const Tensors& inputs) override { return lstm_loop(inputs, weights()); }
};

/// A script of one layer with nn.LSTM's weights.
class ScriptedLstm : public LstmModel {
 public:
  ScriptedLstm(const RecurrentSizes& lstm_sizes, const char* function, int64_t most_layers = 1)
      : LstmModel(lstm_sizes, most_layers), function_(function) {}
  c10::IValue forward(const Tensors& inputs) override {
    return run_script(function_, {inputs.at(0), inputs.at(1), inputs.at(2), weights()});
  }

 private:
  const char* function_;
};

/// A script of a stack with dropout between its layers. A single layer has no dropout.
class DropoutLstm : public LstmModel {
 public:
  explicit DropoutLstm(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes) {}
  c10::IValue forward(const Tensors& inputs) override {
    return run_script("stacked", {inputs.at(0), inputs.at(1), inputs.at(2), weights(), dropout, is_training()});
  }
};

constexpr int64_t any_layers = 1'000;

TORCHSTONE_RUNNER(lstm_cudnn, CudnnLstm);
TORCHSTONE_RUNNER(lstm_cudnn_dropout, CudnnLstm, dropout);
TORCHSTONE_RUNNER(lstm_cudnn_layernorm, CudnnLayerNormLstm);
TORCHSTONE_RUNNER(lstm_aten, AtenLstm);
TORCHSTONE_RUNNER(lstm_py, PyLstm);
TORCHSTONE_RUNNER(lstm_jit, ScriptedLstm, "jit");
TORCHSTONE_RUNNER(lstm_jit_premul, ScriptedLstm, "jit_premul");
TORCHSTONE_RUNNER(lstm_jit_premul_bias, ScriptedLstm, "jit_premul_bias");
TORCHSTONE_RUNNER(lstm_jit_simple, ScriptedLstm, "jit_simple");
TORCHSTONE_RUNNER(lstm_jit_multilayer, ScriptedLstm, "jit_multilayer", any_layers);
TORCHSTONE_RUNNER(lstm_jit_dropout, DropoutLstm);

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

/// Base class of the runners over sequences of different lengths (from [30, 100), mini from [3, 8)). Inputs are one
/// [length, I] per sequence, then h and c [1, B, H]. vl_cudnn packs them for the library and returns the padded output
/// [longest, B, H]. The others return a list of [length, H].
class VariableLengthLstm : public LstmModel {
 public:
  explicit VariableLengthLstm(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes, 1) {}

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

 protected:
  struct Parts {
    Tensors sequences;
    torch::Tensor h, c;
  };
  static Parts parts_of(const Tensors& inputs) {
    return {{inputs.begin(), inputs.end() - 2}, inputs.at(inputs.size() - 2), inputs.back()};
  }
};

class PackedLstm : public VariableLengthLstm {
 public:
  using VariableLengthLstm::VariableLengthLstm;
  c10::IValue forward(const Tensors& inputs) override {
    const auto [sequences, h, c] = parts_of(inputs);
    namespace rnn = torch::nn::utils::rnn;
    const auto packed = rnn::pack_sequence(sequences, /*enforce_sorted=*/false);
    const auto order = packed.sorted_indices();
    const auto data = std::get<0>(torch::lstm(packed.data(), packed.batch_sizes(),
                                              {h.index_select(1, order), c.index_select(1, order)}, weights(),
                                              /*has_biases=*/true, 1, 0, is_training(), /*bidirectional=*/false));
    return std::get<0>(
        rnn::pad_packed_sequence(rnn::PackedSequence(data, packed.batch_sizes(), order, packed.unsorted_indices())));
  }
};

class LoopedLstm : public VariableLengthLstm {
 public:
  using VariableLengthLstm::VariableLengthLstm;
  c10::IValue forward(const Tensors& inputs) override {
    const auto [sequences, first_h, first_c] = parts_of(inputs);
    const Tensors w = weights();
    c10::List<torch::Tensor> results;
    for (size_t s = 0; s < sequences.size(); ++s) {
      auto h = first_h[0].narrow(0, static_cast<int64_t>(s), 1), c = first_c[0].narrow(0, static_cast<int64_t>(s), 1);
      Tensors outputs;
      for (const auto& x : sequences[s].split(1)) {
        std::tie(h, c) = lstm_step(x, h, c, w);
        outputs.push_back(h);
      }
      results.push_back(torch::cat(outputs));
    }
    return results;
  }
};

class ScriptedVariableLstm : public VariableLengthLstm {
 public:
  using VariableLengthLstm::VariableLengthLstm;
  c10::IValue forward(const Tensors& inputs) override {
    const auto [sequences, h, c] = parts_of(inputs);
    return run_script("vl_jit", {sequences, h, c, weights()});
  }
};

TORCHSTONE_RUNNER(vl_cudnn, PackedLstm);
TORCHSTONE_RUNNER(vl_py, LoopedLstm);
TORCHSTONE_RUNNER(vl_jit, ScriptedVariableLstm);

}  // namespace
}  // namespace torchstone::fastrnns
