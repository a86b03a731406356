#pragma once
#include <cstddef>
#include <vector>

#include "reports/statistics/statistics.h"

// A quantity that is measured in several processes, some rounds in each: what the next process will show. Memory
// placement and address layout are drawn once a process, so that rounds of one process share an error that no number of
// rounds removes (Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009; Curtsinger &
// Berger, "Stabilizer", 2013). Pure functions, as those of statistics.h.

namespace torchstone::statistics {

/// P(T > t) of Student's distribution, for t of 0 or more: half the regularized incomplete beta function
/// I(ν / (ν + t²); ν/2, 1/2). Throws std::invalid_argument for degrees under 1 or a negative t.
double student_tail(double t, double degrees);
/// The t with P(T > t) = tail, for a tail in (0, 1/2]. Throws std::invalid_argument otherwise.
double student_bound(double tail, double degrees);

/// P(F > f) of Fisher's distribution of a ratio of variances: I(d / (d + n f); d/2, n/2), for n and d degrees of
/// freedom above and below. Throws std::invalid_argument for degrees under 1 or a negative f.
double fisher_tail(double f, double above, double below);

/// Rounds by process.
using Processes = std::vector<std::vector<double>>;

/// `values` cut into parts of these lengths. Throws std::invalid_argument when the lengths do not add up to its size,
/// or one of them is not a positive whole number.
Processes by_process(const std::vector<double>& values, const std::vector<double>& lengths);
/// Each process's median.
std::vector<double> medians(const Processes& processes);

/// Of at least one value (std::invalid_argument).
struct Moments {
  double mean = 0;
  double variance = 0;  ///< with n − 1; 0 of one value
};
Moments moments(const std::vector<double>& values);

/// Mean of what is left when a part of the values is taken away at each end, and the error that it has.
struct TrimmedMean {
  double mean = 0;
  double variance = 0;  ///< of the mean
  double degrees = 0;   ///< of freedom of the variance
};
/// Of at least one value (std::invalid_argument); `share`, under 1/2, rounded down to whole values at each end. The
/// variance is (n − 1) s² / (h (h − 1)) with h values left and s² that of the winsorized values (Yuen, Biometrika 61,
/// 1974). Processes that something disturbed hardly move it, and without outliers it costs little.
TrimmedMean trimmed_mean(std::vector<double> values, double share);

struct MeanBound {
  double mean = 0;
  double reach = 0;  ///< the mean's one-sided error is larger than this with probability `tail`; infinite for one value
};
/// t bound of the mean of independent values, with n − 1 degrees of freedom.
MeanBound mean_bound(const std::vector<double>& values, double tail);

/// Variances of a one-way random effects model: value = mean + effect of the process + error of the round.
struct Components {
  double between = 0;  ///< of the effects of processes
  double within = 0;   ///< of one round
};
/// Of medians, which interrupted rounds do not move: within = the squared scale of the rounds about their process's
/// median (1.4826 · median deviation, each deviation times √(n/(n−1)) for the median being their own); between = the
/// variance of the medians less what the rounds explain of it, π/2 · within · mean of 1/n (the variance of a median of
/// n normal values), at least 0. Processes may differ in their number of rounds. One process leaves `between` 0, and
/// processes of one round each leave `within` 0.
Components variance_components(const Processes& processes);

/// The rounds that a process should have: those with which the mean over processes is known best after a given time.
/// √(process_s / round_s · within / between): Kalibera & Jones, "Rigorous Benchmarking in Reasonable Time", 2013, §6.
/// Infinite when processes do not differ. Throws std::invalid_argument for a negative time, or rounds that take none.
double best_rounds(const Components& components, double process_s, double round_s);

/// Interval of the median that the rounds alone would promise, as if processes did not differ: the sign-test interval
/// of the rounds about their process's median, around `centre`. Infinite on both sides when the rounds are too few.
Interval interval_of_rounds(const Processes& processes, double centre, double confidence);

}  // namespace torchstone::statistics

// Which processes speak for a case.
//
// A machine has states that last for seconds or minutes: its threads lie near to each other (they share a cache) or
// apart, as the system or the host of a virtual machine puts them. What hands data from thread to thread is slower
// apart, compiled code often more than eager. A few processes one after the other say nothing of the other state. So a
// speed-up is that of one state, near where it can be had, as nvbench measures at the usual clock only.

namespace torchstone::statistics {

/// Times the usual fork_join_us of near threads: from there on threads lie apart, or the host gives a part of the
/// processors to others, which counts as apart too. The states that were seen differ by 1.2 to 2.6; near threads vary
/// by 4 %. What takes as much less lies in a third place: where hardly any process of the last hours was near, the
/// usual number is that of threads apart.
inline constexpr double apart_factor = 1.12;

/// Indices into the processes of a case.
struct ByPlace {
  std::vector<size_t> near, apart;
};

/// `fork_join_us` of each process, 0 where it is not known, which counts as near; `near_us` of near
/// threads on this machine.
ByPlace by_place(const std::vector<double>& fork_join_us, double near_us);

/// Whether one lay apart and the other did not; 0 where it is not known, which is no difference.
bool places_differ(double fork_join_us, double other_us);

}  // namespace torchstone::statistics
