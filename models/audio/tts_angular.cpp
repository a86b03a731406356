// Speaker encoder: three LSTM layers, each projected to a smaller width; the last frame on the unit sphere.
// Paper: Wan, Wang, Papir, Moreno, "Generalized end-to-end loss for speaker verification", 2017.
// Original: pytorch/benchmark tts_angular (mozilla/TTS speaker encoder). Input [N, 50, 40] mel frames → [N, 256];
// 9,381,888 parameters. mini: LSTM width 64, projection 32, 10 frames.
#include "models/blocks/basic_layers.h"

namespace torchstone::tts_angular {
namespace {

constexpr int64_t mel_count = 40;

Block lstm_with_projection(int64_t in, int64_t width, int64_t projection) {
  Block block;
  auto lstm = block.add("lstm", nn::LSTM(nn::LSTMOptions(in, width).batch_first(true)));
  auto linear = block.add("linear", linear_without_bias(width, projection));
  return block.running([=](const torch::Tensor& x) mutable { return linear(std::get<0>(lstm(x))); });
}

class SpeakerEncoder : public Layered<Model> {
 public:
  SpeakerEncoder(int64_t width, int64_t projection, int64_t frames) : frames_(frames) {
    add("layers",
        Chain(lstm_with_projection(mel_count, width, projection), lstm_with_projection(projection, width, projection),
              lstm_with_projection(projection, width, projection)));
    add(nn::Functional([](const torch::Tensor& x) { return unit_length(x.select(1, -1), 1); }));
    for (auto& parameter : parameters()) {
      parameter.dim() > 1 ? nn::init::xavier_normal_(parameter) : nn::init::zeros_(parameter);
    }
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::rand({options.batch_size, options.size_of("frames", frames_), mel_count})};
  }
  std::vector<ModelDimension> dimensions() const override { return {{"frames", frames_, 4, 2 * frames_, 1}}; }

 private:
  int64_t frames_;
};

TORCHSTONE_MODEL(tts_angular, .family = "tts_angular", .suites = {"torchbench"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 9'381'888,
                 .make = by_preset<SpeakerEncoder>(std::tuple(768, 256, 50), std::tuple(64, 32, 10)));

}  // namespace
}  // namespace torchstone::tts_angular
