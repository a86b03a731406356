#pragma once
#include <cstddef>
#include <vector>

#include "reports/statistics/statistics.h"

// Predictions about the next process, from a quantity that was measured in several processes with some rounds each.
// Memory placement and address layout are randomised per process. So the rounds of one process share an error that no
// number of rounds removes (Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009;
// Curtsinger & Berger, "Stabilizer", 2013). Pure functions, like statistics.h.

namespace torchstone::statistics {

/// Returns P(T > t) of Student's distribution, for t of 0 or more: half the regularized incomplete beta function
/// I(ν / (ν + t²); ν/2, 1/2). Throws std::invalid_argument for degrees under 1 or a negative t.
double student_tail(double t, double degrees);
/// Returns the t with P(T > t) = tail, for a tail in (0, 1/2]. Throws std::invalid_argument otherwise.
double student_bound(double tail, double degrees);

/// Returns P(F > f) of Fisher's distribution of a ratio of variances: I(d / (d + n f); d/2, n/2), for n and d degrees
/// of freedom above and below. Throws std::invalid_argument for degrees under 1 or a negative f.
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
  double variance = 0;  ///< with n − 1; 0 of one value
};
/// Throws std::invalid_argument without a value.
Moments moments(const std::vector<double>& values);

/// Mean without a part of the values at each end, and its error.
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
/// Returns the t bound of the mean of independent values, with n − 1 degrees of freedom.
MeanBound mean_bound(const std::vector<double>& values, double tail);

/// Variances of a one-way random effects model: value = mean + effect of the process + error of the round.
struct Components {
  double between = 0;  ///< of the effects of processes
  double within = 0;   ///< of one round
};
/// Estimates both variances by medians, which interrupted rounds do not affect. `within` is the squared scale, 1.4826 ·
/// median deviation, of the rounds around their process's median, with each deviation times √(n/(n−1)). `between` is
/// the variance of the medians, minus the part due to rounds: π/2 · within · mean of 1/n. One process leaves `between`
/// 0, and processes of one round each leave `within` 0.
Components variance_components(const Processes& processes);

/// Returns the rounds of a process for which the mean over processes is most precise in a given time. It is
/// √(process_s / round_s · within / between): Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", 2013, §6.
/// Infinite if processes do not differ. Throws std::invalid_argument for a negative time, or rounds without duration.
double best_rounds(const Components& components, double process_s, double round_s);

/// Returns the interval of the median from the rounds alone, as if processes did not differ. It is the sign-test
/// interval of the rounds around their process's median, moved to `centre`. Infinite on both sides for too few rounds.
Interval interval_of_rounds(const Processes& processes, double centre, double confidence);

/// Returns how far below (`low`) and above (`high`) its estimate the median may be by the rounds alone. Each side errs
/// with probability `tail`. With too few rounds for that, the farthest round is the reach. It is 0 if every
/// process has one round, which says nothing about rounds. Throws std::invalid_argument without a round.
Interval reach_of_rounds(const Processes& processes, double tail);

// Cache domains of processes.
//
// The system, or the host of a virtual machine, places threads in one cache domain ("near") or in different ones
// ("apart"), for seconds or minutes. Exchanging data between threads is slower apart, often more so for compiled code
// than for eager. So a speed-up belongs to one state, the near one if available.

/// Factor on the usual fork_join_us of near threads from which threads count as apart. A host that gives a part of the
/// processors to others has the same effect. Observed states differ by factors of 1.2 to 2.6; near threads vary by 4 %.
/// A time that is as much smaller is a third place. It occurs if the usual number was measured apart, because almost no
/// recent process was near.
inline constexpr double apart_factor = 1.12;

/// Indices into the processes of a case.
struct ByPlace {
  std::vector<size_t> near, apart;
};

/// Sorts processes by their `fork_join_us`. 0 (unknown) counts as near. `near_us`: the usual time of near threads on
/// this machine.
ByPlace by_place(const std::vector<double>& fork_join_us, double near_us);

/// Whether one process was near and the other apart. False if either time is 0 (unknown).
bool places_differ(double fork_join_us, double other_us);

}  // namespace torchstone::statistics
