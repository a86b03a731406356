#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>

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

}  // namespace torchstone
