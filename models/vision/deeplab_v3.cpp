// DeepLabV3 on MobileNetV3: parallel dilated convolutions of several rates, resized to the image.
// Paper: Chen, Papandreou, Schroff, Adam, "Rethinking atrous convolution for semantic image segmentation", 2017.
// Original: torchvision.models.segmentation.deeplabv3_mobilenet_v3_large (without the auxiliary classifier).
// Input [N, 3, 224, 224] → {"out": [N, 21, 224, 224]}; 11,025,477 parameters. mini: four blocks, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::deeplab_v3 {
namespace {

constexpr int64_t head_width = 256, class_count = 21;

torch::Tensor resized(const torch::Tensor& x, const torch::Tensor& like) {
  return at::upsample_bilinear2d(x, {like.size(2), like.size(3)}, /*align_corners=*/false);
}

/// The mean of the image at every position, concatenated with convolutions of several rates (ASPP).
Block pyramid(int64_t in) {
  Block block;
  Chain mean(nn::AdaptiveAvgPool2d(1), conv(in, head_width, 1, {.bias = false}), nn::BatchNorm2d(head_width), relu());
  std::vector<Chain> rates = {conv_norm(in, head_width)};
  for (const int64_t rate : {12, 24, 36}) rates.push_back(conv_norm(in, head_width, {.kernel = 3, .dilation = rate}));
  block.add("convs", list_of(rates))->push_back(mean);
  auto project = block.add("project", conv_norm(5 * head_width, head_width));
  project->push_back(nn::Dropout(0.5));
  return block.running([=](torch::Tensor x) mutable {
    Tensors maps;
    for (auto& layers : rates) maps.push_back(layers(x));
    maps.push_back(resized(mean(x), x));
    return project(torch::cat(maps, 1));
  });
}

class DeepLabV3 : public ImageModel {
 public:
  DeepLabV3(const std::vector<MobileBottleneck>& bottlenecks, int64_t side)
      : ImageModel(side, 32),
        backbone_(register_module("backbone", mobile_features(bottlenecks))),
        classifier_(register_module(
            "classifier",
            Chain(pyramid(6 * bottlenecks.back().out), conv(head_width, head_width, 3, {.padding = 1, .bias = false}),
                  nn::BatchNorm2d(head_width), relu(), conv(head_width, class_count, 1)))) {
    init_convolutions_he(*this);
  }

  c10::IValue forward(const Tensors& inputs) override {
    c10::Dict<std::string, torch::Tensor> result;
    result.insert("out", resized(classifier_(backbone_(inputs.at(0))), inputs.at(0)));
    return result;
  }

 private:
  Chain backbone_, classifier_;
};

constexpr auto RE = Act::relu, HS = Act::hardswish;
const std::vector<MobileBottleneck> mini_bottlenecks = {{16, 3, 16, 16, false, RE, 1},
                                                        {16, 3, 64, 24, false, RE, 2},
                                                        {24, 5, 72, 40, true, HS, 2},
                                                        {40, 5, 120, 40, true, HS, 1, 2}};

TORCHSTONE_MODEL(deeplabv3_mobilenet_v3_large, .family = "deeplab_v3", .suites = {"torchvision"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 11'025'477,
                 .make = by_preset<DeepLabV3>(std::tuple(mobile_large(/*dilation=*/2), 224),
                                              std::tuple(mini_bottlenecks, 64)));

}  // namespace
}  // namespace torchstone::deeplab_v3
