#pragma once
#include <cstddef>
#include <vector>

#include "reports/statistics/statistics.h"

// Statistics of a quantity that was measured in several processes, with some rounds in each. They predict the next
// process. Memory placement and address layout are randomised per process, so the rounds of one process share an error
// that no number of rounds removes (Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!",
// 2009; Curtsinger & Berger, "Stabilizer", 2013). Pure functions, like statistics.h.

namespace torchstone::statistics {

/// Returns P(T > t) of Student's distribution, for t of 0 or more: half the regularized incomplete beta function
/// I(ν / (ν + t²); ν/2, 1/2). Throws std::invalid_argument for degrees under 1 or a negative t.
double student_tail(double t, double degrees);
/// Returns the t with P(T > t) = tail, for a tail in (0, 1/2]. Throws std::invalid_argument otherwise.
double student_bound(double tail, double degrees);

/// Returns P(F > f) of Fisher's distribution of a ratio of variances: I(d / (d + n f); d/2, n/2), for n degrees of
/// freedom in the numerator and d in the denominator. Throws std::invalid_argument for degrees under 1 or a negative f.
double fisher_tail(double f, double above, double below);
/// Returns the f with P(F > f) = tail, for a tail in (0, 1]. Throws std::invalid_argument otherwise.
double fisher_bound(double tail, double above, double below);

/// Rounds by process.
using Processes = std::vector<std::vector<double>>;

/// Splits `values` into parts of these lengths. Throws std::invalid_argument unless the lengths are positive whole
/// numbers and add up to its size.
Processes by_process(const std::vector<double>& values, const std::vector<double>& lengths);
/// Returns the median of each process.
std::vector<double> medians(const Processes& processes);

struct Moments {
  double mean = 0;
  double variance = 0;  ///< with divisor n − 1; 0 for one value
};
/// Throws std::invalid_argument without a value.
Moments moments(const std::vector<double>& values);

/// Mean without a share of the values at each end, and its error.
struct TrimmedMean {
  double mean = 0;
  double variance = 0;  ///< of the mean
  double degrees = 0;   ///< of freedom of the variance
};
/// Removes `share` (under 1/2, rounded down to whole values) at each end. The variance is (n − 1) s² / (h (h − 1)),
/// where h values remain. s² is the variance of the winsorized values (Yuen, Biometrika 61, 1974). Disturbed
/// processes barely affect it, and without outliers it costs little. Throws std::invalid_argument without a value.
TrimmedMean trimmed_mean(std::vector<double> values, double share);

struct MeanBound {
  double mean = 0;
  double reach = 0;  ///< the mean's one-sided error exceeds this with probability `tail`; infinite for one value
};
/// Returns the mean of independent values and its bound by Student's t, with n − 1 degrees of freedom.
MeanBound mean_bound(const std::vector<double>& values, double tail);

/// Variances of a one-way random effects model: value = mean + effect of the process + error of the round.
struct Components {
  double between = 0;  ///< variance of the effects of processes
  double within = 0;   ///< variance of one round's error
};
/// Estimates both variances by medians, which interrupted rounds do not affect. `within` is the square of 1.4826 · the
/// median deviation of the rounds from their process's median, with each deviation times √(n/(n−1)). `between` is the
/// variance of the medians, minus the part due to rounds: π/2 · within · mean of 1/n. With one process `between` is 0.
/// If every process has one round, `within` is 0.
Components variance_components(const Processes& processes);

/// Returns the number of rounds per process that makes the mean over processes most precise in a given time. It is
/// √(process_s / round_s · within / between): Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", 2013, §6.
/// Infinite if processes do not differ. Throws std::invalid_argument for a negative time, or rounds without duration.
double best_rounds(const Components& components, double process_s, double round_s);

/// Returns the interval of the median from the rounds alone, as if processes did not differ. It is the sign-test
/// interval of the rounds' deviations from their process's median, shifted to `centre`. Infinite for too few rounds.
Interval interval_of_rounds(const Processes& processes, double centre, double confidence);

/// Returns how far the median may be below (`low`) and above (`high`) its estimate, judging by the rounds alone. Each
/// side errs with probability `tail`. With too few rounds for that, the reach is the distance of the farthest round. It
/// is 0 if every process has one round, because nothing is known about the rounds then. Throws std::invalid_argument
/// without a round.
Interval reach_of_rounds(const Processes& processes, double tail);

// Cache domains of processes.
//
// The operating system, or the host of a virtual machine, places threads in the same cache domain ("near" in this API)
// or in different ones ("apart"), for seconds or minutes. In different domains the exchange of data between threads is
// slower, often more so for compiled code than for eager. So a speed-up is reported for one placement: the same domain
// if available.

/// Threads count as apart from this factor on the usual fork_join_us of near threads. A host that gives some of the
/// processors to other guests has the same effect. Observed placements differ by factors of 1.2 to 2.6; near threads
/// vary by 4 %. A fork_join_us smaller by this factor is also another placement. It occurs if the usual number was
/// measured apart, because almost no recent process was near.
inline constexpr double apart_factor = 1.12;

/// Indices of the processes of a case, by placement of their threads.
struct ByPlace {
  std::vector<size_t> near, apart;
};

/// Sorts processes by their `fork_join_us`. 0 (unknown) counts as near. `near_us`: the usual time of near threads on
/// this machine.
ByPlace by_place(const std::vector<double>& fork_join_us, double near_us);

/// Whether one process was near and the other apart. False if either time is 0 (unknown).
bool places_differ(double fork_join_us, double other_us);

}  // namespace torchstone::statistics
