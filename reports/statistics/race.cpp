#include "reports/statistics/race.h"

#include <cmath>
#include <stdexcept>

namespace torchstone::statistics {

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
  RaceLook look{.beside_best = compare_with_best(values, confidence), .may_be_best = {}};
  look.settled = true;
  for (const auto& beside : look.beside_best) {
    const bool left = beside.behind <= margin;
    look.may_be_best.push_back(left);
    look.settled = look.settled && (!left || beside.high <= margin);
  }
  return look;
}

}  // namespace torchstone::statistics
