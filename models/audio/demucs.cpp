// Demucs: separates a mix of music with strided convolutions, a bidirectional LSTM, and transposed convolutions.
// Paper: Défossez, Usunier, Bottou, Bach, "Music source separation in the waveform domain", 2019.
// Original: pytorch/benchmark demucs (with its wrapper, which mixes and shifts). Input: mix and four sources, stereo,
// [N, 5, 2, 426888] → (sources as used [N, 4, 2, 382788], estimated sources [N, 4, 2, 382788]); 265,679,496 parameters.
// In training each source is shifted at random. mini: 8 channels, 3 layers, 3192 samples.
#include "models/blocks/basic_layers.h"

namespace torchstone::demucs {
namespace {

constexpr int64_t source_count = 4, stereo_channels = 2, kernel_width = 8, kernel_stride = 4, context_frames = 3;

struct DemucsShape {
  int64_t channels = 64, depth = 6, samples = 426888, shift = 44100;
};

/// Gated linear unit: one half of the channels gates the other.
nn::Functional gated() {
  return nn::Functional([](const torch::Tensor& x) { return torch::glu(x, 1); });
}

/// Bidirectional LSTM. [N, C, T] → the same.
Block two_way_lstm(int64_t width) {
  Block block;
  auto lstm = block.add("lstm", nn::LSTM(nn::LSTMOptions(width, width).num_layers(2).bidirectional(true)));
  auto linear = block.add("linear", nn::Linear(2 * width, width));
  return block.running([=](const torch::Tensor& x) mutable {
    return linear(std::get<0>(lstm(x.permute({2, 0, 1})))).permute({1, 2, 0});
  });
}

/// Returns the middle of x with the length of another tensor.
torch::Tensor middle(const torch::Tensor& x, int64_t length) { return x.narrow(-1, (x.size(-1) - length) / 2, length); }

/// Moves the deviation of each convolution closer to 0.1, as the original does.
template <class Layer>
void rescale(Layer& layer) {
  torch::NoGradGuard no_grad;
  const auto scale = (layer.weight.std() / 0.1).sqrt();
  layer.weight.div_(scale);
  layer.bias.div_(scale);
}

class Demucs : public Model {
 public:
  explicit Demucs(const DemucsShape& shape) : shape_(shape) {
    auto in = stereo_channels, width = shape.channels;
    for (int64_t i = 0; i < shape.depth; ++i) {
      encoder_.push_back(Chain(nn::Conv1d(nn::Conv1dOptions(in, width, kernel_width).stride(kernel_stride)), nn::ReLU(),
                               nn::Conv1d(width, 2 * width, 1), gated()));
      const auto out = i > 0 ? in : source_count * stereo_channels;
      Chain decode(nn::Conv1d(width, 2 * width, context_frames), gated(),
                   nn::ConvTranspose1d(nn::ConvTranspose1dOptions(width, out, kernel_width).stride(kernel_stride)));
      if (i > 0) decode->push_back(nn::ReLU());
      decoder_.insert(decoder_.begin(), decode);
      in = width;
      width *= 2;
    }
    lstm_ = two_way_lstm(in);
    register_module(
        "model",
        group({{"encoder", list_of(encoder_).ptr()}, {"decoder", list_of(decoder_).ptr()}, {"lstm", lstm_.ptr()}}));
    each_layer<nn::Conv1d>(*this, [](auto& layer) { rescale(layer); });
    each_layer<nn::ConvTranspose1d>(*this, [](auto& layer) { rescale(layer); });
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto sources = shifted(inputs.at(0).slice(1, 1));
    auto x = sources.sum(1);
    Tensors skips;
    for (auto& encode : encoder_) skips.push_back(x = encode(x));
    x = lstm_(x);
    for (auto& decode : decoder_) {
      x = decode(x + middle(skips.back(), x.size(2)));
      skips.pop_back();
    }
    return std::make_tuple(sources, x.view({x.size(0), source_count, stereo_channels, x.size(2)}));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::rand({options.batch_size, source_count + 1, stereo_channels, shape_.samples})};
  }

 private:
  torch::Tensor shifted(const torch::Tensor& sources) const {
    const auto length = sources.size(3) - shape_.shift;
    if (!is_training()) return sources.slice(3, 0, length);
    const auto whole = sources.options().dtype(torch::kInt64);
    const auto offsets = torch::randint(shape_.shift, {sources.size(0), source_count, 1, 1}, whole);
    return sources.gather(3, torch::arange(length, whole) + offsets.expand({-1, -1, stereo_channels, -1}));
  }

  DemucsShape shape_;
  std::vector<Chain> encoder_, decoder_;
  Block lstm_{nullptr};
};

TORCHSTONE_MODEL(demucs, .family = "demucs", .suites = {"torchbench"}, .train_batch = 64, .eval_batch = 8,
                 .parameters = 265'679'496, .fixed_batch = true,
                 .make = by_preset<Demucs>(DemucsShape{},
                                           DemucsShape{.channels = 8, .depth = 3, .samples = 3192, .shift = 100}));

}  // namespace
}  // namespace torchstone::demucs
