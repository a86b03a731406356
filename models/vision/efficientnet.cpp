// EfficientNet and related networks: inverted residuals with squeeze-and-excitation, built from tables.
// Papers: Tan, Le, "EfficientNet: rethinking model scaling for convolutional neural networks", 2019; Howard et al.,
// "Searching for MobileNetV3", 2019; Sandler et al., "MobileNetV2", 2018; Tan et al., "MnasNet", 2018; Stamoulis et
// al., "Single-path NAS", 2019; Han et al., "Model Rubik's cube", 2020 (tinynet_a); Wu et al., "FBNet", 2018. Original:
// timm's EfficientNet and MobileNetV3. Input [N, 3, 224, 224], of tinynet_a [N, 3, 192, 192] → logits [N, 1000];
// 5,288,548 (efficientnet_b0; tf_efficientnet_b0 pads as TensorFlow does), 3,504,872 (mobilenetv2_100), 5,483,032
// (mobilenetv3_large_100), 4,383,312 (mnasnet_100), 4,421,616 (spnasnet_100), 6,187,972 (tinynet_a) and 5,572,200
// (fbnetc_100) parameters. mini: three stages of 1, 2 and 1 blocks, 64 pixels.
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
};
using Stage = std::vector<Row>;

struct Shape {
  std::vector<Stage> stages;
  int64_t stem = 32, side = 224, features = 1280;
  Act act = Act::silu;
  double eps = 1e-5;
  bool tensorflow_padding = false;
  bool always_expands = false;  ///< blocks have an expanding convolution also where it keeps the channels
  bool version3 =
      false;  ///< of MobileNet: other squeezes, a last 1x1 stage, and the wide convolution after the pooling
};

/// TensorFlow's padding: if a stride does not divide the side, right and bottom get more than left and top.
torch::Tensor pad_as_tensorflow(const torch::Tensor& x, int64_t kernel, int64_t stride) {
  const auto missing = [&](int64_t size) {
    return std::max<int64_t>(0, ((size + stride - 1) / stride - 1) * stride + kernel - size);
  };
  const auto rows = missing(x.size(2)), columns = missing(x.size(3));
  return torch::constant_pad_nd(x, {columns / 2, columns - columns / 2, rows / 2, rows - rows / 2});
}

/// Adds convolution, norm and activation under these names.
void append(ChainImpl& layers, const std::string& conv_name, const std::string& norm_name, int64_t in, int64_t out,
            const Shape& network, const ConvNorm& shape) {
  if (network.tensorflow_padding && shape.stride > 1) {
    layers.push_back("pad_" + conv_name,
                     nn::Functional([kernel = shape.kernel, stride = shape.stride](const torch::Tensor& x) {
                       return pad_as_tensorflow(x, kernel, stride);
                     }));
    layers.push_back(std::string(conv_name),
                     conv(in, out, shape.kernel, {.stride = shape.stride, .groups = shape.groups, .bias = false}));
  } else {
    layers.push_back(std::string(conv_name), same_conv(in, out, shape));
  }
  layers.push_back(std::string(norm_name), batch_norm(out, network.eps));
  if (shape.act != Act::none) layers.push_back("act_" + norm_name, activation(shape.act));
}

SkipChain block(int64_t in, const Row& row, int64_t stride, const Shape& network) {
  const auto act = row.act == Act::none ? network.act : row.act;
  const auto hidden = round_channels(static_cast<double>(in) * row.expansion);
  const bool expands = row.expansion != 1 || network.always_expands;
  SkipChain layers(stride == 1 && in == row.channels);
  if (expands) append(*layers, "conv_pw", "bn1", in, hidden, network, {.act = act});
  append(*layers, "conv_dw", expands ? "bn2" : "bn1", hidden, hidden, network,
         {.kernel = row.kernel, .stride = stride, .groups = hidden, .act = act});
  if (row.squeeze > 0) {
    const auto part = row.squeeze * static_cast<double>(network.version3 ? hidden : in);
    SqueezeExciteShape gate{.channels = hidden, .squeezed = static_cast<int64_t>(part), .act = act};
    if (network.version3) gate = {.channels = hidden, .squeezed = round_channels(part), .gate = Act::hardsigmoid};
    gate.reduce = "conv_reduce";
    gate.expand = "conv_expand";
    layers->push_back("se", squeeze_excite(gate));
  }
  append(*layers, expands ? "conv_pwl" : "conv_pw", expands ? "bn3" : "bn2", hidden, row.channels, network,
         {.act = Act::none});
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
    if (shape.version3) {
      Chain last, stage;
      append(*last, "conv", "bn1", in, 6 * in, shape, {.act = shape.act});
      stage->push_back(last);
      blocks->push_back(stage);
      head->push_back("pool", pool);
      head->push_back("conv_head", conv(6 * in, shape.features, 1));
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

auto make(const Shape& full) {
  auto mini = full;
  const auto squeeze = full.stages.front().front().squeeze;
  mini.stages = {{{1, 3, 1, 1, 16, squeeze}}, {{2, 3, 2, 6, 24, squeeze}}, {{1, 5, 2, 3, 40, squeeze}}};
  if (full.version3) mini.stages.back().front().squeeze = 0.25;
  mini.stem = 16;
  mini.side = 64;
  return by_preset<EfficientNet>(full, mini);
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
                 .make = make({.stages = mobilenet_v3_stages, .stem = 16, .act = Act::hardswish, .version3 = true}));

}  // namespace
}  // namespace torchstone::efficientnet
