#pragma once
#include "models/blocks/boxes.h"

// The first stage of Faster R-CNN and its successors (Ren, He, Girshick, Sun, "Faster R-CNN", 2015), after
// torchvision.models.detection.rpn. How many proposals an image has depends on the data.

namespace torchstone {

/// True boxes, labels and masks of each image in training.
struct DetectionTargets {
  Tensors boxes, labels, masks;
};

using NamedLosses = std::vector<std::pair<std::string, torch::Tensor>>;

/// Returns the loss of codes, as a share of all candidates.
inline torch::Tensor code_loss(const torch::Tensor& codes, const torch::Tensor& expected, int64_t candidates) {
  return torch::smooth_l1_loss(codes, expected, at::Reduction::Sum, 1.0 / 9) / candidates;
}

/// Most boxes before NMS, per level, and after it.
struct ProposalLimits {
  int64_t before_nms = 1000, proposals = 1000;
  int64_t training_before_nms = 2000, training_proposals = 2000;
};

/// The region proposal network: objectness and refinement of the anchors at each cell of each level.
struct ProposerImpl : nn::Module {
  static constexpr int64_t ratios = 3;
  static constexpr BoxCoder coder{{1, 1, 1, 1}};
  ProposerImpl(int64_t width, const ProposalLimits& given)
      : limits(given),
        shared(chain({{"0", Chain(conv(width, width, 3, {.padding = 1}), relu())}})),
        objectness(conv(width, ratios, 1)),
        refinement(conv(width, 4 * ratios, 1)) {
    register_module("head",
                    group({{"conv", shared.ptr()}, {"cls_logits", objectness.ptr()}, {"bbox_pred", refinement.ptr()}}));
    each_layer<nn::Conv2d>(*this, [](auto& layer) {
      nn::init::normal_(layer.weight, 0, 0.01);
      nn::init::zeros_(layer.bias);
    });
    const auto heights = torch::sqrt(torch::tensor({0.5F, 1.0F, 2.0F})), widths = 1 / heights;
    for (const double size : {32, 64, 128, 256, 512}) {
      const auto w = widths * size, h = heights * size;
      anchors.push_back((torch::stack({-w, -h, w, h}, 1) / 2).round());
    }
  }

  /// All anchors, level by level: [A, 4].
  torch::Tensor grid(const Tensors& levels, const torch::Tensor& images) {
    Tensors all;
    for (size_t i = 0; i < levels.size(); ++i) {
      anchors[i] = anchors[i].to(levels[i].device(), levels[i].scalar_type());
      const auto rows = levels[i].size(2), columns = levels[i].size(3);
      const auto counts = torch::TensorOptions(torch::kInt32).device(levels[i].device());
      const auto y = torch::arange(rows, counts) * (images.size(2) / rows);
      const auto x = torch::arange(columns, counts) * (images.size(3) / columns);
      const auto axes = torch::meshgrid({y, x}, "ij");
      const auto row = axes[0].reshape(-1), column = axes[1].reshape(-1);
      const auto shifts = torch::stack({column, row, column, row}, 1);
      all.push_back((shifts.view({-1, 1, 4}) + anchors[i].view({1, -1, 4})).reshape({-1, 4}));
    }
    return torch::cat(all);
  }

  /// Returns the proposals of each image, best first. Adds losses if there are targets.
  Tensors forward(const Tensors& levels, const torch::Tensor& images, const ImageSize& size,
                  const DetectionTargets* targets, NamedLosses& losses) {
    const auto count = images.size(0);
    Tensors scores, codes;
    std::vector<int64_t> per_level;
    for (const auto& level : levels) {
      const auto x = shared(level);
      const auto flat = [&](const torch::Tensor& map, int64_t values) {
        return map.view({count, -1, values, map.size(2), map.size(3)})
            .permute({0, 3, 4, 1, 2})
            .reshape({count, -1, values});
      };
      scores.push_back(flat(objectness(x), 1));
      codes.push_back(flat(refinement(x), 4));
      per_level.push_back(scores.back().size(1));
    }
    const auto cells = grid(levels, images);
    const auto all_scores = torch::cat(scores, 1).flatten(0, -2), all_codes = torch::cat(codes, 1).reshape({-1, 4});
    const auto repeated = torch::cat(Tensors(static_cast<size_t>(count), cells));
    const auto boxes = coder.decode(all_codes.detach(), repeated).view({count, -1, 4});
    const auto found = best(boxes, all_scores.detach().reshape({count, -1}), per_level, size);
    if (targets) add_losses(cells, all_scores, all_codes, *targets, losses);
    return found;
  }

