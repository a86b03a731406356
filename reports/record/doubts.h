#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

#include "reports/statistics/statistics.h"

namespace torchstone {

/// Returns why a measured speed-up is noisy, in one sentence; empty if it is not. The reason is the note `noisy`.
/// Without that note it is an unbounded interval, or an interval of more than ±25 % of the speed-up.
std::string noisy_reason(const Result& result);
bool is_noisy(const Result& result);

/// The beginning of the reason if the threads were in other cache domains than usual
/// (fixtures/isolate/counted_processes.h). Threads in the same domain had up to 1.31 times the speed-up. So such a
/// speed-up misses a requirement only if max_lost_across_caches times its interval does.
inline constexpr std::string_view cache_domain_note_begin = "The threads ran ";
inline constexpr double max_lost_across_caches = 1.5;

/// Returns other doubts about the timings in one line: the note `doubts` without noisy_reason().
std::string other_doubts(const Result& result);

/// Returns the interval of a metric, the metrics KEY_low and KEY_high; nothing if one is missing.
std::optional<statistics::Interval> interval_of(const Result& result, const std::string& key = "speedup");

/// Returns whether the interval of a ratio, the metrics KEY_low and KEY_high, says nothing about it
/// (statistics::says_nothing). Reports then print no number, and means leave it out. False without an interval.
bool is_unknown(const Result& result, const std::string& key);

/// Returns whether the metric says nothing because another one is_unknown(). Such metrics are the bounds KEY_low and
/// KEY_high, and those derived from the speed-up or the cost of an exchange. Reports leave them out.
bool follows_from_unknown(const Result& result, std::string_view metric);

/// Returns a ratio with its interval: "1.43x [1.40 1.46]". If the interval says nothing, returns the bound if that
/// excludes 1 ("at least 2.10x"), and otherwise "unknown".
std::string ratio_text(double ratio, double low, double high, int digits);

/// Returns the speed-up as ratio_text() does, or "1.43x" without an interval. Empty without a speed-up.
std::string speedup_text(const Result& result, int digits);

/// Returns "2 noisy"; empty if no speed-up is noisy.
std::string noisy_words(const std::vector<Result>& results);

/// The smallest relative error that a row would have detected in every tensor: the limit of its least sensitive one.
struct PassLimit {
  double value = 0;
  std::string rule{};  ///< "tolerance" or "rounding"
  std::string tensor{};
};
/// Returns the smaller of two limits: `detection_limit` of upstream's tolerance and `rounding_limit`. A row has each
/// limit only if that rule can fail it. Empty if the row has neither.
std::optional<PassLimit> pass_limit(const Result& result);

/// Returns whether the case passed with a limit above 10 %: an error of 10 % would have passed too.
bool is_weak(const Result& result);
/// Returns "an error of up to 80 % would have passed too" for a weak case; empty for any other. A performance row that
/// only the tolerance judges says so.
std::string weak_reason(const Result& result);

/// Returns "0.3× rounding (limit 0.02 %)"; empty unless the case was judged by rounding. Without the limit if the row
/// is weak, because weak_limits() has it.
std::string rounding_text(const Result& result);

/// Returns "not judged: output [1]: pkg.Cache", for outputs of a Python module that are compared by their type alone,
/// and "NaN: the output: 3 of 4 elements …", where eager has NaN, which equals NaN. Empty unless the case passed with
/// such outputs.
std::string unjudged_text(const Result& result);

/// Returns "weak: limit 10.2 % (rounding alone 44 %)": the smaller limit, then that of the other rule. A row with one
/// limit names its rule: "weak: limit 49 % (tolerance)". Empty unless the case is weak.
std::string weak_limits(const Result& result);

/// Detection limits of the cases that passed, by pass_limit().
struct Detection {
  size_t n = 0;  ///< passes with a limit
  double median = 0, worst = 0;
  const Result* least = nullptr;    ///< the pass with the worst limit
  std::vector<const Result*> weak;  ///< worst first
};
/// Keeps pointers to the results.
Detection detection_of(const std::vector<Result>& results);

/// Returns "0.25 %"; "none" if any error would have passed. A limit just above 10 % has more digits: "10.2 %".
std::string limit_text(double limit);
/// Returns "detection limit: median 0.25 %, worst 92 % (resnet18, gradients.fc.bias) over 40"; empty without a limit.
std::string detection_words(const Detection& detection);
/// Returns "weak, an error over 10 % would pass too: 2 of 40: resnet18 training, alexnet training"; empty without a
/// weak case.
std::string weak_words(const Detection& detection);

/// Returns the facts of the machine that disturb timings, with what to do, one text each. They are about the whole run.
/// If other programs used more than a tenth of the cores while cases were timed, this is the first one.
/// Empty if nothing was timed.
std::vector<std::string> machine_doubts(const std::vector<Result>& results, const Facts& machine);

/// Returns the names of these facts in one line: "Timings vary on this machine (turbo, SMT)". May be empty.
std::string machine_doubts_line(const std::vector<Result>& results, const Facts& machine);

/// Returns the facts even if nothing was timed.
std::vector<std::string> machine_doubts(const Facts& machine);

}  // namespace torchstone
