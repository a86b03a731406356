#pragma once
#include <string>
#include <vector>

#include "cases/flags/flags.h"
#include "cases/main/baseline_scope.h"
#include "cases/main/expected_run.h"
#include "cases/main/unwritten.h"
#include "reports/judge/comparison/baseline_input.h"
#include "reports/write/reports.h"

namespace torchstone {

/// What a run was measured against.
struct ClosingFacts {
  const flags::Flags& flags;
  const ExpectedRun& expected;
  const judge::Baseline* baseline;  ///< nullptr without --torchstone_baseline
  const judge::BaselineOptions& comparison;
  const BaselineScope& scope;
  const std::vector<Result>& planned;
  Unwritten& unwritten;
};

/// How a run ended: settled before anything is written, so that every report says the same.
struct Ending {
  Report report;                    ///< the exit code is in its run; its results are what ran
  std::vector<Result> rows;         ///< those, and what was planned and did not run
  std::string output;               ///< of updated files and of the comparison, for stdout
  std::vector<std::string> errors;  ///< for stderr
  write::Written reports;
};

/// Settles the exit code, compares with the baseline, and writes the report files (none with --torchstone_report=none
/// or when nothing was selected). `failed`: GoogleTest's own verdict.
Ending end_run(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed);

/// Says all that comes after GoogleTest's closing lines: updated files, comparison with the baseline, annotations, and
/// last the summary and what could not be written. Returns the exit code of the program.
int close_run(const ClosingFacts& facts, const Ending& ending);

}  // namespace torchstone
