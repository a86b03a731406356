// YOLOv3-SPP: DarkNet-53, pooling of several sizes, and boxes predicted at three scales of a feature pyramid.
// Paper: Redmon, Farhadi, "YOLOv3: an incremental improvement", 2018. Original: pytorch/benchmark yolov3 (Darknet of
// yolov3-spp.cfg, from ultralytics/yolov3). Input [N, 3, 384, 512], values in [0, 1). Inference → (boxes
// [N, 12096, 85], (raw maps [N, 3, 12, 16, 85], [N, 3, 24, 32, 85], [N, 3, 48, 64, 85])). Training → a list of the raw
// maps. A box is centre, size, objectness and 80 classes. 62,998,749 parameters. mini: an eighth of the width, one
// block per stage, 64 x 96 pixels.
#include <cmath>
#include <variant>

#include "models/blocks/conv_blocks.h"

namespace torchstone::yolo_v3 {
namespace {

constexpr int64_t class_count = 80, box_values = 4 + 1 + class_count, anchors_per_level = 3, levels = 3;
/// Widths and heights in pixels, three per level. Level i has the stride 8 << i.
const double anchor_sizes[levels][anchors_per_level][2] = {
    {{10, 13}, {16, 30}, {33, 23}}, {{30, 61}, {62, 45}, {59, 119}}, {{116, 90}, {156, 198}, {373, 326}}};

Chain leaky(int64_t in, int64_t out, int64_t kernel, int64_t stride = 1) {
  return chain({{"Conv2d", same_conv(in, out, {.kernel = kernel, .stride = stride})},
                {"BatchNorm2d", batch_norm(out, 1e-4, 0.03)},
                {"activation", leaky_relu(0.1)}});
}

/// Returns the convolution before the boxes. As in the original, initial objectness and classes are improbable.
Chain prediction(int64_t in) {
  auto layer = conv(in, anchors_per_level * box_values, 1);
  torch::NoGradGuard no_grad;
  auto bias = layer->bias.view({anchors_per_level, box_values});
  bias.select(1, 4).sub_(4.5);
  bias.slice(1, 5).add_(std::log(0.6 / (class_count - 0.99)));
  return chain({{"Conv2d", layer}});
}

/// Reads boxes from the map of one level.
struct BoxesImpl : nn::Module {
  explicit BoxesImpl(int64_t level) : stride(8 << level), anchors(torch::empty({1, anchors_per_level, 1, 1, 2})) {
    for (int64_t i = 0; i < anchors_per_level; ++i) {
      for (int64_t side = 0; side < 2; ++side) {
        anchors[0][i][0][0][side] = anchor_sizes[level][i][side] / static_cast<double>(stride);
      }
    }
  }
  /// [N, 3 * 85, H, W] → [N, 3, H, W, 85].
  static torch::Tensor raw(const torch::Tensor& x) {
    return x.view({x.size(0), anchors_per_level, box_values, x.size(2), x.size(3)})
        .permute({0, 1, 3, 4, 2})
        .contiguous();
  }
  /// [N, 3, H, W, 85] → [N, 3 * H * W, 85], in pixels of the image.
  torch::Tensor boxes(const torch::Tensor& raw) {
    const auto rows = raw.size(2), columns = raw.size(3);
    const auto counts = torch::TensorOptions(torch::kInt64).device(raw.device());
    const auto axes = torch::meshgrid({torch::arange(rows, counts), torch::arange(columns, counts)}, "ij");
    const auto cells = torch::stack({axes[1], axes[0]}, 2).view({1, 1, rows, columns, 2}).to(torch::kFloat32);
    if (anchors.device() != raw.device()) anchors = anchors.to(raw.device());
    const auto result = raw.clone();
    const auto part = [&](int64_t begin, int64_t end) { return result.slice(-1, begin, end); };
    part(0, 2).copy_(torch::sigmoid(part(0, 2)) + cells);
    part(2, 4).copy_(torch::exp(part(2, 4)) * anchors);
    part(0, 4).mul_(stride);
    part(4, box_values).sigmoid_();
    return result.view({raw.size(0), -1, box_values});
  }
  int64_t stride;
  torch::Tensor anchors;  ///< in cells, float32 in every dtype of the model
};
TORCH_MODULE(Boxes);

/// Concatenates maps of earlier layers, or adds one to the last map. Has no parameters.
struct JoinImpl : nn::Module {
  JoinImpl(std::vector<size_t> from, bool is_sum) : sources(std::move(from)), adds(is_sum) {}
  torch::Tensor forward(const torch::Tensor& x, const Tensors& maps) {
    if (adds) return x + maps[sources[0]];
    Tensors parts;
    for (const auto source : sources) parts.push_back(maps[source]);
    return parts.size() == 1 ? parts[0] : torch::cat(parts, 1);
  }
  std::vector<size_t> sources;
  bool adds;
};
TORCH_MODULE(Join);

struct YoloShape {
  std::vector<int64_t> depths = {1, 2, 8, 8, 4};
  int64_t width = 32, height = 384, columns = 512;  ///< channels of the first layer; rows and columns of the image
};

/// The layers are numbered as the sections of the configuration, which gives the parameters their names.
class YoloV3 : public Model {
 public:
  explicit YoloV3(const YoloShape& shape) : shape_(shape) {
    add(leaky(3, shape.width, 3), shape.width);
    std::vector<size_t> ends;  // last layer of each stage
    for (size_t stage = 0; stage < shape.depths.size(); ++stage) {
      const auto out = 2 * shape.width << stage;
      add(leaky(channels(), out, 3, 2), out);
      for (int64_t i = 0; i < shape.depths[stage]; ++i) {
        add_pair(out / 2);
        add_join({layers_.size() - 3}, /*adds=*/true);
      }
      ends.push_back(layers_.size() - 1);
    }
    const auto deep = 16 * shape.width;
    add_pair(deep);
    add(leaky(channels(), deep, 1), deep);
    add_pools();
    add_pair(deep);
    add_pair(deep);
    add_prediction(2);
    for (const int64_t level : {1, 0}) {
      const auto out = 4 * shape.width << level;
      add_join({layers_.size() - 4});
      add(leaky(channels(), out, 1), out);
      add(nn::Functional([](const torch::Tensor& x) {
            const std::vector<double> twice = {2, 2};
            return at::upsample_nearest2d(x, at::OptionalIntArrayRef{}, twice);
          }),
          out);
      add_join({layers_.size() - 1, ends[static_cast<size_t>(2 + level)]});
      for (int i = 0; i < 3; ++i) add_pair(out);
      add_prediction(level);
    }
    register_module("module_list", list_);
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = inputs.at(0);
    Tensors maps(layers_.size()), raw, boxes;
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (auto* reader = std::get_if<Boxes>(&layers_[i])) {
        raw.push_back(BoxesImpl::raw(x));
        if (!is_training()) boxes.push_back((*reader)->boxes(raw.back()));
      } else if (auto* join = std::get_if<Join>(&layers_[i])) {
        x = (*join)->forward(x, maps);
      } else {
        x = std::get<Chain>(layers_[i])(x);
      }
      if (is_source_[i]) maps[i] = x;
    }
    if (is_training()) return c10::List<torch::Tensor>(raw);
    return c10::ivalue::Tuple::create({torch::cat(boxes, 1), c10::ivalue::Tuple::create({raw[0], raw[1], raw[2]})});
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::rand(
        {options.batch_size, 3, options.size_of("height", shape_.height), options.size_of("width", shape_.columns)})};
  }

