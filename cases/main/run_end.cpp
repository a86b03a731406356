#include "cases/main/run_end.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <strings.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "cases/main/baseline_gate.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/time.h"
#include "reports/console/summary_text.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/merge_results.h"
#include "reports/record/summary.h"
#include "reports/write/formats.h"
#include "reports/write/report_files.h"

namespace torchstone {
namespace {

/// Returns the cases that the suites register without flags. Entries of the files may name these too.
std::vector<Case> declared_cases(const std::vector<suite::Suite>& suites, const selection::Known& known,
                                 const std::vector<Case>& cases) {
  std::vector<Case> declared = cases;
  std::set<std::string> names;
  for (const auto& c : cases) names.insert(name_of(c));
  for (const auto& c : expand(suites, known, flags::Flags{}).cases)
    if (names.insert(name_of(c)).second) declared.push_back(c);
  return declared;
}

}  // namespace

ExpectedRun expect(const std::vector<suite::Suite>& suites, const selection::Known& known, const flags::Flags& flags,
                   std::vector<Case>& cases) {
  ExpectedRun run{expected_status::expected_files(suites, flags), utc_now().substr(0, 10), {}, {}};
  if (flags.update_expected && run.files.empty())
    throw config::ConfigError(
        "flag --torchstone_update_expected: there is no file to update (expected --torchstone_expected=FILE, or the "
        "key expected_file in a suite)");
  if (flags.update_expected) run.declared = declared_cases(suites, known, cases);
  run.warnings = apply_expected(run.files, run.today, cases, config::texts_of(known.models, &ModelInfo::name));
  return run;
}

std::string write_expected(const ExpectedRun& run, const std::vector<Result>& results) {
  std::map<std::string, Outcome> seen;
  for (const auto& result : results)
    if (result.finished) seen[result.name] = result.outcome;
  const auto changes = update_expected(run.files, run.today, run.declared, seen);
  std::string text;
  for (const auto& change : changes) {
    write_atomically(change.path, change.text);
    text += fmt::format("{}: {} changed, {} removed, {} new: read the difference before you commit it\n", change.path,
                        change.changed, change.removed, change.added);
  }
  return changes.empty() ? "expected statuses: nothing to change\n" : text;
}

console::Durations earlier_durations(const flags::Flags& flags) {
  console::Durations durations;
  if (!flags.report || !std::filesystem::is_directory(flags.run.out)) return durations;
  try {
    for (const auto& result : results_folder::merge_results({flags.run.out}).report.results)
      if (result.finished && result.duration_s > 0) durations[result.name] = result.duration_s;
  } catch (const ReportError&) {
    durations.clear();
  }
  return durations;
}

bool settle_color(const flags::Flags& flags) {
  When choice = flags.color;
  if (const std::string theirs = GTEST_FLAG_GET(color); choice == When::automatic && theirs != "auto") {
    const auto is = [&](const char* word) { return strcasecmp(theirs.c_str(), word) == 0; };
    choice = is("yes") || is("true") || is("t") || is("1") ? When::always : When::never;
  }
  const bool color = use_color(choice);
  GTEST_FLAG_SET(color, color ? "yes" : "no");
  return color;
}

namespace {

/// Returns the message of an interrupted run: "Interrupted: 3 of 12 selected cases were done; …".
std::string kept_line(const std::vector<Result>& results, size_t selected, const flags::Flags& flags) {
  const auto done = std::ranges::count_if(
      results, [](const Result& r) { return r.finished && r.outcome.status != Status::interrupted; });
  return fmt::format("Interrupted: {} of {} selected cases were done; their results are kept in {}\n", done, selected,
                     flags.run.out);
}

/// Returns annotations for the log of GitHub Actions, empty elsewhere unless --torchstone_github=always.
std::string annotations_of(const Report& report, const flags::Flags& flags) {
  const bool here = environment_variable("GITHUB_ACTIONS") == "true";
  if (flags.github == When::never || (flags.github == When::automatic && !here)) return "";
  return write::write_annotations(report, environment_variable("GITHUB_WORKSPACE"));
}

/// An exit code, and its reason if the results do not show it.
struct Exit {
  int code = ExitCode::success;
  std::string why;
};

Exit exit_of_results(const ClosingFacts& facts, const std::vector<Result>& results, bool failed) {
  if (isolate::interrupted()) return {ExitCode::interrupted, ""};
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    const std::string shards = environment_variable("GTEST_TOTAL_SHARDS");
    return {ExitCode::nothing_judged, fmt::format("nothing selected: no case {}matches --gtest_filter={}",
                                                  shards.empty() ? "" : "of this shard ", GTEST_FLAG_GET(filter))};
  }
  const int code = exit_code_of(results, facts.flags.strict_undecided);
  if (code == ExitCode::nothing_judged) return {code, nothing_judged_words(results)};
  if (code == ExitCode::undecided) return {code, "undecided, with --torchstone_strict_undecided"};
  if (code == ExitCode::success && failed) return {ExitCode::gate_failed, "a test outside of the cases failed"};
  return {code, ""};
}

/// Updates the case records on disk with the findings of the comparison.
void write_noted(const ClosingFacts& facts, const std::vector<Result>& results) {
  for (const auto& result : results)
    if (result.is_red_by_baseline())
      facts.unwritten.attempt(result.name, [&] { results_folder::write_case(facts.flags.run.out, result); });
}

Exit compare(const ClosingFacts& facts, Exit found, Ending& ending) {
  const BaselineVerdict verdict =
      judge_against(*facts.baseline, facts.comparison, facts.flags, facts.scope, ending.report);
  ending.output += verdict.text;
  if (verdict.exit_code != ExitCode::success) ending.errors.push_back(verdict.why);
  ending.baseline_fault = verdict.why;
  write_noted(facts, ending.report.results);
  const bool goes_before = verdict.exit_code == ExitCode::gate_failed && found.code != ExitCode::interrupted &&
                           found.code != ExitCode::gate_failed;
  return goes_before || found.code == ExitCode::success ? Exit{verdict.exit_code, verdict.why} : found;
}

/// Marks cases that GoogleTest skipped after a failure (--gtest_fail_fast) as skipped instead of interrupted. Also
/// writes their records, because a planned case without a record counts as interrupted.
void leave_out_skipped(const ClosingFacts& facts, size_t ran, std::vector<Result>& rows) {
  if (!GTEST_FLAG_GET(fail_fast) || isolate::interrupted()) return;
  for (size_t i = ran; i < rows.size(); ++i) {
    Result& result = rows[i];
    result.outcome.status = Status::pass_due_to_skip;
    result.outcome.reason = "not run: --gtest_fail_fast";
    result.recorded = utc_now();
    facts.unwritten.attempt(result.name, [&] { results_folder::write_case(facts.flags.run.out, result); });
  }
}

/// Returns the exit of the infrastructure if the run was green or undecided and something could not be written.
Exit with_losses(Exit found, const std::string& lost) {
  const bool counts = !lost.empty() && (found.code == ExitCode::success || found.code == ExitCode::undecided);
  return counts ? Exit{ExitCode::infrastructure, lost} : found;
}

}  // namespace

