#include "cases/main/closing.h"

#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cases/main/baseline_gate.h"
#include "cases/main/console.h"
#include "fixtures/isolate/interrupt.h"
#include "reports/base/environment.h"
#include "reports/base/exit_code.h"
#include "reports/base/terminal.h"
#include "reports/base/terminal_text.h"
#include "reports/console/summary_text.h"
#include "reports/record/summary.h"
#include "reports/results_folder/plan.h"
#include "reports/write/reports.h"

namespace torchstone {
namespace {

int exit_code(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed) {
  if (isolate::interrupted()) return ExitCode::interrupted;
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    const std::string shards = environment_variable("GTEST_TOTAL_SHARDS");
    print_error(fmt::format("torchstone: nothing selected: no case {}matches --gtest_filter={}",
                            shards.empty() ? "" : "of this shard ", GTEST_FLAG_GET(filter)));
    return ExitCode::nothing_judged;
  }
  int code = exit_code_of(results, facts.flags.strict_undecided);
  if (code == ExitCode::nothing_judged) print_error("torchstone: " + nothing_judged_words(results));
  if (code == ExitCode::success && failed) code = ExitCode::gate_failed;
  return facts.baseline == nullptr ? code : judge_against(*facts.baseline, {run, results}, code, std::cout, std::cerr);
}

}  // namespace

write::Written write_run(const flags::Flags& flags, RunInfo& run, const std::vector<Result>& results,
                         const std::vector<Result>& planned) {
  const auto rows = results_folder::with_missing(results, planned);
  if (!flags.report || rows.empty()) return {};
  run.exit_reason = isolate::interrupted() ? "interrupted" : "finished";
  run.duration_s = static_cast<double>(testing::UnitTest::GetInstance()->elapsed_time()) / 1e3;
  return write::write_reports({run, rows}, flags.run.out, {.testcase_properties = flags.junit_properties});
}

int close_run(const ClosingFacts& facts, const RunInfo& run, const std::vector<Result>& results, bool failed) {
  if (facts.flags.update_expected)
    facts.unwritten.attempt("expected statuses", [&] { std::cout << write_expected(facts.expected, results); });
  const int code = exit_code(facts, run, results, failed);
  const auto rows = results_folder::with_missing(results, facts.planned);
  const bool has_reports = facts.flags.report && !rows.empty();
  if (has_reports) std::cout << annotations_of(rows, facts.flags);
  if (isolate::interrupted()) {
    const int selected = testing::UnitTest::GetInstance()->test_to_run_count();
    std::cout << kept_line(results, static_cast<size_t>(selected), facts.flags);
  }
  if (has_reports) std::cout << console::write_summary(rows, run, facts.reports.paths, line_width());
  std::cout << std::flush;
  for (const auto& fault : facts.reports.faults) print_error("torchstone: " + fault);
  if (!facts.unwritten.empty()) std::cerr << "torchstone: " << facts.unwritten.line() << "\n";
  const bool lost = !facts.reports.faults.empty() || !facts.unwritten.empty();
  return lost && (code == ExitCode::success || code == ExitCode::undecided) ? ExitCode::infrastructure : code;
}

}  // namespace torchstone
