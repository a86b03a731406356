#pragma once
#include <CLI/CLI.hpp>

namespace torchstone {

// For check(). CLI11's own, Range and PositiveNumber, let NaN pass.

/// Accepts a finite number from `low` to `high`.
CLI::Validator number_between(double low, double high);
/// Accepts a finite number above 0.
CLI::Validator positive_number();

}  // namespace torchstone