Ending end_run(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed) {
  Ending ending{{run, results}, {}, "", {}, "", {}};
  RunInfo& info = ending.report.run;
  info.exit_reason = isolate::interrupted() ? "interrupted" : "finished";
  info.duration_s = static_cast<double>(testing::UnitTest::GetInstance()->elapsed_time()) / 1e3;
  if (facts.flags.update_expected)
    facts.unwritten.attempt("expected statuses", [&] { ending.output += write_expected(facts.expected, results); });
  Exit found = exit_of_results(facts, results, failed);
  const bool selected = testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  if (found.code == ExitCode::nothing_judged) ending.errors.push_back(found.why);
  if (facts.baseline != nullptr && selected) found = compare(facts, found, ending);
  if (!facts.unwritten.empty()) found = with_losses(found, facts.unwritten.line());
  info.exit_code = found.code;
  info.exit_words = found.why;
  ending.rows = results_folder::with_missing(ending.report.results, facts.planned);
  leave_out_skipped(facts, ending.report.results.size(), ending.rows);
  if (!facts.flags.report || ending.rows.empty()) return ending;
  const auto write = [&] {
    return write::write_reports({info, ending.rows}, facts.flags.run.out,
                                {.testcase_properties = facts.flags.junit_properties});
  };
  ending.reports = write();
  const Exit after = with_losses(found, fmt::format("{}", fmt::join(ending.reports.faults, "; ")));
  if (after.code == found.code) return ending;
  info.exit_code = after.code;
  info.exit_words = after.why;
  ending.reports = write();  // again, so that the reports that can be written have the new exit code
  return ending;
}

int close_run(const ClosingFacts& facts, const Ending& ending) {
  const auto& [run, results] = ending.report;
  std::cout << ending.output << std::flush;
  for (const auto& error : ending.errors) print_error("torchstone: " + error);
  const bool has_reports = facts.flags.report && !ending.rows.empty();
  if (has_reports) std::cout << annotations_of({run, ending.rows}, facts.flags);
  if (isolate::interrupted()) {
    const int selected = testing::UnitTest::GetInstance()->test_to_run_count();
    std::cout << kept_line(results, static_cast<size_t>(selected), facts.flags);
  }
  if (has_reports) std::cout << console::write_summary(ending.rows, run, ending.reports.paths, line_width());
  std::cout << std::flush;
  for (const auto& fault : ending.reports.faults) print_error("torchstone: " + fault);
  if (!facts.unwritten.empty()) std::cerr << "torchstone: " << facts.unwritten.line() << "\n";
  return *run.exit_code;
}

void end_before_cases(const flags::Flags& flags, const RunInfo& run, int code, const std::string& why) {
  print_error("torchstone: " + why);
  Report report{run, {}};
  report.run.exit_reason = "finished";
  report.run.exit_code = code;
  report.run.exit_words = why;
  if (flags.report) {
    try {
      write_atomically(std::filesystem::path(flags.run.out) / "junit.xml", write::write_junit({}, report.run));
    } catch (const std::exception& error) {
      print_error(fmt::format("torchstone: junit.xml: {}", error.what()));
    }
    std::cout << annotations_of(report, flags) << std::flush;
  }
  std::exit(code);
}

}  // namespace torchstone
