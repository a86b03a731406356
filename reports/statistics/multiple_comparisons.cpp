#include "reports/statistics/multiple_comparisons.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reports/statistics/processes.h"

namespace torchstone::statistics {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

using Treatments = std::vector<std::vector<double>>;

void require_values(const Treatments& values) {
  if (values.empty() || std::ranges::any_of(values, [](const auto& one) { return one.empty(); }))
    throw std::invalid_argument("treatments: at least one, each with the value of a process expected");
}

/// Bounds the difference of two treatments within the processes that both have.
MeanBound difference(const Treatments& values, size_t i, size_t j, double tail) {
  std::vector<double> differences;
  const size_t common = std::min(values[i].size(), values[j].size());
  for (size_t p = 0; p < common; ++p) differences.push_back(values[i][p] - values[j][p]);
  return mean_bound(differences, tail);
}

}  // namespace

std::vector<VersusBest> compare_with_best(const std::vector<std::vector<double>>& values, double confidence) {
  require_values(values);
  const size_t k = values.size();
  std::vector<VersusBest> result(k);
  if (k == 1) {
    result[0].behind = -unlimited;
    return result;
  }
  const double tail = (1 - confidence) / static_cast<double>(k - 1);
  for (size_t i = 0; i < k; ++i) {
    result[i].behind = -unlimited;
    for (size_t j = 0; j < k; ++j) {
      if (j == i) continue;
      const auto [mean, reach] = difference(values, i, j, tail);
      result[i].behind = std::max(result[i].behind, mean - reach);
    }
    result[i].low = std::min(0.0, result[i].behind);
  }
  const auto may_be_best = [&](size_t i) { return result[i].behind <= 0; };
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = 0; j < k; ++j) {
      if (j == i || !may_be_best(j)) continue;
      const auto [mean, reach] = difference(values, i, j, tail);
      result[i].high = std::max(result[i].high, mean + reach);
    }
  }
  return result;
}

std::vector<Interval> compare_with_control(const std::vector<std::vector<double>>& values, size_t control,
                                           double confidence) {
  require_values(values);
  std::vector<Interval> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (i == control) continue;
    const double tail = (1 - confidence) / 2 / static_cast<double>(values.size() - 1);
    const auto [mean, reach] = difference(values, i, control, tail);
    result[i] = {mean - reach, mean + reach};
  }
  return result;
}

double confidence_of_look(double confidence, int looks) {
  if (looks < 1) throw std::invalid_argument("looks: at least one expected");
  return 1 - (1 - confidence) / looks;
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) result.push_back(std::log(value));
  return result;
}

RaceLook look_at_race(const std::vector<std::vector<double>>& values, double confidence, double margin) {
  RaceLook look{.versus_best = compare_with_best(values, confidence), .may_be_best = {}};
  look.settled = true;
  for (const auto& distance : look.versus_best) {
    const bool stays = distance.behind <= margin;
    look.may_be_best.push_back(stays);
    look.settled = look.settled && (!stays || distance.high <= margin);
  }
  return look;
}

}  // namespace torchstone::statistics
