// A faulty LSTM runner: the loop with the input gate and the forget gate swapped.
#include "models/fastrnns/lstm_model.h"

namespace torchstone::lstm_faults {
namespace {

class SwappedGates : public fastrnns::LstmModel {
 public:
  explicit SwappedGates(const fastrnns::RecurrentSizes& lstm_sizes) : fastrnns::LstmModel(lstm_sizes, 1) {}
  c10::IValue forward(const Tensors& inputs) override {
    Tensors swapped;
    for (const auto& weight : weights()) {
      const auto gates = weight.chunk(4);
      swapped.push_back(torch::cat({gates[1], gates[0], gates[2], gates[3]}));
    }
    return fastrnns::lstm_loop(inputs, swapped);
  }
};

TORCHSTONE_RUNNER(swapped_gates, SwappedGates);

}  // namespace
}  // namespace torchstone::lstm_faults
