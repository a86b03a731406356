#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/result.h>

namespace torchstone {

/// Returns the status that a case counts as: an unfinished case is a crash.
Status final_status(const Result& result);
/// Counts the final statuses, in the order of the status table.
std::vector<std::pair<Status, size_t>> count_by_status(const std::vector<Result>& results);

/// An average and its inputs.
struct Average {
  double value = 0;
  /// Interval of the mean, for these models on this machine. The cases' intervals are propagated in logarithms, as
  /// independent errors.
  double low = 0, high = 0;
  size_t n = 0;
  size_t noisy = 0;                        ///< cases among them whose speed-up is noisy (reports/record/doubts.h)
  std::map<std::string, size_t> excluded;  ///< reason → cases
};
/// Returns the share of accuracy cases that passed, upstream's pass rate. Cases that were not run are left out and
/// counted by reason. So are cases of the user's own models if there are others, and Python's torch.compile if there
/// are native backends.
Average pass_rate_of(const std::vector<Result>& results);

/// Returns the machines (Result::machine) of the timings, sorted. If all results come from one machine, returns one
/// empty text. Timings of different machines are never averaged.
std::vector<std::string> machines_of_timings(const std::vector<Result>& results);
/// Returns " on MACHINE", or nothing for the empty text.
std::string on_machine(const std::string& machine);

/// Returns the geometric mean of the speed-ups that were measured on a machine, whether or not they meet their
/// requirement. A mean over passes alone would rise when slow models fail. It leaves out cases whose answer is wrong or
/// missing, by the accuracy case of the same combination. It leaves out speed-ups whose interval says nothing
/// (reports/record/doubts.h), and eager against eager unless there is nothing else.
using Geomean = Average;
Geomean geomean_of(const std::vector<Result>& results, const std::string& machine = "");
/// Returns the arithmetic mean of a metric over the timings of a machine (compile_s, compression_ratio). The same cases
/// are left out. A 0 counts as not measured.
Average mean_of(const std::vector<Result>& results, const std::string& metric, const std::string& machine = "");

/// Returns "1 with a wrong answer, 2 crash"; empty if nothing was left out.
std::string excluded_text(const Average& average);

/// Returns the samples of that name; empty if the result has none.
const std::vector<double>& samples_of(const Result& result, const std::string& key);

/// Returns whether the case finished without being run: skipped or not supported.
bool is_skipped(const Result& result);
/// Returns whether the case finished with the expected status.
bool is_fine(const Result& result);
/// Returns how close the case is to failing: 1 at the limit. It is the largest of three ratios: error to allowed error,
/// error to what rounding explains, and required speed-up to the lower bound of the measured one. Infinite for a
/// failure without a number.
double margin_of(const Result& result);

/// Returns the exit code of a run, by the first line that applies:
///   3    no case was judged: there is no result, or all were skipped
///   130  a case was interrupted
///   1    a gate failed, or a case passed unexpectedly
///   4    the infrastructure failed
///   5    a case is undecided, with `strict_undecided`
///   0    otherwise
int exit_code_of(const std::vector<Result>& results, bool strict_undecided);
/// Returns why the exit code is 3: "nothing was judged: all 3 cases were left out (3 unsupported: no CUDA device)".
std::string nothing_judged_words(const std::vector<Result>& results);

// A run with --gtest_repeat has several results of each case. If only one can represent the case, an unexpected one is
// chosen: a later repetition does not undo a failure.

/// Returns whether `later` represents the case instead of the other result.
bool counts_instead(const Result& later, const Result& earlier);
/// Returns one result per name, in the order of `results`: the last that is not as expected, else the last.
std::vector<const Result*> one_of_each_name(const std::vector<Result>& results);

}  // namespace torchstone
