#pragma once
#include <optional>
#include <string>
#include <vector>

namespace torchstone::judge {

/// What all cases of a comparison have in common: how eager's times moved on the machine.
struct Drift {
  double centre = 0;  ///< median of the logarithms of eager's changes
  double spread = 0;  ///< of one case about it: 1.4826 · median deviation
  double error = 0;   ///< of the centre: 1.2533 · spread / √n, as for the median of normal values
  size_t cases = 0;

  /// Whether it is certain (three errors), and more than `tolerance`.
  bool moved(double tolerance) const;
};

/// Of at least three cases; fewer say nothing about the machine.
std::optional<Drift> drift_of(const std::vector<double>& log_changes_of_eager);
/// "The machine moved: eager's times of 16 cases changed by +10.2 % in the middle …"
std::string drift_words(const Drift& drift);

}  // namespace torchstone::judge
