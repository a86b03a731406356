// DCGAN: the discriminator, which upstream times under this name.
// Paper: Radford, Metz, Chintala, "Unsupervised representation learning with deep convolutional GANs", 2015.
// Original: pytorch/benchmark dcgan (from pytorch/examples). Input [N, 3, 64, 64] → probability [N, 1, 1, 1];
// 2,765,568 parameters. mini: 32 feature maps instead of 64 (with 16, bfloat16 rounds every untrained probability to
// 0.5).
#include "models/blocks/image_model.h"

namespace torchstone::dcgan {
namespace {

constexpr ConvShape halving_shape{.stride = 2, .padding = 1, .bias = false};

class Discriminator : public Layered<ImageModel> {
 public:
  explicit Discriminator(int64_t maps) : Layered(64) {
    add("main",
        Chain(conv(3, maps, 4, halving_shape), leaky_relu(0.2), conv(maps, maps * 2, 4, halving_shape),
              nn::BatchNorm2d(maps * 2), leaky_relu(0.2), conv(maps * 2, maps * 4, 4, halving_shape),
              nn::BatchNorm2d(maps * 4), leaky_relu(0.2), conv(maps * 4, maps * 8, 4, halving_shape),
              nn::BatchNorm2d(maps * 8), leaky_relu(0.2), conv(maps * 8, 1, 4, {.bias = false}), nn::Sigmoid()));
    each_layer<nn::Conv2d>(*this, [](auto& layer) { nn::init::normal_(layer.weight, 0.0, 0.02); });
    each_layer<nn::BatchNorm2d>(*this, [](auto& layer) { nn::init::normal_(layer.weight, 1.0, 0.02); });
  }
};

TORCHSTONE_MODEL(dcgan, .family = "dcgan", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 256,
                 .parameters = 2'765'568, .make = by_preset<Discriminator>(64, 32));

}  // namespace
}  // namespace torchstone::dcgan
