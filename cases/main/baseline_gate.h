#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cases/flags/flags.h"
#include "cases/main/baseline_scope.h"
#include "reports/judge/comparison/baseline_input.h"

namespace torchstone {

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

/// Compares the run with its baseline and puts what comes of it into the run: the facts of the comparison, and the note
/// `worse_than_baseline` or `different_model` on each case that it makes red. Of the cases that only the baseline has,
/// those that the scope misses are gone. The others are counted in a remark.
BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, const BaselineScope& scope, Report& run);

}  // namespace torchstone
