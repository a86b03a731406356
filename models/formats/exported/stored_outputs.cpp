#include "models/formats/exported/stored_outputs.h"

#include <fmt/format.h>
#include <torch/version.h>

#include "models/core/tree.h"

namespace torchstone::formats::exported {
namespace {

double tolerance_of(c10::ScalarType dtype) {
  if (dtype == c10::kBFloat16) return 3e-2;
  return dtype == c10::kHalf ? 5e-3 : 1e-3;
}

[[noreturn]] void differ(size_t index, const std::string& how) {
  throw std::invalid_argument(fmt::format("output {} is not the one that the exporter stored: {}", index, how));
}

void require_equal(const torch::Tensor& own, const torch::Tensor& stored, size_t index) {
  if (own.sizes() != stored.sizes() || own.scalar_type() != stored.scalar_type())
    differ(index, fmt::format("{}, stored is {}", describe(own), describe(stored)));
  if (own.numel() == 0) return;
  if (!own.is_floating_point() && !own.is_complex()) {
    const auto share = own.ne(stored).to(torch::kDouble).mean().item<double>();
    if (share > 0.01) differ(index, fmt::format("{:.1f} % of its values are others (at most 1 % may be)", share * 100));
    return;
  }
  const auto wide = stored.is_complex() ? torch::kComplexDouble : torch::kDouble;
  const auto a = own.to(wide), b = stored.to(wide);
  const auto same = a.eq(b).logical_or(a.ne(a).logical_and(b.ne(b)));  // equal, equally infinite, or both NaN
  const auto finite = b.isfinite();
  const auto zero = torch::zeros({}, torch::kDouble);
  const auto difference = torch::where(same, zero, (a - b).abs()).max().item<double>();
  const auto largest = torch::where(finite, b.abs(), zero).max().item<double>();
  const auto allowed = tolerance_of(stored.scalar_type()) * largest;
  if (!(difference <= allowed))
    differ(index, fmt::format("{} differs by up to {:.3g}, {:.3g} is allowed (values up to {:.3g})", describe(own),
                              difference, allowed, largest));
}

}  // namespace

void require_stored_outputs(const std::vector<torch::Tensor>& own, const std::vector<torch::Tensor>& stored) {
  if (own.size() != stored.size())
    throw std::invalid_argument(
        fmt::format("the program returns {} tensors, the exporter stored {}", own.size(), stored.size()));
  for (size_t i = 0; i < own.size(); ++i) require_equal(own[i], stored[i], i);
}

}  // namespace torchstone::formats::exported
