// ResNet: residual stages of basic or bottleneck blocks.
// Paper: He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2015 (stride in the 3x3 convolution:
// v1.5); Xie et al., "Aggregated residual transformations for deep neural networks", 2016 (resnext); Zagoruyko,
// Komodakis, "Wide residual networks", 2016. Original: torchvision.models.resnet18 and the others of its file, and
// timm's resnext101_32x16d, which upstream calls swsl_resnext101_32x16d. functorch_dp_cifar10: 32 pixels.
// Input [N, 3, 224, 224] → logits [N, 1000]; 11,689,512 (18), 21,797,672 (34), 25,557,032 (50), 60,192,808 (152),
// 25,028,904 (resnext50_32x4d), 68,883,240 (wide_resnet50_2) and 194,026,792 (swsl_resnext101_32x16d) parameters.
// mini: 64 pixels and stages of 2, 1, 1, 1 blocks.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::resnet {
namespace {

/// `Base` has the images of upstream's suite.
template <class Base, class Norm = nn::BatchNorm2d>
class ResNet : public ResidualNet<Base, Norm> {
 public:
  ResNet(bool bottlenecks, const std::vector<int64_t>& depths, int64_t side, Groups groups)
      : ResidualNet<Base, Norm>(
            side, depths, bottlenecks ? bottleneck_expansion : 1, [=](int64_t in, int64_t width, int64_t stride) {
              return bottlenecks ? bottleneck(in, width, stride, groups) : basic_block<Norm>(in, width, stride);
            }) {}
};

template <class Base = ImageModel>
auto make(bool bottlenecks, const std::vector<int64_t>& depths, Groups groups = {}) {
  return by_preset<ResNet<Base>>(std::tuple(bottlenecks, depths, 224, groups),
                                 std::tuple(bottlenecks, std::vector<int64_t>{2, 1, 1, 1}, 64, groups));
}

TORCHSTONE_MODEL(resnet18, .family = "resnet", .suites = {"torchbench"}, .train_batch = 16, .eval_batch = 8,
                 .parameters = 11'689'512, .make = make(/*bottlenecks=*/false, {2, 2, 2, 2}));
TORCHSTONE_MODEL(resnet50, .family = "resnet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 25'557'032, .make = make(/*bottlenecks=*/true, {3, 4, 6, 3}));
TORCHSTONE_MODEL(resnet34, .family = "resnet", .suites = {"torchvision"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 21'797'672, .make = make(/*bottlenecks=*/false, {3, 4, 6, 3}));
TORCHSTONE_MODEL(resnet152, .family = "resnet", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 60'192'808, .make = make(/*bottlenecks=*/true, {3, 8, 36, 3}));
TORCHSTONE_MODEL(resnext50_32x4d, .family = "resnet", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 25'028'904, .make = make(/*bottlenecks=*/true, {3, 4, 6, 3}, {.count = 32, .width = 4}));
TORCHSTONE_MODEL(wide_resnet50_2, .family = "resnet", .suites = {"torchvision"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 68'883'240, .make = make(/*bottlenecks=*/true, {3, 4, 6, 3}, {.width = 128}));
TORCHSTONE_MODEL(swsl_resnext101_32x16d, .family = "resnet", .suites = {"timm"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 194'026'792,
                 .make = make<ByteImageModel>(/*bottlenecks=*/true, {3, 4, 23, 3}, {.count = 32, .width = 16}));

/// ResNet-18 with GroupNorm, whose training by torchbench takes a gradient of each sample. Its accuracy run, like this
/// model, calls the network alone.
TORCHSTONE_MODEL(functorch_dp_cifar10, .family = "resnet", .suites = {"torchbench"}, .train_batch = 64,
                 .eval_batch = 64, .parameters = 11'689'512,
                 .make = by_preset<ResNet<ImageModel, GroupNorm32>>(
                     std::tuple(/*bottlenecks=*/false, std::vector<int64_t>{2, 2, 2, 2}, 32, Groups{}),
                     std::tuple(/*bottlenecks=*/false, std::vector<int64_t>{2, 1, 1, 1}, 32, Groups{})));

}  // namespace
}  // namespace torchstone::resnet
