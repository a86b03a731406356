// EDSR: residual blocks without normalisation, and a picture of twice the side from four times the channels.
// Paper: Lim, Son, Kim, Nah, Lee, "Enhanced deep residual networks for single image super-resolution", 2017.
// Original: the paper's baseline for a factor of 2 (EDSR-PyTorch), which is in none of upstream's suites. Input [N, 3,
// 48, 48] in [0, 255) → [N, 3, 96, 96]; 1,369,859 parameters. mini: 4 blocks of 16 channels, 24 pixels.
#include "models/blocks/image_model.h"

namespace torchstone::edsr {
namespace {

nn::Conv2d conv3x3(int64_t in, int64_t out) { return conv(in, out, 3, {.padding = 1}); }

class Edsr : public ImageModel {
 public:
  Edsr(int64_t width, int64_t blocks, int64_t side) : ImageModel(side, 8) {
    mean_ = register_buffer("mean", 255 * torch::tensor({0.4488, 0.4371, 0.4040}, torch::kFloat32).view({3, 1, 1}));
    head_ = register_module("head", Chain(conv3x3(3, width)));
    Chain body;
    for (int64_t i = 0; i < blocks; ++i)
      body->push_back(Skip("body", Chain(conv3x3(width, width), relu(), conv3x3(width, width))));
    body->push_back(conv3x3(width, width));
    body_ = register_module("body", body);
    tail_ = register_module("tail", Chain(Chain(conv3x3(width, 4 * width), nn::PixelShuffle(2)), conv3x3(width, 3)));
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto x = head_(inputs.at(0) - mean_);
    return tail_(x + body_(x)) + mean_;
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {255 * torch::rand_like(ImageModel::example_inputs(options)[0])};
  }
  bool in_state_dict(const std::string& name) const override { return name != "mean"; }

 private:
  torch::Tensor mean_;
  Chain head_{nullptr}, body_{nullptr}, tail_{nullptr};
};

TORCHSTONE_MODEL(edsr_baseline_x2, .family = "edsr", .suites = {"papers"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 1'369'859, .make = by_preset<Edsr>(std::tuple(64, 16, 48), std::tuple(16, 4, 24)));

}  // namespace
}  // namespace torchstone::edsr
