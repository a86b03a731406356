#include "cases/report_tool/numbers.h"

#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "reports/base/text.h"

namespace torchstone {
namespace {

CLI::Validator number_that(const std::function<bool(double)>& fits, const std::string& words) {
  const auto check = [fits, words](const std::string& text) {
    const auto value = parse_number(text);
    const bool good = value && std::isfinite(*value) && fits(*value);
    return good ? std::string() : fmt::format("expected {}, found {}", words, text);
  };
  return {check, words, ""};
}

}  // namespace

CLI::Validator number_between(double low, double high) {
  return number_that([=](double value) { return value >= low && value <= high; },
                     fmt::format("a number from {} to {}", low, high));
}

CLI::Validator positive_number() {
  return number_that([](double value) { return value > 0; }, "a finite number above 0");
}

}  // namespace torchstone
