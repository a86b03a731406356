#pragma once
#include <iosfwd>
#include <optional>
#include <vector>

#include <torchstone/result.h>

#include "cases/flags/flags.h"
#include "reports/judge/baseline_input.h"

namespace torchstone {

/// What --torchstone_baseline names, read before the first case; nothing without the flag. Throws ReportError.
std::optional<judge::Baseline> read_baseline(const flags::Flags& flags);

/// Before the first case: whether each row of a table belongs to one of the planned cases. Throws ReportError.
void require_matching(const judge::Baseline& baseline, const std::vector<Result>& planned);

/// Compares what ran with the same cases of the baseline, prints it as `torchstone-report compare` does, and returns
/// the exit code of both: something worse is 1, as a failed gate, before everything but an interruption; a baseline of
/// another machine (2) or without any of these cases (3) counts when the run itself is green.
int judge_against(const judge::Baseline& baseline, const Report& run, int exit_code, std::ostream& out,
                  std::ostream& err);

}  // namespace torchstone
