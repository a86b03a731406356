// Mask R-CNN: boxes proposed on a feature pyramid of ResNet-50, then classified, refined and given a mask each.
// Paper: He, Gkioxari, Dollár, Girshick, "Mask R-CNN", 2017. Original:
// torchvision.models.detection.maskrcnn_resnet50_fpn as with its published weights: frozen BatchNorm, whose epsilon is
// 0, and frozen first layers. Input images [N, 3, 224, 224], values in [0, 1), which forward resizes to 800 → a list of
// N dicts of boxes [D, 4], labels [D], scores [D] and masks [D, 1, 224, 224], best score first. Training also takes
// true boxes [N, 2, 4], labels [N, 2] and masks [N, 2, 224, 224] → a dict of five losses. 44,401,393 parameters. mini:
// blocks 1, 1, 1, 1, 64 pixels, at most 20 proposals and 10 detections.
//
// Sizes depend on the data, as in the original's eager: scores and overlaps decide how many proposals and detections an
// image has, and forward reads these numbers back. So no capture holds the whole model. Two of the original's kernels
// are ATen operators here, and take other times: NMS and RoIAlign (models/blocks). Inference is deterministic. Training
// draws candidates at random from the default generator.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/region_heads.h"

namespace torchstone::mask_rcnn {
namespace {

constexpr int64_t class_count = 91, pyramid_width = 256, true_boxes = 2;

struct Detector {
  std::vector<int64_t> depths = {3, 4, 6, 3};
  int64_t side = 224, resized = 800, longest = 1333;
  ProposalLimits limits{};
  RegionHeadsShape heads{.width = pyramid_width, .classes = class_count};
};

/// BatchNorm with fixed statistics and scale. All four are buffers.
struct FrozenNormImpl : nn::Module {
  explicit FrozenNormImpl(int64_t channels)
      : weight(register_buffer("weight", torch::ones({channels}))),
        bias(register_buffer("bias", torch::zeros({channels}))),
        mean(register_buffer("running_mean", torch::zeros({channels}))),
        variance(register_buffer("running_var", torch::ones({channels}))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto shaped = [](const torch::Tensor& values) { return values.reshape({1, -1, 1, 1}); };
    const auto scale = shaped(weight) * (shaped(variance) + 0.0).rsqrt();
    return x * scale + (shaped(bias) - shaped(mean) * scale);
  }
  torch::Tensor weight, bias, mean, variance;
};
TORCH_MODULE(FrozenNorm);

/// Four maps of ResNet's stages with a common width, the smaller ones added to the larger, and a fifth of half the
/// size.
struct PyramidImpl : nn::Module {
  explicit PyramidImpl(const std::vector<int64_t>& depths) {
    auto conv1 = conv(3, 64, 7, {.stride = 2, .padding = 3, .bias = false});
    stem = Chain(conv1, FrozenNorm(64), relu(), max_pool(3, 2, {.padding = 1}));
    std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> body = {{"conv1", conv1.ptr()},
                                                                             {"bn1", stem->ptr(1)}};
    int64_t in = 64;
    for (size_t i = 0; i < depths.size(); ++i) {
      const int64_t width = 64 << i;
      Chain blocks;
      for (int64_t k = 0; k < depths[i]; ++k) {
        blocks->push_back(bottleneck<FrozenNorm>(in, width, i > 0 && k == 0 ? 2 : 1));
        in = bottleneck_expansion * width;
      }
      stages.push_back(blocks);
      body.emplace_back("layer" + std::to_string(i + 1), blocks.ptr());
      laterals.push_back(Chain(conv(in, pyramid_width, 1)));
      outputs.push_back(Chain(conv(pyramid_width, pyramid_width, 3, {.padding = 1})));
    }
    register_module("body", group(body));
    register_module("fpn",
                    group({{"inner_blocks", list_of(laterals).ptr()}, {"layer_blocks", list_of(outputs).ptr()}}));
    init_convolutions_he(*this);
    for (auto* layers : {&laterals, &outputs}) {
      for (auto& layer : *layers) nn::init::kaiming_uniform_(layer->parameters()[0], 1);
    }
  }
  Tensors forward(const torch::Tensor& images) {
    auto x = stem(images);
    Tensors maps;
    for (auto& stage : stages) maps.push_back(x = stage(x));
    Tensors levels(maps.size());
    torch::Tensor last;
    for (size_t i = maps.size(); i-- > 0;) {
      auto lateral = laterals[i](maps[i]);
      if (last.defined()) lateral = lateral + at::upsample_nearest2d(last, {lateral.size(2), lateral.size(3)});
      last = lateral;
      levels[i] = outputs[i](last);
    }
    levels.push_back(torch::max_pool2d(levels.back(), 1, 2));
    return levels;
  }
  Chain stem;
  std::vector<Chain> stages, laterals, outputs;
};
TORCH_MODULE(Pyramid);

/// Scales boxes from an image of one size to another.
torch::Tensor resize_boxes(const torch::Tensor& boxes, const ImageSize& from, const ImageSize& to) {
  const auto ratio = [&](int64_t before, int64_t after) {
    return static_cast<double>(static_cast<float>(after) / static_cast<float>(before));
  };
  const auto x = ratio(from.width, to.width), y = ratio(from.height, to.height);
  const auto sides = boxes.unbind(1);
  return torch::stack({sides[0] * x, sides[1] * y, sides[2] * x, sides[3] * y}, 1);
}

/// Draws square masks [D, 1, 28, 28] into their boxes of an image: [D, 1, height, width]. Reads the boxes back, once.
torch::Tensor paste_masks(const torch::Tensor& masks, const torch::Tensor& boxes, const ImageSize& image) {
  if (masks.size(0) == 0) return masks.new_empty({0, 1, image.height, image.width});
  const auto padded = torch::constant_pad_nd(masks, {1, 1, 1, 1});
  const double scale = static_cast<double>(padded.size(-1)) / static_cast<double>(masks.size(-1));
  const auto begin = boxes.slice(1, 0, 2), end = boxes.slice(1, 2);
  const auto half = (end - begin) * 0.5 * scale, centre = (end + begin) * 0.5;
  const auto places = torch::cat({centre - half, centre + half}, 1).to(torch::kInt64).cpu();
  const auto rows = places.accessor<int64_t, 2>();
  Tensors images;
  for (int64_t i = 0; i < masks.size(0); ++i) {
    const auto x1 = rows[i][0], y1 = rows[i][1], x2 = rows[i][2] + 1, y2 = rows[i][3] + 1;
    const auto height = std::max<int64_t>(y2 - y1, 1), width = std::max<int64_t>(x2 - x1, 1);
    const auto drawn = at::upsample_bilinear2d(padded.narrow(0, i, 1), {height, width}, /*align_corners=*/false)[0][0];
    auto canvas = torch::zeros({image.height, image.width}, drawn.options());
    const auto left = std::max<int64_t>(x1, 0), right = std::min(x2, image.width);
    const auto top = std::max<int64_t>(y1, 0), bottom = std::min(y2, image.height);
    canvas.slice(0, top, bottom)
        .slice(1, left, right)
        .copy_(drawn.slice(0, top - y1, bottom - y1).slice(1, left - x1, right - x1));
    images.push_back(canvas);
  }
  return torch::stack(images).unsqueeze(1);
}

class MaskRcnn : public Model {
 public:
  explicit MaskRcnn(const Detector& sizes)
      : sizes_(sizes),
        backbone_(register_module("backbone", Pyramid(sizes.depths))),
        proposer_(register_module("rpn", Proposer(pyramid_width, sizes.limits))),
        heads_(register_module("roi_heads", RegionHeads(sizes.heads))) {
    for (auto& parameter : backbone_->stem->parameters()) parameter.set_requires_grad(false);
    for (auto& parameter : backbone_->stages[0]->parameters()) parameter.set_requires_grad(false);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& images = inputs.at(0);
    const ImageSize original{images.size(2), images.size(3)};
    if (is_training() && inputs.size() < 4) throw std::invalid_argument("training requires true boxes, labels, masks");
    DetectionTargets targets;
    const auto [batch, size] = prepare(inputs, targets);
    const auto levels = backbone_(batch);
    NamedLosses of_proposals, losses;
    const auto proposals = proposer_(levels, batch, size, is_training() ? &targets : nullptr, of_proposals);
    if (is_training()) {
      heads_->add_losses(levels, proposals, size, targets, losses);
      c10::Dict<std::string, torch::Tensor> result;
      for (const auto& [name, loss] : losses) result.insert(name, loss);
      for (const auto& [name, loss] : of_proposals) result.insert(name, loss);
      return result;
    }
    c10::List<c10::Dict<std::string, torch::Tensor>> result;
    for (const auto& found : heads_->find(levels, proposals, size)) {
      const auto boxes = resize_boxes(found.boxes, size, original);
      c10::Dict<std::string, torch::Tensor> one;
      one.insert("boxes", boxes);
      one.insert("labels", found.labels);
      one.insert("scores", found.scores);
      one.insert("masks", paste_masks(found.masks, boxes, original));
      result.push_back(one);
    }
    return result;
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto count = options.batch_size, side = sizes_.side;
    Tensors inputs = {torch::rand({count, 3, side, side})};
    if (options.mode == Mode::inference) return inputs;
    const auto begin = torch::randint(side / 2, {count, true_boxes, 2}, torch::kInt64);
    const auto sides = torch::randint(side / 4, side / 2, {count, true_boxes, 2}, torch::kInt64);
    inputs.push_back(torch::cat({begin, begin + sides}, -1));
    inputs.push_back(torch::randint(1, class_count, {count, true_boxes}, torch::kInt64));
    inputs.push_back(torch::randint(2, {count, true_boxes, side, side}, torch::kInt64));
    return inputs;
  }

