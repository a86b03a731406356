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
  /// The cases' intervals, propagated in logarithms as independent errors: for these models on this machine.
  double low = 0, high = 0;
  size_t n = 0;
  size_t noisy = 0;                        ///< of these, cases whose speed-up says too little (reports/record/doubts.h)
  std::map<std::string, size_t> excluded;  ///< reason → cases
};
/// Returns the share of accuracy cases that passed, upstream's pass rate. Cases that were not run are left out and
/// counted by reason. So are cases of models of one's own if there are cases of models, and Python's torch.compile if
/// there are native backends.
Average pass_rate_of(const std::vector<Result>& results);

/// Returns the machines (Result::machine) of the timings, sorted. One, the empty text, if the results are of one
/// machine. An average of timings is over one machine.
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
/// Returns how close the case is to failing, 1 at the limit. It is the error over the allowed error, or over what
/// rounding explains, or the required speed-up over the measured one. Infinite for a failure without a number.
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

// A run with --gtest_repeat has several results of each case. If only one can represent the case, it is one that is not
// as expected: a later repetition does not repair a failure.

/// Returns whether `later` represents the case, of two results of it.
bool counts_instead(const Result& later, const Result& earlier);
/// Returns one result per name, in the order of `results`: the last that is not as expected, else the last.
std::vector<const Result*> one_of_each_name(const std::vector<Result>& results);

}  // namespace torchstone
