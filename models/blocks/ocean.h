#pragma once
// The grid of the ocean models of pyhpc-benchmarks (Häfner; taken from Veros): X cells to the east, Y to the north and
// Z upwards. Fields are float64. The two outermost cells on each horizontal side are only neighbours of the inner ones.
#include <cmath>
#include <cstdint>
#include <limits>

#include <torch/torch.h>
#include <torchstone/model.h>

namespace torchstone::ocean {

/// Positions of a grid's fields among the inputs of a model, in upstream's order, from `First` on.
template <size_t First>
struct GridInputs {
  enum Field : size_t {
    mask_u = First,  ///< [X, Y, Z], 1 for water, 0 for land, at the cells' eastern faces
    mask_v,          ///< [X, Y, Z], the same at their northern faces
    mask_w,          ///< [X, Y, Z], the same at their upper faces
    dxt,             ///< [X], m at the equator: widths of cells from west to east
    dxu,             ///< [X], m at the equator: distances between a cell's centre and the next one's
    dyt,             ///< [Y], m: widths of cells from south to north
    dyu,             ///< [Y], m: distances between a cell's centre and the next one's
    dzt,             ///< [Z], m: heights of cells
    dzw,             ///< [Z], m: distances between a cell's centre and the next one's
    cos_t,           ///< [Y]: cosines of the latitudes of the cells' centres
    cos_u,           ///< [Y]: cosines of the latitudes of their northern faces
    grid_end         ///< the position after the grid
  };
};

/// Numbers of cells: X = Y = `side`, Z = `depth`.
struct GridSize {
  int64_t side, depth;
};

/// Returns upstream's sizes for about `cells` cells: ⌈2 ∛cells⌉ and ⌈∛cells / 4⌉.
inline GridSize grid_size(int64_t cells) {
  const double edge = std::cbrt(static_cast<double>(cells));
  return {static_cast<int64_t>(std::ceil(2 * edge)), static_cast<int64_t>(std::ceil(edge / 4))};
}

/// Returns a random field of these sizes, uniform in [low, high), in the unit of its bounds.
inline torch::Tensor uniform(at::IntArrayRef sizes, double low, double high) {
  return torch::empty(sizes, torch::kFloat64).uniform_(low, high);
}

/// Returns a random mask of these sizes: 1 (water) for about 80 % of the cells, else 0.
inline torch::Tensor random_mask(at::IntArrayRef sizes) { return torch::rand(sizes).lt(0.8).to(torch::kFloat64); }

/// Returns a view of x[begin:end] along an axis.
inline torch::Tensor cut(const torch::Tensor& x, int64_t axis, int64_t begin,
                         int64_t end = std::numeric_limits<int64_t>::max()) {
  return x.slice(axis, begin, end);
}

/// Returns a view without the two outermost cells on each side: [X, Y, ...] → [X - 4, Y - 4, ...].
inline torch::Tensor inner(const torch::Tensor& x) { return cut(cut(x, 0, 2, -2), 1, 2, -2); }

/// Reshapes a vector along the first axis, for broadcasting over a field: [X] → [X, 1, 1].
inline torch::Tensor along_x(const torch::Tensor& x) { return x.view({-1, 1, 1}); }

/// Reshapes a vector along the second axis, for broadcasting over a field: [Y] → [1, Y, 1].
inline torch::Tensor along_y(const torch::Tensor& y) { return y.view({1, -1, 1}); }

/// Returns x[1:] - x[:-1] along an axis, in the unit of x; the axis becomes one shorter.
inline torch::Tensor steps(const torch::Tensor& x, int64_t axis) { return cut(x, axis, 1) - cut(x, axis, 0, -1); }

}  // namespace torchstone::ocean
