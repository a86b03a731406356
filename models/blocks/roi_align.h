#pragma once
#include <cmath>

#include "models/blocks/boxes.h"

// RoIAlign (He, Gkioxari, Dollár, Girshick, "Mask R-CNN", 2017) after torchvision.ops.roi_align with aligned=False.
// torchvision has a kernel of its own. Here each output is a weighted bag of pixels, which embedding_bag sums without a
// copy of them.

namespace torchstone {

/// The cells of one axis that a box reads, and their weights: both [K, size, 2 * points].
struct AxisSamples {
  torch::Tensor cells, weights;
};

/// Places `points` samples in each of `size` equal parts of a box, and reads each from the two cells around it.
inline AxisSamples axis_samples(const torch::Tensor& begin, const torch::Tensor& sides, int64_t size, int64_t points,
                                int64_t cells) {
  const auto part = (sides / static_cast<double>(size)).view({-1, 1, 1});
  const auto parts = torch::arange(size, part.options()).view({1, -1, 1});
  const auto steps = (torch::arange(points, part.options()) + 0.5).view({1, 1, -1});
  const auto places = begin.view({-1, 1, 1}) + parts * part + steps * part / static_cast<double>(points);
  const auto inside = (places >= -1) & (places <= static_cast<double>(cells));
  const auto clamped = places.clamp(0, cells - 1), low = clamped.floor(), rest = clamped - low;
  const auto cell = low.to(torch::kInt64);
  return {torch::cat({cell, (cell + 1).clamp_max(cells - 1)}, -1),
          torch::cat({(1 - rest) * inside, rest * inside}, -1) / static_cast<double>(points)};
}

/// Pools features [N, C, H, W] in boxes [K, 5] (image, x1, y1, x2, y2) → [K, C, size, size]. `scale` maps pixels to
/// cells. An output is the mean of points x points samples. With 0 points there is about one sample per cell. Each box
/// then has another number of samples, which is read back to the host.
inline torch::Tensor roi_align(const torch::Tensor& features, const torch::Tensor& boxes, int64_t size, double scale,
                               int64_t points) {
  const auto height = features.size(2), width = features.size(3), channels = features.size(1);
  if (boxes.size(0) == 0) return features.new_empty({0, channels, size, size});
  const auto pixels = features.permute({0, 2, 3, 1}).reshape({-1, channels});
  const auto images = boxes.select(1, 0).to(torch::kInt64) * (height * width);
  const auto places = at_least_float32(boxes.slice(1, 1)) * scale;
  const auto begins = places.slice(1, 0, 2), sides = (places.slice(1, 2) - begins).clamp_min(1);

  const auto pool = [&](int64_t first, int64_t count, int64_t points_y, int64_t points_x) {
    const auto axis = [&](int64_t i, int64_t number, int64_t cells) {
      const auto rows = [&](const torch::Tensor& values) { return values.select(1, i).narrow(0, first, count); };
      return axis_samples(rows(begins), rows(sides), size, number, cells);
    };
    const auto x = axis(0, points_x, width), y = axis(1, points_y, height);
    const auto both = [&](const torch::Tensor& of_y, const torch::Tensor& of_x) {  // [K, size, size, y's, x's]
      return std::pair(of_y.unsqueeze(2).unsqueeze(-1), of_x.unsqueeze(1).unsqueeze(3));
    };
    const auto [rows, columns] = both(y.cells, x.cells);
    const auto [row_weights, column_weights] = both(y.weights, x.weights);
    const auto indices = images.narrow(0, first, count).view({-1, 1, 1, 1, 1}) + rows * width + columns;
    const auto weights = (row_weights * column_weights).to(pixels.scalar_type());
    const auto bag = 4 * points_y * points_x;
    const auto offsets = torch::arange(0, indices.numel(), bag, indices.options());
    const auto sums = std::get<0>(at::embedding_bag(pixels, indices.reshape(-1), offsets, /*scale_grad_by_freq=*/false,
                                                    /*mode: sum*/ 0, /*sparse=*/false, weights.reshape(-1)));
    return sums.view({count, size, size, channels}).permute({0, 3, 1, 2});
  };
  if (points > 0) return pool(0, boxes.size(0), points, points);
  const auto counts = torch::ceil(sides / static_cast<double>(size)).to(torch::kInt64).cpu();
  Tensors pooled;
  for (int64_t i = 0; i < boxes.size(0); ++i) {
    pooled.push_back(pool(i, 1, counts[i][1].item<int64_t>(), counts[i][0].item<int64_t>()));
  }
  return torch::cat(pooled);
}

/// Pools each box from the level of a feature pyramid that fits its size (Lin et al., "Feature pyramid networks",
/// 2017). Boxes of about 224 pixels use the level at 1/16 of the image size. `boxes` has [K, 4] for each image.
inline torch::Tensor pyramid_roi_align(const Tensors& levels, const Tensors& boxes, const ImageSize& image,
                                       int64_t size, int64_t points) {
  Tensors images, areas;
  for (size_t i = 0; i < boxes.size(); ++i) {
    images.push_back(torch::full_like(boxes[i].slice(1, 0, 1), static_cast<double>(i)));
    areas.push_back(box_area(boxes[i]));
  }
  const auto all = torch::cat({torch::cat(images), torch::cat(boxes)}, 1);
  std::vector<int64_t> halvings;  // of the image's side, of each level
  for (const auto& level : levels) {
    const auto ratio = static_cast<double>(image.height) / static_cast<double>(level.size(2));
    halvings.push_back(std::lround(std::log2(ratio)));
  }
  const auto sides = torch::sqrt(torch::cat(areas));
  const auto wanted = torch::floor(torch::log2(sides / 224.0) + 4 + 1e-6).clamp(halvings.front(), halvings.back());
  const auto level_of = wanted.to(torch::kInt64) - halvings.front();
  auto result = torch::zeros({all.size(0), levels[0].size(1), size, size}, levels[0].options());
  for (size_t i = 0; i < levels.size(); ++i) {
    const auto rows = rows_where(level_of == static_cast<int64_t>(i));
    const auto pooled = roi_align(levels[i], all.index({rows}), size, std::exp2(-halvings[i]), points);
    result.index_put_({rows}, pooled.to(result.scalar_type()));
  }
  return result;
}

}  // namespace torchstone
