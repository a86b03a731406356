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

/// The cases of a baseline that a run selects. A selected case that the run lacks is gone. A case that flags,
/// --gtest_filter or the shard exclude is not.
class BaselineScope {
 public:
  /// A scope without any case: nothing can be gone.
  BaselineScope() = default;
  BaselineScope(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                const selection::Expansion& expansion);

  /// Whether the run should have this case of the baseline but lacks it. Then no registered case has its name, no flag
  /// excludes it, and --gtest_filter matches its name.
  bool misses(const Result& of_baseline) const;

 private:
  std::vector<std::function<bool(const Result&)>> narrowings_{};  ///< each tells whether a flag selects the record
  /// Names of registered cases, and of those that --torchstone_fast leaves out.
  std::set<std::string> accounted_for_{};
  bool empty_ = true;
};

/// Reads the baseline that --torchstone_baseline names; nothing without the flag. Throws ReportError.
std::optional<judge::Baseline> read_baseline(const flags::Flags& flags);
/// Returns the options of the comparison with the baseline, including the history of --torchstone_baseline_history.
/// Throws ReportError, and ConfigError for an unknown word of --torchstone_baseline_fail_on.
judge::BaselineOptions baseline_options(const flags::Flags& flags);

/// Throws ReportError if a row of the baseline matches several planned cases. Call it before any of them runs.
void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned);

/// The exit code and the printed text of a comparison.
struct BaselineVerdict {
  int exit_code = 0;
  std::string why;  ///< reason of the exit code; empty if that is 0
  std::string text;
};

/// Compares the run with its baseline. Stores the facts of the comparison in the run, and the finding in each case that
/// it makes red. A case that only the baseline has is gone if scope.misses() it; otherwise a remark counts it.
BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, const BaselineScope& scope, Report& run);

}  // namespace torchstone
