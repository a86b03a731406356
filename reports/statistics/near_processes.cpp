#include "reports/statistics/near_processes.h"

#include <algorithm>

namespace torchstone::statistics {

ByPlace by_place(const std::vector<double>& fork_join_us, double near_us) {
  ByPlace places;
  for (size_t i = 0; i < fork_join_us.size(); ++i)
    (fork_join_us[i] > apart_factor * near_us ? places.apart : places.near).push_back(i);
  return places;
}

bool places_differ(double fork_join_us, double other_us) {
  const auto [less, more] = std::minmax(fork_join_us, other_us);
  return less > 0 && more > apart_factor * less;
}

}  // namespace torchstone::statistics
