#pragma once
#include <torch/torch.h>

namespace torchstone::formats {

/// Another tensor like `example`, of the same sizes: floats normal with its mean and deviation, integers and truth
/// values a random permutation of its own, and so are floats of which one is infinite or NaN (masks).
torch::Tensor draw_like(const torch::Tensor& example);

/// `example` with `batch` rows in its first dimension: its own in turn.
torch::Tensor with_rows(const torch::Tensor& example, int64_t batch);

}  // namespace torchstone::formats
