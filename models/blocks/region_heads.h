#pragma once
#include "models/blocks/region_proposals.h"
#include "models/blocks/roi_align.h"

// The second stage of Mask R-CNN (He, Gkioxari, Dollár, Girshick, "Mask R-CNN", 2017), after
// torchvision.models.detection.roi_heads. How many detections an image has depends on the data.

namespace torchstone {

struct RegionHeadsShape {
  int64_t width, classes;  ///< channels of the feature maps; classes with the background
  int64_t hidden = 1024, detections = 100;
  double score_gain = 1;  ///< factor of the initial weights of the classes
};

/// Objects found in one image.
struct Detections {
  torch::Tensor boxes, labels, scores, masks;
};

/// The candidates of training: some proposals of each image with their class, true box and codes.
struct Candidates {
  Tensors boxes, labels, rows;
  torch::Tensor codes;
};

/// The second stage: classes and codes of proposals, and the masks of what remains.
struct RegionHeadsImpl : nn::Module {
  explicit RegionHeadsImpl(const RegionHeadsShape& given)
      : shape(given),
        fc6(given.width * box_cells * box_cells, given.hidden),
        fc7(given.hidden, given.hidden),
        classes(given.hidden, given.classes),
        refinement(given.hidden, 4 * given.classes) {
    register_module("box_head", group({{"fc6", fc6.ptr()}, {"fc7", fc7.ptr()}}));
    register_module("box_predictor", group({{"cls_score", classes.ptr()}, {"bbox_pred", refinement.ptr()}}));
    for (int i = 0; i < 4; ++i) {
      mask_head->push_back(Chain(conv(given.width, given.width, 3, {.padding = 1}), relu()));
    }
    register_module("mask_head", mask_head);
    nn::ConvTranspose2d widen(nn::ConvTranspose2dOptions(given.width, given.width, 2).stride(2));
    auto logits = conv(given.width, given.classes, 1);
    mask_predictor = register_module("mask_predictor",
                                     chain({{"conv5_mask", widen}, {"relu", relu()}, {"mask_fcn_logits", logits}}));
    init_convolutions_he(*mask_head);
    torch::NoGradGuard no_grad;
    classes->weight.mul_(given.score_gain);
    for (const auto& weight : {widen->weight, logits->weight}) {
      nn::init::kaiming_normal_(weight, 0, torch::kFanOut, torch::kReLU);
    }
  }

  std::vector<Detections> find(const Tensors& levels, const Tensors& proposals, const ImageSize& size) {
    const auto [logits, codes] = classify(levels, proposals, size);
    auto found = best(logits, codes, proposals, size);
    Tensors boxes, labels;
    std::vector<int64_t> counts;
    for (const auto& one : found) {
      boxes.push_back(one.boxes);
      labels.push_back(one.labels);
      counts.push_back(one.labels.size(0));
    }
    const auto all_labels = torch::cat(labels);
    const auto masks = torch::sigmoid(mask_logits(levels, boxes, size));
    const auto rows = torch::arange(masks.size(0), all_labels.options());
    const auto parts = masks.index({rows, all_labels}).unsqueeze(1).split_with_sizes(counts);
    for (size_t i = 0; i < found.size(); ++i) found[i].masks = parts[i];
    return found;
  }

  void add_losses(const Tensors& levels, const Tensors& proposals, const ImageSize& size,
                  const DetectionTargets& targets, NamedLosses& losses) {
    const auto sampled = sample(proposals, targets);
    const auto [logits, codes] = classify(levels, sampled.boxes, size);
    const auto labels = torch::cat(sampled.labels), rows = rows_where(labels > 0);
    losses.emplace_back("loss_classifier", at::cross_entropy_loss(logits, labels));
    losses.emplace_back("loss_box_reg",
                        code_loss(codes.reshape({codes.size(0), -1, 4}).index({rows, labels.index({rows})}),
                                  sampled.codes.index({rows}), labels.numel()));
    Tensors boxes, mask_labels, masks;
    for (size_t i = 0; i < proposals.size(); ++i) {
      const auto positive = rows_where(sampled.labels[i] > 0);
      const auto true_rows = sampled.rows[i].index({positive});
      boxes.push_back(sampled.boxes[i].index({positive}));
      mask_labels.push_back(targets.labels[i].index({true_rows}));
      const auto places = torch::cat({true_rows.to(boxes[i].scalar_type()).unsqueeze(1), boxes[i]}, 1);
      const auto images = targets.masks[i].unsqueeze(1).to(places.scalar_type());
      masks.push_back(roi_align(images, places, 2 * mask_cells, 1, /*points=*/0).select(1, 0));
    }
    const auto all = torch::cat(mask_labels);
    const auto of_masks = mask_logits(levels, boxes, size);
    losses.emplace_back("loss_mask",
                        torch::binary_cross_entropy_with_logits(
                            of_masks.index({torch::arange(all.size(0), all.options()), all}), torch::cat(masks)));
  }

