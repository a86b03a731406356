#pragma once
#include <string>
#include <vector>

#include "cases/flags/flags.h"
#include "cases/main/expected_run.h"
#include "cases/main/unwritten.h"
#include "reports/judge/baseline_input.h"
#include "reports/write/reports.h"

namespace torchstone {

/// Writes the report files of what ran and of what was planned and did not run; none with --torchstone_report=none or
/// when nothing was selected.
write::Written write_run(const flags::Flags& flags, RunInfo& run, const std::vector<Result>& results,
                         const std::vector<Result>& planned);

/// What a run was measured against, and what it wrote.
struct ClosingFacts {
  const flags::Flags& flags;
  const ExpectedRun& expected;
  const judge::Baseline* baseline;  ///< nullptr without --torchstone_baseline
  const std::vector<Result>& planned;
  const write::Written& reports;
  Unwritten& unwritten;
};

/// Says all that comes after GoogleTest's closing lines: updated files, comparison with the baseline, annotations, and
/// last the summary and what could not be written. Returns the exit code of the program; `failed`: GoogleTest's own
/// verdict.
int close_run(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed);

}  // namespace torchstone
