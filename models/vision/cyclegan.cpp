// CycleGAN: the generator, a residual network between two down-samplings and two up-samplings.
// Paper: Zhu, Park, Isola, Efros, "Unpaired image-to-image translation using cycle-consistent adversarial networks",
// 2017. Original: pytorch/benchmark pytorch_CycleGAN_and_pix2pix (ResnetGenerator with instance normalisation, which is
// what its evaluation runs). Input [N, 3, 256, 256] → image [N, 3, 256, 256]; 11,378,179 parameters.
// mini: 16 feature maps, 3 residual blocks, 32 pixels.
#include "models/blocks/image_model.h"

namespace torchstone::cyclegan {
namespace {

/// Returns reflection padding, convolution and normalisation as layers 0, 1 and 2.
Chain reflected(int64_t width) {
  return Chain(nn::ReflectionPad2d(1), conv(width, width, 3), nn::InstanceNorm2d(width));
}

Skip residual(int64_t width) {
  auto layers = reflected(width), second = reflected(width);
  layers->push_back(relu());
  for (const auto& layer : *second) layers->push_back(layer);
  return Skip("conv_block", layers);
}

class CycleGanGenerator : public Layered<ImageModel> {
 public:
  CycleGanGenerator(int64_t maps, int64_t blocks, int64_t side) : Layered(side) {
    Chain layers(nn::ReflectionPad2d(3), conv(3, maps, 7), nn::InstanceNorm2d(maps), relu());
    for (const auto width : {maps, 2 * maps}) {
      layers->push_back(conv(width, 2 * width, 3, {.stride = 2, .padding = 1}));
      layers->push_back(nn::InstanceNorm2d(2 * width));
      layers->push_back(relu());
    }
    for (int64_t i = 0; i < blocks; ++i) layers->push_back(residual(4 * maps));
    for (const auto width : {4 * maps, 2 * maps}) {
      layers->push_back(
          nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, width / 2, 3).stride(2).padding(1).output_padding(1)));
      layers->push_back(nn::InstanceNorm2d(width / 2));
      layers->push_back(relu());
    }
    layers->push_back(nn::ReflectionPad2d(3));
    layers->push_back(conv(maps, 3, 7));
    layers->push_back(nn::Tanh());
    add("model", layers);
    const auto init = [](auto& layer) {
      nn::init::normal_(layer.weight, 0, 0.02);
      nn::init::zeros_(layer.bias);
    };
    each_layer<nn::Conv2d>(*this, init);
    each_layer<nn::ConvTranspose2d>(*this, init);
  }
};

TORCHSTONE_MODEL(pytorch_CycleGAN_and_pix2pix, .family = "cyclegan", .suites = {"torchbench"}, .train_batch = 1,
                 .eval_batch = 1, .parameters = 11'378'179, .fixed_batch = true,
                 .make = by_preset<CycleGanGenerator>(std::tuple(64, 9, 256), std::tuple(16, 3, 32)));

}  // namespace
}  // namespace torchstone::cyclegan
