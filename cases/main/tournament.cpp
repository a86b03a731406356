#include "cases/main/tournament.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cases/main/console.h"
#include "cases/main/results_folder.h"
#include "cases/main/tournament_of_model.h"
#include "fixtures/backends/catalogue.h"
#include "fixtures/core/run_options.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/secrets.h"
#include "reports/base/terminal.h"
#include "reports/base/time.h"
#include "reports/console/progress.h"
#include "reports/console/sweep_text.h"
#include "reports/console/tournament_text.h"
#include "reports/judge/tournament/tournament_exit.h"
#include "reports/results_folder/empty_results.h"
#include "reports/write/html/tournament_page.h"
#include "reports/write/tournament_json.h"

namespace torchstone {
namespace {

constexpr const char* page_name = "tournament.html";
constexpr const char* json_name = "tournament.json";

int code_of(const std::vector<judge::Tournament>& tournaments, const Session& session) {
  if (isolate::interrupted()) return ExitCode::interrupted;
  const int code = judge::exit_code_of_models(tournaments);
  return session.unwritten.empty() || code == ExitCode::gate_failed ? code : static_cast<int>(ExitCode::infrastructure);
}

/// After each model, so that a run that is cut off leaves those before. `ended`: with the exit code, which a file that
/// cannot be written changes; tournament.json, the last of them, has it.
void write_files(Session& session, RunInfo& run, const std::vector<judge::Tournament>& tournaments, bool ended) {
  if (!session.flags.report) return;
  const std::filesystem::path out = session.flags.run.out;
  const auto settle_code = [&] {
    if (ended) run.exit_code = code_of(tournaments, session);
  };
  const auto write_page = [&] {
    settle_code();
    session.unwritten.attempt(
        page_name, [&] { write_atomically(out / page_name, write::write_tournament_page(tournaments, run)); });
  };
  session.unwritten.attempt("list of files", [&] { results_folder::note_written(out, {json_name, page_name}); });
  write_page();
  settle_code();
  session.unwritten.attempt(json_name,
                            [&] { write_atomically(out / json_name, write::write_tournament_json(tournaments, run)); });
  // The last file could not be written, which the page does not say yet.
  if (ended && run.exit_code != code_of(tournaments, session)) write_page();
}

int hold_tournaments(Session& session, RunInfo& run, const std::vector<size_t>& selected) {
  const auto start = std::chrono::steady_clock::now();
  const bool color = settle_color(session.flags);
  console::progress().set_heartbeat(session.flags.heartbeat_s);
  session.origin = prepare_results(session.flags, run.id);
  run.build = build_facts();
  run.tag = without_secret(session.flags.tag);
  const auto variants = selection::read_variants(session.flags.tournament_variants, backend_names());
  std::vector<size_t> tried;
  std::ranges::copy_if(selected, std::back_inserter(tried),
                       [&](size_t index) { return !left_out(variants, session.cases[index]); });
  require_fitting_python(session.cases, tried);
  plan(session, tried);
  compile_ahead(session, tried);
  run.exit_reason = "running";
  std::vector<judge::Tournament> tournaments;
  for (const auto& group : groups_of_variants(session.cases, selected)) {
    tournaments.push_back(hold_tournament(session, variants, group));
    run.duration_s = seconds_since(start);
    write_files(session, run, tournaments, /*ended=*/false);
    console::clear_progress();
    const bool begun = !tournaments.back().standings.empty();
    if (!begun && tournaments.back().exit_code == ExitCode::interrupted) continue;
    std::cout << console::tournament_text(tournaments.back(), line_width(), color) << std::flush;
  }
  for (const auto& sweep : judge::sweeps_of(tournaments)) std::cout << console::sweep_text(sweep) << std::flush;
  session.runner.end_processes();
  run.duration_s = seconds_since(start);
  run.exit_reason = isolate::interrupted() ? "interrupted" : "finished";
  write_files(session, run, tournaments, /*ended=*/true);
  if (session.flags.report)
    std::cout << fmt::format("\n{}/{}\n{}/{}\n", session.flags.run.out, json_name, session.flags.run.out, page_name)
              << std::flush;
  if (!session.unwritten.empty()) print_error("torchstone: " + session.unwritten.line());
  return code_of(tournaments, session);
}

/// GoogleTest knows what its filter and shards leave once a test environment is set up.
class Holding : public testing::Environment {
 public:
  Holding(Session& session, RunInfo& run) : session_(session), run_(run) {}
  void SetUp() override { std::exit(held()); }

 private:
  int held() const try {
    return hold_tournaments(session_, run_, selected_cases(session_));
  } catch (const std::exception& error) {  // GoogleTest would make a failed test of it
    print_error(fmt::format("torchstone: {}", error.what()));
    return ExitCode::usage_error;
  }

  Session& session_;
  RunInfo& run_;
};

}  // namespace

void run_tournament(Session& session, RunInfo& run) {
  register_cases(session);
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  testing::AddGlobalTestEnvironment(new Holding(session, run));
  isolate::catch_interrupts();
  [[maybe_unused]] const int failed = RUN_ALL_TESTS();  // comes back where nothing is selected
  print_error(fmt::format("torchstone: nothing selected: no case matches --gtest_filter={}", GTEST_FLAG_GET(filter)));
  std::exit(ExitCode::nothing_judged);
}

}  // namespace torchstone
