// EfficientNet and related networks: inverted residuals with squeeze-and-excitation, built from tables.
// Papers: Tan, Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019; Howard et al.,
// "Searching for MobileNetV3", 2019; Sandler et al., "MobileNetV2", 2018; Tan et al., "MnasNet", 2018; Stamoulis et
// al., "Single-path NAS", 2019; Han et al., "Model Rubik's cube", 2020 (tinynet_a); Wu et al., "FBNet", 2018; Dai et
// al., "FBNetV3", 2020; Cui et al., "PP-LCNet", 2021; Tan, Le, "MixConv: mixed depthwise convolutional kernels", 2019.
// Original: timm's EfficientNet and MobileNetV3. Input [N, 3, 224, 224], of tinynet_a [N, 3, 192, 192], of fbnetv3_b in
// inference [N, 3, 256, 256] → logits [N, 1000]; 5,288,548 (efficientnet_b0; tf_efficientnet_b0 pads as TensorFlow
// does), 3,504,872 (mobilenetv2_100), 5,483,032 (mobilenetv3_large_100), 4,383,312 (mnasnet_100), 4,421,616
// (spnasnet_100), 6,187,972 (tinynet_a), 5,572,200 (fbnetc_100), 8,598,464 (fbnetv3_b), 1,880,856 (lcnet_050) and
// 7,329,252 (mixnet_l; tf_mixnet_l pads as TensorFlow does) parameters.
// mini: three stages of 1, 2 and 1 blocks, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::efficientnet {
namespace {

/// Blocks of one kind. The first has the stride.
struct Row {
  int64_t depth, kernel, stride;
  double expansion;
  int64_t channels;
  double squeeze = 0.25;  ///< squeezed channels as a fraction of the block's input (MobileNetV3: of the expanded ones)
  Act act = Act::none;    ///< none: the network's activation
  int64_t kernels = 1;    ///< of the depthwise convolution, each for its part of the channels: kernel, kernel + 2, …
  int64_t first_parts = 1, last_parts = 1;  ///< of the channels in the expanding and in the projecting convolution
};
using Stage = std::vector<Row>;

enum class Gate {
  efficientnet,
  mobilenet_v3,  ///< squeezes a part of the expanded channels
  fbnet_v3,
};

struct Shape {
  std::vector<Stage> stages;
  int64_t stem = 32, side = 224, features = 1280;
  int64_t test_side = side;  ///< in inference
  Act act = Act::silu;
  double eps = 1e-5;
  bool tensorflow_padding = false;
  bool always_expands = false;  ///< blocks have an expanding convolution also where it keeps the channels
  bool separable = false;       ///< blocks have no shortcut, and an activation at their end
  Gate gate = Gate::efficientnet;
  bool last_stage = false;   ///< a 1x1 convolution to six times the channels
  bool pools_first = false;  ///< before the wide convolution, which has no norm then
  bool head_bias = true;     ///< of that convolution
};

nn::Conv2d unpadded_conv(int64_t in, int64_t out, const ConvNorm& shape) {
  return conv(in, out, shape.kernel, {.stride = shape.stride, .groups = shape.groups, .bias = false});
}

/// Returns convolutions of equal parts of the channels, if depthwise with growing kernels: [N, in, H, W] → [N, out, H',
/// W'].
Block mixed_conv(int64_t in, int64_t out, const ConvNorm& shape, int64_t parts, bool pads) {
  Block block;
  std::vector<nn::Conv2d> convs;
  for (int64_t i = 0; i < parts; ++i) {
    auto part = shape;
    if (shape.groups > 1) {
      part.kernel += 2 * i;
      part.groups = in / parts;
    }
    convs.push_back(block.add(std::to_string(i), (pads ? unpadded_conv : same_conv)(in / parts, out / parts, part)));
  }
  return block.running([=, stride = shape.stride](const torch::Tensor& x) mutable {
    auto inputs = x.split(in / parts, 1);
    Tensors outputs;
    for (size_t i = 0; i < convs.size(); ++i) {
      const auto kernel = convs[i]->weight.size(2);
      outputs.push_back(convs[i](pads ? pad_as_tensorflow(inputs[i], kernel, stride) : inputs[i]));
    }
    return torch::cat(outputs, 1);
  });
}

/// Adds convolution, norm and activation under these names.
void append(ChainImpl& layers, const std::string& conv_name, const std::string& norm_name, int64_t in, int64_t out,
            const Shape& network, const ConvNorm& shape, int64_t parts = 1) {
  const bool pads = network.tensorflow_padding && shape.stride > 1;
  if (parts > 1) {
    layers.push_back(std::string(conv_name), mixed_conv(in, out, shape, parts, pads));
  } else if (pads) {
    layers.push_back("pad_" + conv_name,
                     nn::Functional([kernel = shape.kernel, stride = shape.stride](const torch::Tensor& x) {
                       return pad_as_tensorflow(x, kernel, stride);
                     }));
    layers.push_back(std::string(conv_name), unpadded_conv(in, out, shape));
  } else {
    layers.push_back(std::string(conv_name), same_conv(in, out, shape));
  }
  layers.push_back(std::string(norm_name), batch_norm(out, network.eps));
  if (shape.act != Act::none) layers.push_back("act_" + norm_name, activation(shape.act));
}

SqueezeExciteShape gate_of(int64_t in, int64_t hidden, const Row& row, Act act, Gate kind) {
  const auto part = row.squeeze * static_cast<double>(kind == Gate::mobilenet_v3 ? hidden : in);
  SqueezeExciteShape gate{.channels = hidden, .squeezed = static_cast<int64_t>(part), .act = act};
  if (kind != Gate::efficientnet) {
    gate.squeezed = round_channels(part);
    gate.gate = Act::hardsigmoid;
  }
  if (kind == Gate::mobilenet_v3) gate.act = Act::relu;
  gate.reduce = "conv_reduce";
  gate.expand = "conv_expand";
  return gate;
}

SkipChain block(int64_t in, const Row& row, int64_t stride, const Shape& network) {
  const auto act = row.act == Act::none ? network.act : row.act;
  const auto hidden = round_channels(static_cast<double>(in) * row.expansion);
  const bool expands = row.expansion != 1 || network.always_expands;
  SkipChain layers(stride == 1 && in == row.channels && !network.separable);
  if (expands) append(*layers, "conv_pw", "bn1", in, hidden, network, {.act = act}, row.first_parts);
  append(*layers, "conv_dw", expands ? "bn2" : "bn1", hidden, hidden, network,
         {.kernel = row.kernel, .stride = stride, .groups = hidden, .act = act}, row.kernels);
  if (row.squeeze > 0) layers->push_back("se", squeeze_excite(gate_of(in, hidden, row, act, network.gate)));
  append(*layers, expands ? "conv_pwl" : "conv_pw", expands ? "bn3" : "bn2", hidden, row.channels, network,
         {.act = network.separable ? act : Act::none}, row.last_parts);
  return layers;
}

class EfficientNet : public Layered<ByteImageModel> {
 public:
  explicit EfficientNet(const Shape& shape) : Layered(shape.side, 32) {
    Chain stem, head, blocks;
    append(*stem, "conv_stem", "bn1", 3, shape.stem, shape, {.kernel = 3, .stride = 2, .act = shape.act});
    auto in = shape.stem;
    for (const auto& stage : shape.stages) {
      Chain layers;
      for (const auto& row : stage) {
        for (int64_t i = 0; i < row.depth; ++i) {
          layers->push_back(block(in, row, i == 0 ? row.stride : 1, shape));
          in = row.channels;
        }
      }
      blocks->push_back(layers);
    }
    const nn::AdaptiveAvgPool2d pool(nn::AdaptiveAvgPool2dOptions(1));
    if (shape.last_stage) {
      Chain last, stage;
      append(*last, "conv", "bn1", in, 6 * in, shape, {.act = shape.act});
      stage->push_back(last);
      blocks->push_back(stage);
      in *= 6;
    }
    if (shape.pools_first) {
      head->push_back("pool", pool);
      head->push_back("conv_head", conv(in, shape.features, 1, {.bias = shape.head_bias}));
      head->push_back("act", activation(shape.act));
    } else {
      append(*head, "conv_head", "bn2", in, shape.features, shape, {.act = shape.act});
      head->push_back("pool", pool);
    }
    head->push_back("flatten", nn::Flatten());
    head->push_back("classifier", nn::Linear(shape.features, 1000));
    adopt(stem);
    add("blocks", blocks);
    adopt(head);
    init_convolutions_he(*this);
    init_linears_normal(*this, 0.01);
  }