 private:
  Tensors best(const torch::Tensor& boxes, const torch::Tensor& scores, const std::vector<int64_t>& per_level,
               const ImageSize& size) {
    const auto before_nms = is_training() ? limits.training_before_nms : limits.before_nms;
    const auto most = is_training() ? limits.training_proposals : limits.proposals;
    const auto numbers = torch::TensorOptions(torch::kInt64).device(scores.device());
    Tensors level_numbers, rows;
    int64_t offset = 0;
    for (size_t i = 0; i < per_level.size(); ++i) {
      level_numbers.push_back(torch::full({per_level[i]}, static_cast<int64_t>(i), numbers));
      const auto of_level = scores.narrow(1, offset, per_level[i]);
      rows.push_back(std::get<1>(of_level.topk(std::min(before_nms, per_level[i]), 1)) + offset);
      offset += per_level[i];
    }
    const auto levels = torch::cat(level_numbers).reshape({1, -1}).expand_as(scores);
    const auto images = torch::arange(scores.size(0), numbers).unsqueeze(1), top = torch::cat(rows, 1);
    const auto chosen = [&](const torch::Tensor& values) { return values.index({images, top}); };
    const auto top_scores = torch::sigmoid(chosen(scores)), top_levels = chosen(levels), top_boxes = chosen(boxes);
    Tensors found;
    for (int64_t i = 0; i < scores.size(0); ++i) {
      auto clipped = clip_boxes(top_boxes[i], size), score = top_scores[i], level = top_levels[i];
      const auto keep = [&](const torch::Tensor& kept) {
        clipped = clipped.index({kept});
        score = score.index({kept});
        level = level.index({kept});
      };
      keep(rows_of_sides(clipped, 1e-3));
      keep(rows_where(score >= 0.0));
      found.push_back(clipped.index({grouped_nms(clipped, score, level, 0.7).slice(0, 0, most)}));
    }
    return found;
  }

  void add_losses(const torch::Tensor& cells, const torch::Tensor& scores, const torch::Tensor& codes,
                  const DetectionTargets& targets, NamedLosses& losses) {
    Tensors labels, expected, positive, negative;
    for (const auto& boxes : targets.boxes) {
      const auto matches = match_boxes(box_iou(boxes, cells), 0.3, 0.7, /*keeps_best=*/true);
      expected.push_back(coder.encode(boxes.index({matches.clamp_min(0)}), cells));
      auto label = (matches >= 0).to(torch::kFloat32);
      label.index_put_({matches == -1}, 0.0);
      label.index_put_({matches == -2}, -1.0);
      labels.push_back(label);
    }
    for (const auto& label : labels) {
      const auto sampled = sample_candidates(label, 256, 0.5);
      positive.push_back(sampled.positive);
      negative.push_back(sampled.negative);
    }
    const auto positives = rows_where(torch::cat(positive)), negatives = rows_where(torch::cat(negative));
    const auto sampled = torch::cat({positives, negatives});
    losses.emplace_back("loss_objectness", torch::binary_cross_entropy_with_logits(
                                               scores.flatten().index({sampled}), torch::cat(labels).index({sampled})));
    losses.emplace_back("loss_rpn_box_reg",
                        code_loss(codes.index({positives}), torch::cat(expected).index({positives}), sampled.numel()));
  }

  ProposalLimits limits;
  Chain shared;
  nn::Conv2d objectness, refinement;
  Tensors anchors;  ///< around the origin, of each level
};
TORCH_MODULE(Proposer);

}  // namespace torchstone
