#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone {

/// Why a measured speed-up says too little, in one sentence: the note `noisy` of its record; without one, that its
/// interval has no bound on a side, or that half of its width is over 25 % of the speed-up. Empty for any other.
std::string noisy_reason(const Result& result);
bool is_noisy(const Result& result);

/// What a reason begins with where the threads lay elsewhere than is usual (fixtures/isolate/fork_join_baseline.h).
/// Near ones had up to 1.31 times the speed-up of threads apart, so such a speed-up misses a requirement only where
/// most_lost_apart times its interval does.
inline constexpr std::string_view place_begin = "The threads lay ";
inline constexpr double most_lost_apart = 1.5;

/// What else makes its timings doubtful, in one line: the note `doubts` of its record, without the reason above.
std::string other_doubts(const Result& result);

/// The interval of the speed-up, "[1.40 1.46]". Empty where nothing bounds it, and where there is none.
std::string speedup_interval(const Result& result, int digits);

/// "2 noisy"; empty when none is.
std::string noisy_words(const std::vector<Result>& results);

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

/// What of the machine is known to disturb timings, one sentence each: for the whole run, not for one row. Empty for a
/// run in which nothing was timed.
std::vector<std::string> machine_doubts(const std::vector<Result>& results, const Facts& machine);

/// The same of the facts alone.
std::vector<std::string> machine_doubts(const Facts& machine);

}  // namespace torchstone