 private:
  /// Adds layers that become children of the model itself.
  void adopt(const Chain& layers) {
    for (const auto& child : layers->named_children()) register_module(child.key(), child.value());
    add(layers);
  }
};

const std::vector<Stage> b0_stages = {{{1, 3, 1, 1, 16}},  {{2, 3, 2, 6, 24}},  {{2, 5, 2, 6, 40}}, {{3, 3, 2, 6, 80}},
                                      {{3, 5, 1, 6, 112}}, {{4, 5, 2, 6, 192}}, {{1, 3, 1, 6, 320}}};
const std::vector<Stage> mobilenet_v2_stages = {{{1, 3, 1, 1, 16, 0}}, {{2, 3, 2, 6, 24, 0}}, {{3, 3, 2, 6, 32, 0}},
                                                {{4, 3, 2, 6, 64, 0}}, {{3, 3, 1, 6, 96, 0}}, {{3, 3, 2, 6, 160, 0}},
                                                {{1, 3, 1, 6, 320, 0}}};
const std::vector<Stage> mnasnet_stages = {{{1, 3, 1, 1, 16, 0}}, {{3, 3, 2, 3, 24, 0}}, {{3, 5, 2, 3, 40, 0}},
                                           {{3, 5, 2, 6, 80, 0}}, {{2, 3, 1, 6, 96, 0}}, {{4, 5, 2, 6, 192, 0}},
                                           {{1, 3, 1, 6, 320, 0}}};
const std::vector<Stage> single_path_stages = {{{1, 3, 1, 1, 16, 0}},
                                               {{3, 3, 2, 3, 24, 0}},
                                               {{1, 5, 2, 6, 40, 0}, {3, 3, 1, 3, 40, 0}},
                                               {{1, 5, 2, 6, 80, 0}, {3, 3, 1, 3, 80, 0}},
                                               {{1, 5, 1, 6, 96, 0}, {3, 5, 1, 3, 96, 0}},
                                               {{4, 5, 2, 6, 192, 0}},
                                               {{1, 3, 1, 6, 320, 0}}};
const std::vector<Stage> tiny_stages = {{{1, 3, 1, 1, 16}}, {{2, 3, 2, 6, 24}},  {{2, 5, 2, 6, 40}},
                                        {{4, 3, 2, 6, 80}}, {{4, 5, 1, 6, 112}}, {{5, 5, 2, 6, 192}},
                                        {{1, 3, 1, 6, 320}}};
const std::vector<Stage> fbnet_stages = {
    {{1, 3, 1, 1, 16, 0}},
    {{1, 3, 2, 6, 24, 0}, {2, 3, 1, 1, 24, 0}},
    {{1, 5, 2, 6, 32, 0}, {1, 5, 1, 3, 32, 0}, {1, 5, 1, 6, 32, 0}, {1, 3, 1, 6, 32, 0}},
    {{1, 5, 2, 6, 64, 0}, {1, 5, 1, 3, 64, 0}, {2, 5, 1, 6, 64, 0}},
    {{3, 5, 1, 6, 112, 0}, {1, 5, 1, 3, 112, 0}},
    {{4, 5, 2, 6, 184, 0}},
    {{1, 3, 1, 6, 352, 0}}};
const std::vector<Stage> mobilenet_v3_stages = {{{1, 3, 1, 1, 16, 0, Act::relu}},
                                                {{1, 3, 2, 4, 24, 0, Act::relu}, {1, 3, 1, 3, 24, 0, Act::relu}},
                                                {{3, 5, 2, 3, 40, 0.25, Act::relu}},
                                                {{1, 3, 2, 6, 80, 0}, {1, 3, 1, 2.5, 80, 0}, {2, 3, 1, 2.3, 80, 0}},
                                                {{2, 3, 1, 6, 112}},
                                                {{3, 5, 2, 6, 160}}};

const std::vector<Stage> fbnet_v3_stages = {{{2, 3, 1, 1, 16, 0}},
                                            {{1, 5, 2, 4, 24, 0}, {3, 5, 1, 2, 24, 0}},
                                            {{1, 5, 2, 5, 40}, {4, 5, 1, 3, 40}},
                                            {{1, 5, 2, 5, 72, 0}, {4, 3, 1, 3, 72, 0}},
                                            {{1, 3, 1, 5, 120}, {5, 5, 1, 3, 120}},
                                            {{1, 3, 2, 6, 184}, {5, 5, 1, 4, 184}, {1, 5, 1, 6, 224}}};
const std::vector<Stage> light_stages = {{{1, 3, 1, 1, 16, 0}},  {{2, 3, 2, 1, 32, 0}},
                                         {{2, 3, 2, 1, 64, 0}},  {{1, 3, 2, 1, 128, 0}, {1, 5, 1, 1, 128, 0}},
                                         {{4, 5, 1, 1, 128, 0}}, {{2, 5, 2, 1, 256}}};
const std::vector<Stage> mixed_stages = {
    {{1, 3, 1, 1, 32, 0}},
    {{1, 3, 2, 6, 40, 0, Act::relu, 3, 2, 2}, {1, 3, 1, 3, 40, 0, Act::relu, 1, 2, 2}},
    {{1, 3, 2, 6, 56, 0.5, Act::silu, 4}, {3, 3, 1, 6, 56, 0.5, Act::silu, 2, 2, 2}},
    {{1, 3, 2, 6, 104, 0.25, Act::silu, 3}, {3, 3, 1, 6, 104, 0.25, Act::silu, 4, 2, 2}},
    {{1, 3, 1, 6, 160, 0.5, Act::silu}, {3, 3, 1, 3, 160, 0.5, Act::silu, 4, 2, 2}},
    {{1, 3, 2, 6, 264, 0.5, Act::silu, 4}, {3, 3, 1, 6, 264, 0.5, Act::silu, 4, 1, 2}}};
const std::vector<Stage> mini_mixed_stages = {
    {{1, 3, 1, 1, 16, 0}},
    {{1, 3, 2, 6, 24, 0, Act::relu, 3, 2, 2}, {1, 3, 1, 3, 24, 0, Act::relu, 1, 2, 2}},
    {{1, 3, 2, 3, 40, 0.5, Act::silu, 4, 1, 2}}};

/// Returns three stages of 1, 2 and 1 blocks.
std::vector<Stage> mini_stages(double squeeze, double last_squeeze) {
  return {{{1, 3, 1, 1, 16, squeeze}}, {{2, 3, 2, 6, 24, squeeze}}, {{1, 5, 2, 3, 40, last_squeeze}}};
}

auto make(const Shape& full, const std::vector<Stage>& stages_of_mini) {
  auto mini = full;
  mini.stages = stages_of_mini;
  mini.stem = 16;
  mini.side = mini.test_side = 64;
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    auto shape = options.preset == Preset::full ? full : mini;
    if (options.mode == Mode::inference) shape.side = shape.test_side;
    return std::make_shared<EfficientNet>(shape);
  };
}

