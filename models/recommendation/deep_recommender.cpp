// Deep auto-encoder of ratings: wide in, wide out, SELU between, heavy dropout in the middle.
// Paper: Kuchaiev, Ginsburg, "Training deep autoencoders for collaborative filtering", 2017.
// Original: pytorch/benchmark nvidia_deeprecommender. Input ratings [N, 197951] → the same; 204,475,711 parameters.
// mini: 2000 items, layers of 64, 64 and 128.
#include "models/blocks/basic_layers.h"

namespace torchstone::deep_recommender {
namespace {

class AutoEncoder : public Model {
 public:
  /// `widths` has the widths of the input and the encoder's layers. The decoder mirrors them.
  explicit AutoEncoder(const std::vector<int64_t>& widths) : items_(widths.front()) {
    const auto last = widths.size() - 1;
    nn::ParameterList encode_w, encode_b, decode_w, decode_b;
    for (size_t i = 0; i < last; ++i) add(encoder_, encode_w, encode_b, widths[i], widths[i + 1]);
    for (size_t i = last; i > 0; --i) add(decoder_, decode_w, decode_b, widths[i], widths[i - 1]);
    register_module("encode_w", encode_w);
    register_module("encode_b", encode_b);
    register_module("decode_w", decode_w);
    register_module("decode_b", decode_b);
    dropout_ = register_module("drop", nn::Dropout(0.8));
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = inputs.at(0);
    for (const auto& layer : encoder_) x = torch::selu(torch::linear(x, layer.weight, layer.bias));
    x = dropout_(x);
    for (const auto& layer : decoder_) x = torch::selu(torch::linear(x, layer.weight, layer.bias));
    return x;
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randn({options.batch_size, items_})};
  }

 private:
  struct Layer {
    torch::Tensor weight, bias;
  };

  static void add(std::vector<Layer>& layers, nn::ParameterList& weights, nn::ParameterList& biases, int64_t in,
                  int64_t out) {
    const Layer layer{torch::empty({out, in}).set_requires_grad(true), torch::zeros({out}).set_requires_grad(true)};
    nn::init::xavier_uniform_(layer.weight);
    weights->append(layer.weight);
    biases->append(layer.bias);
    layers.push_back(layer);
  }

  int64_t items_;
  std::vector<Layer> encoder_, decoder_;
  nn::Dropout dropout_{nullptr};
};

using Widths = std::vector<int64_t>;
TORCHSTONE_MODEL(nvidia_deeprecommender, .family = "deep_recommender", .suites = {"torchbench"}, .train_batch = 256,
                 .eval_batch = 256, .parameters = 204'475'711,
                 .make = by_preset<AutoEncoder>(Widths{197951, 512, 512, 1024}, Widths{2000, 64, 64, 128}));

}  // namespace
}  // namespace torchstone::deep_recommender
