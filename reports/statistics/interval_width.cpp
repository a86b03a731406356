#include "reports/statistics/interval_width.h"

#include <cmath>

namespace torchstone::statistics {
namespace {

constexpr double widest_half = 0.25;

}  // namespace

bool is_bounded(double low, double high) { return low > 0 && std::isfinite(low) && std::isfinite(high); }

bool is_too_wide(double ratio, double low, double high) {
  return !is_bounded(low, high) || (high - low) / 2 > widest_half * ratio;
}

}  // namespace torchstone::statistics
