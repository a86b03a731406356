#pragma once
#include <vector>

#include <torch/torch.h>

namespace torchstone::formats::exported {

/// Compares the program's own eager outputs with those that the exporter stored: floating-point ones may differ by a
/// share of the largest stored value (1e-3 in float32 and float64, 5e-3 in float16, 3e-2 in bfloat16), and of integers
/// and truth values one in a hundred may differ. Throws std::invalid_argument naming the tensor and the difference.
void require_stored_outputs(const std::vector<torch::Tensor>& own, const std::vector<torch::Tensor>& stored);

}  // namespace torchstone::formats::exported
