#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/result.h>
#include <torchstone/run_info.h>

namespace torchstone {

/// What a case counts as: an unfinished one is a crash.
Status final_status(const Result& result);
/// In the order of the status table, by final status.
std::vector<std::pair<Status, size_t>> count_by_status(const std::vector<Result>& results);

/// An average and what it is made of.
struct Average {
  double value = 0;
  /// For these models on this machine: the cases' intervals, propagated in logarithms as independent errors. 0 and
  /// infinity when one of them has no bound.
  double low = 0, high = 0;
  size_t n = 0;
  size_t noisy = 0;                        ///< of these, cases whose speed-up says too little (reports/record/doubts.h)
  std::map<std::string, size_t> left_out;  ///< reason → cases
};
/// The part of the accuracy cases that end as `pass`, upstream's pass rate. Left out, with the number of each status:
/// cases that were not run, which upstream counts as not passed (pass_due_to_skip) or does not know, cases of files
/// (suite own) beside those of models, and Python's torch.compile beside native backends.
Average pass_rate_of(const std::vector<Result>& results);

/// The geometric mean of the measured speed-ups, met or missed: a mean over what passed would rise when slow models
/// fail. Left out, with the number of each: what was not measured, what gives wrong answers or none (by the accuracy
/// case of the same combination in these results), and eager against eager, cases of files (suite own) and Python's
/// torch.compile unless there is nothing else.
using Geomean = Average;
Geomean geomean_of(const std::vector<Result>& results);
/// The arithmetic mean of a metric over the timings (compile_s, compression_ratio). The same are left out; a 0 was not
/// measured.
Average mean_of(const std::vector<Result>& results, const std::string& metric);

/// "1 with a wrong answer, 2 crash"; empty when nothing was left out.
std::string left_out_words(const Average& average);

/// Finished without having been run: skipped, or not supported.
bool is_left_out(const Result& result);
/// As it should be: finished, and with the expected status.
bool is_fine(const Result& result);
/// How near to failing, 1 at the limit: the error as part of what is allowed, or what is required over what was
/// reached. Failures without a number are worst of all.
double margin_of(const Result& result);

/// The exit code of a run. Interrupted (130) goes before all, then a failed gate (1: also a case that passed
/// against expectation), then infrastructure (4), then undecided (5, only when `strict_undecided`). 3 when there is no
/// result, or none but cases that were left out: nothing measured is not green.
int exit_code_of(const std::vector<Result>& results, bool strict_undecided);
/// Why the exit code is 3: "nothing was judged: all 3 cases were left out (3 unsupported: no CUDA device)".
std::string nothing_judged_words(const std::vector<Result>& results);

}  // namespace torchstone

// A run with --gtest_repeat has several results of each case. Where only one can stand for the case, one that is not as
// expected does: a later repetition does not make it good.

namespace torchstone {

/// Whether `later` stands for the case, of two results of it.
bool counts_instead(const Result& later, const Result& earlier);
/// One result of each name, in the order of `results`: the last that is not as expected, else the last.
std::vector<const Result*> one_of_each_name(const std::vector<Result>& results);

}  // namespace torchstone
