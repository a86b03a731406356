#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

/// Passed, although an error of a tenth of the values would have passed as well: the case's detection limit is higher.
bool is_weak(const Result& result);
/// "an error of up to 80 % would have passed too"; empty for any other case.
std::string weak_reason(const Result& result);

/// How much the passes prove, by their detection limits.
struct Detection {
  size_t n = 0;  ///< passes that have a limit
  double median = 0, worst = 0;
  const Result* least = nullptr;    ///< the pass with the worst
  std::vector<const Result*> weak;  ///< worst first
};
/// Refers to the results.
Detection detection_of(const std::vector<Result>& results);

/// "0.25 %"; "none" for a pass that any error would have had.
std::string limit_text(double limit);
/// "detection limit: median 0.25 %, worst 92 % (resnet18, gradients.fc.bias) over 40"; empty without a limit.
std::string detection_words(const Detection& detection);
/// "weak, an error over 10 % would pass too: 2 of 40: resnet18 training, alexnet training"; empty when there is none.
std::string weak_words(const Detection& detection);

}  // namespace torchstone
