// A planted fault among the LSTM runners: the loop with the gates of input and forgetting swapped.
#include "models/fastrnns/lstm_model.h"

namespace torchstone {
namespace {

class SwappedGates : public LstmModel {
 public:
  explicit SwappedGates(const RecurrentSizes& lstm_sizes) : LstmModel(lstm_sizes, 1) {}
  c10::IValue forward(const Tensors& inputs) override {
    Tensors swapped;
    for (const auto& weight : weights()) {
      const auto gates = weight.chunk(4);
      swapped.push_back(torch::cat({gates[1], gates[0], gates[2], gates[3]}));
    }
    auto h = inputs.at(1)[0], c = inputs.at(2)[0];
    Tensors outputs;
    for (const auto& x : inputs.at(0).unbind(0)) {
      std::tie(h, c) = lstm_step(x, h, c, swapped);
      outputs.push_back(h);
    }
    return std::make_tuple(torch::stack(outputs), h.unsqueeze(0), c.unsqueeze(0));
  }
};

TORCHSTONE_RUNNER(swapped_gates, SwappedGates);

}  // namespace
}  // namespace torchstone
