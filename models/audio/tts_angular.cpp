// Speaker encoder: three LSTM layers, each projected to a smaller width; the last frame on the unit sphere.
// Paper: Wan, Wang, Papir, Moreno, "Generalized end-to-end loss for speaker verification", 2017.
// Original: pytorch/benchmark tts_angular (mozilla/TTS speaker encoder). Input [N, 50, 40] mel frames → [N, 256];
// 9,381,888 parameters. mini: LSTM width 64, projection 32, 10 frames.
#include "models/blocks/basic_layers.h"

namespace torchstone::tts_angular {
namespace {

struct LstmWithProjectionImpl : nn::Module {
  LstmWithProjectionImpl(int64_t in, int64_t width, int64_t projection) {
    lstm = register_module("lstm", nn::LSTM(nn::LSTMOptions(in, width).batch_first(true)));
    linear = register_module("linear", linear_without_bias(width, projection));
  }
  torch::Tensor forward(torch::Tensor x) { return linear(std::get<0>(lstm(x))); }
  nn::LSTM lstm{nullptr};
  nn::Linear linear{nullptr};
};
TORCH_MODULE(LstmWithProjection);

class SpeakerEncoder : public Model {
 public:
  SpeakerEncoder(int64_t width, int64_t projection, int64_t frames) : frames_(frames) {
    layers_ = register_module("layers", nn::Sequential(LstmWithProjection(mel_count, width, projection),
                                                       LstmWithProjection(projection, width, projection),
                                                       LstmWithProjection(projection, width, projection)));
    for (auto& parameter : parameters()) {
      parameter.dim() > 1 ? nn::init::xavier_normal_(parameter) : nn::init::zeros_(parameter);
    }
  }

  c10::IValue forward(const Tensors& inputs) override {
    return unit_length(layers_->forward(inputs.at(0)).select(1, -1), 1);
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::rand({options.batch_size, options.size_of("frames", frames_), mel_count})};
  }
  std::vector<ModelDimension> dimensions() const override { return {{"frames", frames_, 4, 2 * frames_, 1}}; }

 private:
  static constexpr int64_t mel_count = 40;
  int64_t frames_;
  nn::Sequential layers_{nullptr};
};

TORCHSTONE_MODEL(tts_angular, .family = "tts_angular", .suites = {"torchbench"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 9'381'888,
                 .make = by_preset<SpeakerEncoder>(std::tuple(768, 256, 50), std::tuple(64, 32, 10)));

}  // namespace
}  // namespace torchstone::tts_angular
