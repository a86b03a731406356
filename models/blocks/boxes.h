#pragma once
#include <array>
#include <cmath>

#include "models/blocks/basic_layers.h"

// Boxes of detectors, rows of [x1, y1, x2, y2] in pixels, after torchvision.ops.boxes. How many of them remain depends
// on the data: nonzero() and nms() read it back from the device, and later tensors have that size.

namespace torchstone {

struct ImageSize {
  int64_t height, width;
};

/// Returns the rows at which a condition holds. Reads their number back.
inline torch::Tensor rows_where(const torch::Tensor& condition) { return at::where(condition)[0]; }

inline torch::Tensor clip_boxes(const torch::Tensor& boxes, const ImageSize& image) {
  const auto x = boxes.slice(-1, 0, c10::nullopt, 2).clamp(0, image.width);
  const auto y = boxes.slice(-1, 1, c10::nullopt, 2).clamp(0, image.height);
  return torch::stack({x, y}, boxes.dim()).reshape(boxes.sizes());
}

/// Returns the rows of boxes whose sides are all at least this long.
inline torch::Tensor rows_of_sides(const torch::Tensor& boxes, double least) {
  const auto widths = boxes.select(-1, 2) - boxes.select(-1, 0), heights = boxes.select(-1, 3) - boxes.select(-1, 1);
  return rows_where((widths >= least) & (heights >= least));
}

inline torch::Tensor box_area(const torch::Tensor& given) {
  const auto boxes = at_least_float32(given);
  return (boxes.select(-1, 2) - boxes.select(-1, 0)) * (boxes.select(-1, 3) - boxes.select(-1, 1));
}

/// Returns intersections over unions: boxes [N, 4] and [M, 4] → [N, M].
inline torch::Tensor box_iou(const torch::Tensor& one, const torch::Tensor& other) {
  const auto areas = box_area(one), others = box_area(other);
  const auto first = one.unsqueeze(1);
  const auto begin = torch::max(first.slice(-1, 0, 2), other.slice(-1, 0, 2));
  const auto end = torch::min(first.slice(-1, 2), other.slice(-1, 2));
  const auto sides = at_least_float32(end - begin).clamp_min(0);
  const auto common = sides.select(-1, 0) * sides.select(-1, 1);
  return common / (areas.unsqueeze(1) + others - common);
}

/// Non-maximum suppression: returns the rows that remain, best score first. A box is dropped if it overlaps a better
/// remaining one by more than `most`. As torchvision's CUDA kernel does, one operator compares all pairs, and the host
/// walks through the result.
inline torch::Tensor nms(const torch::Tensor& boxes, const torch::Tensor& scores, double most) {
  const auto order = std::get<1>(scores.sort(/*stable=*/true, 0, /*descending=*/true));
  const auto sorted = boxes.index_select(0, order);
  const auto overlaps = (box_iou(sorted, sorted) > most).cpu().contiguous();
  const auto count = overlaps.size(0);
  const bool* row = overlaps.const_data_ptr<bool>();
  std::vector<bool> dropped(static_cast<size_t>(count));
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < count; ++i, row += count) {
    if (dropped[static_cast<size_t>(i)]) continue;
    kept.push_back(i);
    for (int64_t j = i + 1; j < count; ++j) {
      if (row[j]) dropped[static_cast<size_t>(j)] = true;
    }
  }
  return order.index_select(0, torch::tensor(kept, torch::kInt64).to(order.device()));
}

