#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "cases/selection/expand.h"
#include "cases/settings/flags.h"
#include "cases/settings/suite.h"
#include "reports/judge/baseline_input.h"

namespace torchstone {

/// Which cases of a baseline a run was asked for. A case that the run was asked for and does not have is gone. One that
/// flags, --gtest_filter or the shard leave out is not.
class BaselineScope {
 public:
  /// A scope without any case: nothing can be gone.
  BaselineScope() = default;
  BaselineScope(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                const selection::Expansion& expansion);

  /// Whether the run should have this case of the baseline and does not. No registered case has its name, no flag
  /// excludes it, and --gtest_filter matches its name.
  bool misses(const Result& of_baseline) const;

 private:
  std::vector<std::function<bool(const Result&)>> narrowings_{};  ///< each says whether a flag keeps the record
  std::set<std::string> accounted_for_{};  ///< names of cases that are registered or that --torchstone_fast leaves out
  bool empty_ = true;
};

/// What --torchstone_baseline names; nothing without it. Throws ReportError.
std::optional<judge::Baseline> read_baseline(const flags::Flags& flags);
/// How a run is compared with it: with the history that --torchstone_baseline_history names. Throws ReportError, and
/// ConfigError for a word that --torchstone_baseline_fail_on does not take.
judge::BaselineOptions baseline_options(const flags::Flags& flags);

/// Refuses a baseline of rows that may be several of the planned cases, before any of them runs. Throws ReportError.
void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned);

/// A comparison's part of the exit code and what is printed of it.
struct BaselineVerdict {
  int exit_code = 0;
  std::string why;  ///< empty when it is 0
  std::string text;
};

/// Compares the run with its baseline and stores the outcome in the run: the facts of the comparison, and the finding
/// of each case that it makes red. Of the cases that only the baseline has, those that the scope misses are gone. The
/// others are counted in a remark.
BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, const BaselineScope& scope, Report& run);

}  // namespace torchstone