auto make(const Shape& full) {
  const auto squeeze = full.stages.front().front().squeeze;
  return make(full, mini_stages(squeeze, squeeze));
}

TORCHSTONE_MODEL(efficientnet_b0, .family = "efficientnet", .suites = {"timm"}, .train_batch = 32, .eval_batch = 64,
                 .parameters = 5'288'548, .make = make({.stages = b0_stages}));
TORCHSTONE_MODEL(tf_efficientnet_b0, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 5'288'548,
                 .make = make({.stages = b0_stages, .eps = 1e-3, .tensorflow_padding = true}));
TORCHSTONE_MODEL(mobilenetv2_100, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 3'504'872, .make = make({.stages = mobilenet_v2_stages, .act = Act::relu6}));
TORCHSTONE_MODEL(mnasnet_100, .family = "efficientnet", .suites = {"timm"}, .train_batch = 512, .eval_batch = 512,
                 .parameters = 4'383'312, .make = make({.stages = mnasnet_stages, .act = Act::relu}));
TORCHSTONE_MODEL(spnasnet_100, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 4'421'616, .make = make({.stages = single_path_stages, .act = Act::relu}));
TORCHSTONE_MODEL(tinynet_a, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 6'187'972, .make = make({.stages = tiny_stages, .side = 192}));
TORCHSTONE_MODEL(
    fbnetc_100, .family = "efficientnet", .suites = {"timm"}, .train_batch = 512, .eval_batch = 512,
    .parameters = 5'572'200,
    .make = make({.stages = fbnet_stages, .stem = 16, .features = 1984, .act = Act::relu, .always_expands = true}));