/// nms() within each group of boxes. Few boxes are moved so far apart that one call compares them all.
inline torch::Tensor grouped_nms(const torch::Tensor& boxes, const torch::Tensor& scores, const torch::Tensor& groups,
                                 double most) {
  if (boxes.numel() == 0) return torch::empty({0}, groups.options());
  if (boxes.numel() <= (boxes.is_cpu() ? 4000 : 100'000)) {
    const auto offsets = groups.to(boxes.scalar_type()) * (boxes.max() + 1);
    return nms(boxes + offsets.unsqueeze(1), scores, most);
  }
  auto keeps = torch::zeros_like(scores, torch::kBool);
  for (const auto& group : std::get<0>(at::_unique(groups)).unbind()) {
    const auto rows = rows_where(groups == group);
    keeps.index_put_({rows.index({nms(boxes.index({rows}), scores.index({rows}), most)})}, true);
  }
  const auto kept = rows_where(keeps);
  return kept.index({std::get<1>(scores.index({kept}).sort(0, /*descending=*/true))});
}

/// Boxes as offsets from reference boxes: of the centre in sizes of the reference, and logarithms of the relative size.
struct BoxCoder {
  std::array<double, 4> weights;

  static torch::Tensor column(const torch::Tensor& boxes, int64_t i) { return boxes.select(1, i).unsqueeze(1); }

  torch::Tensor encode(const torch::Tensor& boxes, const torch::Tensor& references) const {
    const auto width = column(references, 2) - column(references, 0);
    const auto height = column(references, 3) - column(references, 1);
    const auto x = column(references, 0) + 0.5 * width, y = column(references, 1) + 0.5 * height;
    const auto box_width = column(boxes, 2) - column(boxes, 0), box_height = column(boxes, 3) - column(boxes, 1);
    const auto box_x = column(boxes, 0) + 0.5 * box_width, box_y = column(boxes, 1) + 0.5 * box_height;
    return torch::cat({weights[0] * (box_x - x) / width, weights[1] * (box_y - y) / height,
                       weights[2] * torch::log(box_width / width), weights[3] * torch::log(box_height / height)},
                      1);
  }

  /// Codes [K, 4 * classes] of references [K, 4] → boxes [K, classes, 4].
  torch::Tensor decode(const torch::Tensor& codes, const torch::Tensor& given) const {
    static const double largest = std::log(1000.0 / 16);
    const auto references = given.to(codes.scalar_type());
    const auto widths = references.select(1, 2) - references.select(1, 0);
    const auto heights = references.select(1, 3) - references.select(1, 1);
    const auto x = (references.select(1, 0) + 0.5 * widths).unsqueeze(1);
    const auto y = (references.select(1, 1) + 0.5 * heights).unsqueeze(1);
    const auto part = [&](int64_t i) { return codes.slice(1, i, c10::nullopt, 4) / weights[static_cast<size_t>(i)]; };
    const auto centre_x = part(0) * widths.unsqueeze(1) + x, centre_y = part(1) * heights.unsqueeze(1) + y;
    const auto half_width = 0.5 * (torch::exp(part(2).clamp_max(largest)) * widths.unsqueeze(1));
    const auto half_height = 0.5 * (torch::exp(part(3).clamp_max(largest)) * heights.unsqueeze(1));
    return torch::stack({centre_x - half_width, centre_y - half_height, centre_x + half_width, centre_y + half_height},
                        2);
  }
};

/// Assigns a true box to each candidate by overlaps [true boxes, candidates]: its row, -1 below `low`, or -2 between
/// `low` and `high`. `keeps_best` also assigns each true box to the candidates that overlap it most.
inline torch::Tensor match_boxes(const torch::Tensor& overlaps, double low, double high, bool keeps_best) {
  auto [values, matches] = overlaps.max(0);
  const auto best = matches.clone();
  matches.index_put_({values < low}, -1);
  matches.index_put_({(values >= low) & (values < high)}, -2);
  if (keeps_best) {
    const auto highest = std::get<0>(overlaps.max(1)).unsqueeze(1);
    const auto columns = at::where(overlaps == highest)[1];
    matches.index_put_({columns}, best.index({columns}));
  }
  return matches;
}

/// A random choice of candidates by their labels, as two masks. Positive candidates have the label 1 or more, and are
/// at most a fraction of `count`. Negative ones (0) fill it up to `count`.
struct Sampled {
  torch::Tensor positive, negative;
};
inline Sampled sample_candidates(const torch::Tensor& labels, int64_t count, double fraction) {
  const auto positive = rows_where(labels >= 1), negative = rows_where(labels == 0);
  const auto most = static_cast<int64_t>(static_cast<double>(count) * fraction);
  const auto positives = std::min(positive.numel(), most), negatives = std::min(negative.numel(), count - positives);
  const auto some = [&](const torch::Tensor& rows, int64_t number) {
    const auto options = torch::TensorOptions(torch::kInt64).device(rows.device());
    const auto chosen = rows.index({torch::randperm(rows.numel(), options).slice(0, 0, number)});
    return torch::zeros_like(labels, torch::kUInt8).index_put_({chosen}, 1);
  };
  auto first = some(positive, positives);
  return {first, some(negative, negatives)};
}

}  // namespace torchstone
