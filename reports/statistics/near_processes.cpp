#include "reports/statistics/near_processes.h"

#include <algorithm>
#include <cmath>

namespace torchstone::statistics {

ByPlace by_place(const std::vector<double>& fork_join_us, double near_us) {
  ByPlace places;
  for (size_t i = 0; i < fork_join_us.size(); ++i) {
    const bool near = !std::isfinite(near_us) || !places_differ(fork_join_us[i], near_us);
    (near ? places.near : places.apart).push_back(i);
  }
  return places;
}

bool places_differ(double fork_join_us, double other_us) {
  const auto [less, more] = std::minmax(fork_join_us, other_us);
  return less > 0 && more > apart_factor * less;
}

}  // namespace torchstone::statistics
