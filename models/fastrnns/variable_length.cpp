// LSTM runners of upstream's fastrnns over sequences of different lengths (from [30, 100), mini from [3, 8)). Inputs
// are one [length, I] per sequence, then h and c [1, B, H]. vl_cudnn packs them for the library and returns the padded
// output [longest, B, H]. The others return a list of [length, H].
#include <random>

#include "models/fastrnns/lstm_model.h"

namespace torchstone::fastrnns {
namespace {

class VariableLengthLstm : public LstmModel {
 public:
  explicit VariableLengthLstm(const fastrnns::RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes, 1) {}

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
