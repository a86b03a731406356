// TorchScript LSTM with LayerNorm on the gates of the input, those of the state, and the cell (upstream's
// fastrnns/custom_lstms.py): one layer, no biases, weights from N(0, 1). decom spells the LayerNorm out, with no
// epsilon. Output [T, B, H], h and c [1, B, H].
#include "models/fastrnns/lstm_model.h"

namespace torchstone::fastrnns {
namespace {

class LayerNormLstm : public Model {
 public:
  LayerNormLstm(fastrnns::RecurrentSizes sizes, bool decomposed) : sizes_(sizes), decomposed_(decomposed) {
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
  fastrnns::RecurrentSizes sizes_;
  bool decomposed_;
};

TORCHSTONE_RUNNER(lstm_jit_layernorm, LayerNormLstm, false);
TORCHSTONE_RUNNER(lstm_jit_layernorm_decom, LayerNormLstm, true);

}  // namespace
}  // namespace torchstone::fastrnns
