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

/// Reads the baseline that --torchstone_baseline names; nothing without the flag. Throws ReportError.
std::optional<judge::Baseline> read_baseline(const flags::Flags& flags);
/// Returns how a run is compared with its baseline, with the history that --torchstone_baseline_history names. Throws
/// ReportError, and ConfigError for an unknown word of --torchstone_baseline_fail_on.
judge::BaselineOptions baseline_options(const flags::Flags& flags);

/// Throws ReportError if a row of the baseline may be several of the planned cases. Called before any of them runs.
void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned);

/// A comparison's part of the exit code and what is printed of it.
struct BaselineVerdict {
  int exit_code = 0;
  std::string why;  ///< empty when it is 0
  std::string text;
};

/// Compares the run with its baseline. Stores the facts of the comparison in the run, and the finding in each case that
/// it makes red. A case that only the baseline has is gone if the scope misses it, and counted in a remark otherwise.
BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, const BaselineScope& scope, Report& run);

}  // namespace torchstone