TORCHSTONE_MODEL(mobilenetv3_large_100, .family = "efficientnet", .suites = {"timm"}, .train_batch = 512,
                 .eval_batch = 512, .parameters = 5'483'032,
                 .make = make({.stages = mobilenet_v3_stages,
                               .stem = 16,
                               .act = Act::hardswish,
                               .gate = Gate::mobilenet_v3,
                               .last_stage = true,
                               .pools_first = true},
                              mini_stages(0, 0.25)));
TORCHSTONE_MODEL(fbnetv3_b, .family = "efficientnet", .suites = {"timm"}, .train_batch = 256, .eval_batch = 256,
                 .parameters = 8'598'464,
                 .make = make({.stages = fbnet_v3_stages,
                               .stem = 16,
                               .features = 1984,
                               .test_side = 256,
                               .act = Act::hardswish,
                               .gate = Gate::fbnet_v3,
                               .last_stage = true,
                               .pools_first = true,
                               .head_bias = false},
                              mini_stages(0, 0.25)));
TORCHSTONE_MODEL(lcnet_050, .family = "efficientnet", .suites = {"timm"}, .train_batch = 256, .eval_batch = 256,
                 .parameters = 1'880'856,
                 .make = make({.stages = light_stages,
                               .stem = 8,
                               .act = Act::hardswish,
                               .separable = true,
                               .gate = Gate::mobilenet_v3,
                               .pools_first = true},
                              {{{1, 3, 1, 1, 16, 0}}, {{2, 3, 2, 1, 32, 0}}, {{1, 5, 2, 1, 40}}}));
TORCHSTONE_MODEL(mixnet_l, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 7'329'252,
                 .make = make({.stages = mixed_stages, .features = 1536, .act = Act::relu}, mini_mixed_stages));
TORCHSTONE_MODEL(
    tf_mixnet_l, .family = "efficientnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
    .parameters = 7'329'252,
    .make = make({.stages = mixed_stages, .features = 1536, .act = Act::relu, .eps = 1e-3, .tensorflow_padding = true},
                 mini_mixed_stages));

}  // namespace
}  // namespace torchstone::efficientnet