 private:
  static constexpr BoxCoder coder{{10, 10, 5, 5}};
  static constexpr int64_t box_cells = 7, mask_cells = 14, points = 2;

  std::pair<torch::Tensor, torch::Tensor> classify(const Tensors& levels, const Tensors& boxes, const ImageSize& size) {
    auto x = pyramid_roi_align({levels.begin(), levels.end() - 1}, boxes, size, box_cells, points).flatten(1);
    x = torch::relu(fc7(torch::relu(fc6(x))));
    return {classes(x), refinement(x)};
  }

  torch::Tensor mask_logits(const Tensors& levels, const Tensors& boxes, const ImageSize& size) {
    return mask_predictor(
        mask_head(pyramid_roi_align({levels.begin(), levels.end() - 1}, boxes, size, mask_cells, points)));
  }

  std::vector<Detections> best(const torch::Tensor& logits, const torch::Tensor& codes, const Tensors& proposals,
                               const ImageSize& size) {
    std::vector<int64_t> counts;
    for (const auto& boxes : proposals) counts.push_back(boxes.size(0));
    const auto all_boxes = coder.decode(codes, torch::cat(proposals)).split_with_sizes(counts);
    const auto all_scores = torch::softmax(logits, -1).split_with_sizes(counts);
    std::vector<Detections> found;
    for (size_t i = 0; i < proposals.size(); ++i) {
      const auto numbers = torch::TensorOptions(torch::kInt64).device(logits.device());
      const auto of_classes = torch::arange(shape.classes, numbers).view({1, -1}).expand_as(all_scores[i]);
      const auto without_background = [](const torch::Tensor& values) { return values.slice(1, 1); };
      Detections one{without_background(clip_boxes(all_boxes[i], size)).reshape({-1, 4}),
                     without_background(of_classes).reshape(-1),
                     without_background(all_scores[i]).reshape(-1),
                     {}};
      const auto keep = [&](const torch::Tensor& rows) {
        one = {one.boxes.index({rows}), one.labels.index({rows}), one.scores.index({rows}), {}};
      };
      keep(rows_where(one.scores > 0.05));
      keep(rows_of_sides(one.boxes, 1e-2));
      keep(grouped_nms(one.boxes, one.scores, one.labels, 0.5).slice(0, 0, shape.detections));
      found.push_back(one);
    }
    return found;
  }

  static Candidates sample(const Tensors& proposals, const DetectionTargets& targets) {
    Candidates all;
    Tensors true_boxes;
    for (size_t i = 0; i < proposals.size(); ++i) {
      const auto known = targets.boxes[i].to(proposals[i].scalar_type());
      const auto boxes = torch::cat({proposals[i], known});
      const auto matches = match_boxes(box_iou(known, boxes), 0.5, 0.5, /*keeps_best=*/false);
      const auto rows = matches.clamp_min(0);
      auto labels = targets.labels[i].index({rows});
      labels.index_put_({matches == -1}, 0);
      labels.index_put_({matches == -2}, -1);
      const auto sampled = sample_candidates(labels, 512, 0.25);
      const auto chosen = rows_where(sampled.positive | sampled.negative);
      all.boxes.push_back(boxes.index({chosen}));
      all.labels.push_back(labels.index({chosen}));
      all.rows.push_back(rows.index({chosen}));
      true_boxes.push_back(known.index({all.rows.back()}));
    }
    all.codes = coder.encode(torch::cat(true_boxes), torch::cat(all.boxes));
    return all;
  }

  RegionHeadsShape shape;
  nn::Linear fc6, fc7, classes, refinement;
  Chain mask_head, mask_predictor{nullptr};
};
TORCH_MODULE(RegionHeads);

}  // namespace torchstone