 private:
  /// Normalises and resizes the images one by one, and copies them into a batch whose sides are multiples of 32. Reads
  /// the targets of training, and resizes them as well.
  std::pair<torch::Tensor, ImageSize> prepare(const Tensors& inputs, DetectionTargets& targets) {
    const auto& images = inputs.at(0);
    const auto height = static_cast<double>(images.size(2)), width = static_cast<double>(images.size(3));
    const auto scale = std::min(static_cast<double>(sizes_.resized) / std::min(height, width),
                                static_cast<double>(sizes_.longest) / std::max(height, width));
    const ImageSize before{images.size(2), images.size(3)};
    const ImageSize size{static_cast<int64_t>(std::floor(height * scale)),
                         static_cast<int64_t>(std::floor(width * scale))};
    const auto mean = torch::tensor({0.485, 0.456, 0.406}, images.options()).view({3, 1, 1});
    const auto deviation = torch::tensor({0.229, 0.224, 0.225}, images.options()).view({3, 1, 1});
    const auto padded = [](int64_t side) { return (side + 31) / 32 * 32; };
    auto batch = images.new_zeros({images.size(0), 3, padded(size.height), padded(size.width)});
    for (int64_t i = 0; i < images.size(0); ++i) {
      const auto image = ((images[i] - mean) / deviation).unsqueeze(0);
      if (is_training()) {
        torch::empty({1}).uniform_();  // the original chooses one of its sizes at random, and has only one
        const auto boxes = inputs.at(1)[i].to(torch::kFloat32);
        if ((boxes.slice(1, 2) <= boxes.slice(1, 0, 2)).any().item<bool>()) {
          throw std::invalid_argument("true boxes must have positive sides");
        }
        const auto masks = inputs.at(3)[i].unsqueeze(1).to(torch::kFloat32);
        targets.boxes.push_back(resize_boxes(boxes, before, size));
        targets.labels.push_back(inputs.at(2)[i]);
        targets.masks.push_back(
            at::upsample_nearest2d(masks, {size.height, size.width}).select(1, 0).to(torch::kUInt8));
      }
      const auto resized = at::upsample_bilinear2d(image, {size.height, size.width}, /*align_corners=*/false)[0];
      batch[i].slice(1, 0, size.height).slice(2, 0, size.width).copy_(resized);
    }
    return {batch, size};
  }

  Detector sizes_;
  Pyramid backbone_;
  Proposer proposer_;
  RegionHeads heads_;
};

// With few layers random logits differ so little that no score would reach the threshold of 0.05 without a gain.
const Detector mini{
    .depths = {1, 1, 1, 1},
    .side = 64,
    .resized = 64,
    .longest = 128,
    .limits = {.proposals = 20, .training_proposals = 20},
    .heads = {.width = pyramid_width, .classes = class_count, .hidden = 64, .detections = 10, .score_gain = 30}};
TORCHSTONE_MODEL(vision_maskrcnn, .family = "mask_rcnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 44'401'393, .fixed_batch = true, .make = by_preset<MaskRcnn>(Detector{}, mini));

}  // namespace
}  // namespace torchstone::mask_rcnn
