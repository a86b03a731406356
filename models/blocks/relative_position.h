#pragma once
#include <torch/torch.h>

namespace torchstone {

/// Which row of a bias table serves a pair of places in a square window: [side^2, side^2] in [0, (2 * side - 1)^2).
inline torch::Tensor relative_places(int64_t side) {
  const auto axis = torch::arange(side);
  const auto places = torch::stack({axis.repeat_interleave(side), axis.repeat(side)});
  const auto apart = places.unsqueeze(2) - places.unsqueeze(1) + (side - 1);
  return apart[0] * (2 * side - 1) + apart[1];
}

/// The bias that attention adds to its scores: table [rows, heads] and places [L, L] → [1, heads, L, L].
inline torch::Tensor position_bias(const torch::Tensor& table, const torch::Tensor& places) {
  const auto rows = table.index_select(0, places.view(-1));
  return rows.view({places.size(0), places.size(1), table.size(1)}).permute({2, 0, 1}).unsqueeze(0);
}

}  // namespace torchstone
