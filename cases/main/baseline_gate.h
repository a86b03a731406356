#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cases/flags/flags.h"
#include "reports/judge/comparison/baseline_input.h"

namespace torchstone {

/// What --torchstone_baseline names; nothing without it. Throws ReportError.
std::optional<judge::Baseline> read_baseline(const flags::Flags& flags);
/// How a run is compared with it: with the history that --torchstone_baseline_history names. Throws ReportError.
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
/// `worse_than_baseline` on each case that it makes red. Cases that only the baseline has are passed over, because a
/// filter or a shard may have left them out.
BaselineVerdict judge_against(const judge::Baseline& baseline, const judge::BaselineOptions& options,
                              const flags::Flags& flags, Report& run);

}  // namespace torchstone
