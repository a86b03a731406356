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

/// The expected-status files of a run.
struct ExpectedRun {
  std::vector<expected_status::ExpectedFile> files;
  std::string today;
  std::vector<Case> declared;  ///< for an update: all cases that entries may match, with the suites' expectations
  std::vector<std::string> warnings;  ///< warnings of apply_expected()
};

/// Reads the files and sets the expectations of `cases`. Throws ConfigError.
ExpectedRun expect(const std::vector<suite::Suite>& suites, const selection::Known& known, const flags::Flags& flags,
                   std::vector<Case>& cases);

/// --torchstone_update_expected: writes the files that these results change and returns a summary. Throws ConfigError,
/// without writing any file, for a result that a file cannot express.
std::string write_expected(const ExpectedRun& run, const std::vector<Result>& results);

/// Returns the durations of the cases in the earlier run, from the reports in the results folder. The terminal uses
/// them for its estimates. Empty if there are no reports or they are damaged.
console::Durations earlier_durations(const flags::Flags& flags);

/// Returns whether to colour the console, according to --torchstone_color, else GoogleTest's flag, else environment and
/// terminal. Sets GoogleTest's flag, so that both agree.
bool settle_color(const flags::Flags& flags);

/// The inputs of the end of a run.
struct ClosingFacts {
  const flags::Flags& flags;
  const ExpectedRun& expected;
  const judge::Baseline* baseline;  ///< nullptr without --torchstone_baseline
  const judge::BaselineOptions& comparison;
  const BaselineScope& scope;
  const std::vector<Result>& planned;
  Unwritten& unwritten;
};

/// The outcome of a run, decided before anything is written, so that all reports agree.
struct Ending {
  Report report;                    ///< results of the cases that ran; the run has the exit code
  std::vector<Result> rows;         ///< these results, and rows of planned cases that did not run
  std::string output;               ///< for stdout: text on updated files and the comparison
  std::vector<std::string> errors;  ///< for stderr
  std::string baseline_fault{};     ///< why the comparison with the baseline fails the run, if it does
  write::Written reports;
};

/// Decides the exit code, compares with the baseline, and writes the report files, unless --torchstone_report=none is
/// given or nothing was selected. `failed` is GoogleTest's own verdict.
Ending end_run(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed);

/// Prints what follows GoogleTest's closing lines: updated files, the comparison with the baseline, annotations, the
/// summary, and what could not be written. Returns the exit code of the program.
int close_run(const ClosingFacts& facts, const Ending& ending);

/// Ends the program before its first case. Prints why, and writes junit.xml (unless --torchstone_report=none is given)
/// and the annotations with that one error.
[[noreturn]] void end_before_cases(const flags::Flags& flags, const RunInfo& run, int code, const std::string& why);

}  // namespace torchstone
