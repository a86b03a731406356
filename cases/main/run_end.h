#pragma once
#include <string>
#include <vector>

#include <torchstone/run_info.h>

#include "cases/main/baseline_gate.h"
#include "cases/main/session.h"
#include "cases/selection/expand.h"
#include "cases/selection/expected_status.h"
#include "cases/settings/flags.h"
#include "reports/console/progress.h"
#include "reports/judge/baseline_input.h"
#include "reports/write/report_files.h"

namespace torchstone {

/// What a run knows of its expected-status files.
struct ExpectedRun {
  std::vector<expected_status::ExpectedFile> files;
  std::string today;
  std::vector<Case> declared;         ///< for an update: all cases that the files may speak of, as suites expect them
  std::vector<std::string> warnings;  ///< of apply_expected
};

/// Reads the files and sets what they say in `cases`. Throws ConfigError.
ExpectedRun expect(const std::vector<suite::Suite>& suites, const selection::Known& known, const flags::Flags& flags,
                   std::vector<Case>& cases);

/// --torchstone_update_expected: writes the files that these results change and returns what was done, for people.
/// Throws ConfigError for what a file cannot say; then none is written.
std::string write_expected(const ExpectedRun& run, const std::vector<Result>& results);

/// What each case took in the run before this one, from its reports in the results folder: what the estimate on the
/// terminal is made of. Empty when there are none, or when they are damaged: that costs the estimate and nothing else.
console::Durations earlier_durations(const flags::Flags& flags);

/// What a run of `selected` cases that was cut off leaves behind: "Interrupted: 3 of 12 selected cases were done; …".
std::string kept_line(const std::vector<Result>& results, size_t selected, const flags::Flags& flags);

/// Whether the console is coloured: by our flag, else by GoogleTest's, else as the environment and the terminal say.
/// GoogleTest is told, so that both agree.
bool settle_color(const flags::Flags& flags);

/// Annotations for the log of GitHub Actions, empty elsewhere unless --torchstone_github=always.
std::string annotations_of(const Report& report, const flags::Flags& flags);

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
