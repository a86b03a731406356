#pragma once
#include <torch/torch.h>

namespace torchstone::formats {

/// Another tensor like `example`, of the same sizes: floats normal with its mean and deviation (where all are
/// alike their size, or 1 of zeros), integers and truth
/// values a random permutation of its own, and so are floats of which one is infinite or NaN (masks).
torch::Tensor draw_like(const torch::Tensor& example);

/// `example` with another size of one dimension: its own slices in turn.
torch::Tensor with_size(const torch::Tensor& example, int64_t dimension, int64_t size);
/// The same of its first dimension.
inline torch::Tensor with_rows(const torch::Tensor& example, int64_t batch) { return with_size(example, 0, batch); }

}  // namespace torchstone::formats
