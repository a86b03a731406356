// U-Net: contracting and expanding double convolutions joined by skip concatenations.
// Paper: Ronneberger, Fischer, Brox, "U-Net: convolutional networks for biomedical image segmentation", 2015.
// Original: pytorch/benchmark pytorch_unet (milesial/Pytorch-UNet, bilinear). Input [N, 3, 640, 959] → logits
// [N, 2, 640, 959]; 17,267,458 parameters. Every up-sampled map needs padding because the width is odd.
// mini: 8 channels at the top instead of 64, 64 x 95 pixels.
#include "models/blocks/basic_layers.h"

namespace torchstone::unet {
namespace {

Chain double_conv(int64_t in, int64_t out, int64_t middle) {
  return chain({{"double_conv", Chain(conv(in, middle, 3, {.padding = 1}), nn::BatchNorm2d(middle), relu(),
                                      conv(middle, out, 3, {.padding = 1}), nn::BatchNorm2d(out), relu())}});
}

Chain down(int64_t in, int64_t out) {
  return chain({{"maxpool_conv", Chain(max_pool(2, 2), double_conv(in, out, out))}});
}

struct UpImpl : nn::Module {
  UpImpl(int64_t in, int64_t out) : conv(register_module("conv", double_conv(in, out, in / 2))) {}
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& skip) {
    const std::vector<double> twice = {2, 2};
    x = at::upsample_bilinear2d(x, at::OptionalIntArrayRef{}, /*align_corners=*/true, twice);
    const auto rows = skip.size(2) - x.size(2), columns = skip.size(3) - x.size(3);
    x = torch::constant_pad_nd(x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2});
    return conv(torch::cat({skip, x}, 1));
  }
  Chain conv;
};
TORCH_MODULE(Up);

class UNet : public Model {
 public:
  UNet(int64_t width, int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {
    inc_ = register_module("inc", double_conv(3, width, width));
    for (int64_t i = 0; i < 4; ++i) {
      const auto in = width << i;
      const auto out = i < 3 ? in * 2 : in;  // the bilinear variant keeps the channels of the last step
      downs_.push_back(register_module("down" + std::to_string(i + 1), down(in, out)));
    }
    for (int64_t i = 0; i < 4; ++i) {
      const auto in = width << (4 - i);
      ups_.push_back(register_module("up" + std::to_string(i + 1), Up(in, i < 3 ? in / 4 : width)));
    }
    outc_ = register_module("outc", chain({{"conv", conv(width, 2, 1)}}));
  }

  c10::IValue forward(const Tensors& inputs) override {
    Tensors skips = {inc_(inputs.at(0))};
    for (auto& halve : downs_) skips.push_back(halve(skips.back()));
    auto x = skips.back();
    for (size_t i = 0; i < ups_.size(); ++i) x = ups_[i](x, skips[3 - i]);
    return outc_(x);
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::rand({options.batch_size, 3, options.size_of("height", rows_), columns_})};
  }
  /// Returns only the height, because the padding of up-sampled maps depends on the bits of the width.
  std::vector<ModelDimension> dimensions() const override { return {{"height", rows_, 32, 2 * rows_, 16}}; }

 private:
  int64_t rows_, columns_;
  Chain inc_{nullptr}, outc_{nullptr};
  std::vector<Chain> downs_;
  std::vector<Up> ups_;
};

TORCHSTONE_MODEL(pytorch_unet, .family = "unet", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 17'267'458, .make = by_preset<UNet>(std::tuple(64, 640, 959), std::tuple(8, 64, 95)));

}  // namespace
}  // namespace torchstone::unet