  std::vector<ModelDimension> dimensions() const override {
    const auto most = [](int64_t size) { return std::max<int64_t>(128, size / 64 * 96); };
    return {{"height", shape_.height, 64, most(shape_.height), 32},
            {"width", shape_.columns, 64, most(shape_.columns), 32}};
  }

 private:
  int64_t channels() const { return channels_.back(); }

  template <class Layer>
  void add(const Layer& layer, int64_t out) {
    list_->push_back(layer);
    if constexpr (std::is_same_v<Layer, Chain> || std::is_same_v<Layer, Boxes> || std::is_same_v<Layer, Join>) {
      layers_.emplace_back(layer);
    } else {
      layers_.emplace_back(Chain(layer));
    }
    channels_.push_back(out);
    is_source_.push_back(false);
  }

  /// Adds a 1x1 convolution and a 3x3 convolution of twice the width.
  void add_pair(int64_t width) {
    add(leaky(channels(), width, 1), width);
    add(leaky(width, 2 * width, 3), 2 * width);
  }

  void add_join(const std::vector<size_t>& sources, bool adds = false) {
    int64_t out = 0;
    for (const auto source : sources) {
      is_source_[source] = true;
      out += channels_[source];
    }
    add(Join(sources, adds), out);
  }

  /// Adds the pyramid of pools: the map and its maxima over windows of three sizes, largest first.
  void add_pools() {
    const auto last = layers_.size() - 1;
    std::vector<size_t> maps = {last};
    for (const int64_t size : {5, 9, 13}) {
      if (size > 5) add_join({last});
      maps.insert(maps.begin(), layers_.size());
      add(max_pool(size, 1, {.padding = size / 2}), channels());
    }
    add_join(maps);
  }

  void add_prediction(int64_t level) {
    const auto out = anchors_per_level * box_values;
    add(prediction(channels()), out);
    add(Boxes(level), out);
  }

  YoloShape shape_;
  nn::ModuleList list_;
  std::vector<std::variant<Chain, Join, Boxes>> layers_;
  std::vector<int64_t> channels_;  ///< of the output of each layer
  std::vector<bool> is_source_;
};

const YoloShape mini_shape{.depths = {1, 1, 1, 1, 1}, .width = 4, .height = 64, .columns = 96};
TORCHSTONE_MODEL(yolov3, .family = "yolo_v3", .suites = {"torchbench"}, .train_batch = 16, .eval_batch = 8,
                 .parameters = 62'998'749, .make = by_preset<YoloV3>(YoloShape{}, mini_shape));

}  // namespace
}  // namespace torchstone::yolo_v3
