#include "cases/main/tournament_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <torchstone/model_info.h>

#include "cases/main/run_end.h"
#include "cases/main/ship_measurement.h"
#include "cases/selection/expand.h"
#include "cases/selection/tournament_variants.h"
#include "fixtures/backends/catalogue.h"
#include "fixtures/checks/timing/tournament_rounds.h"
#include "fixtures/core/run_options.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/terminal.h"
#include "reports/base/time.h"
#include "reports/console/progress.h"
#include "reports/console/summary_text.h"
#include "reports/judge/tournament_ranking.h"
#include "reports/record/results_folder/case_records.h"
#include "reports/record/results_folder/ownership.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"

namespace torchstone {
namespace {

std::string title_of(const Case& c) {
  return fmt::format("{}/{}_{}_{}_{}{}", c.suite, c.model, to_string(c.mode), to_string(c.dtype), c.device,
                     c.preset == Preset::full ? "_full" : "");
}

/// Returns `_batch_size_8_threads_2` for a case of a sweep (cases/selection/expand.h), else nothing.
std::string combination_of(const Case& c) { return c.sweep.empty() ? "" : "_" + c.sweep; }

/// Returns the facts of a tournament. `preset`: empty for a model that has one size.
std::map<std::string, std::string> facts_of(const Case& c, const std::string& preset) {
  std::map<std::string, std::string> facts{
      {"suite", c.suite},          {"model", c.model},
      {"mode", to_string(c.mode)}, {"dtype", to_string(c.dtype)},
      {"device", c.device},        {"batch_size", fmt::format("{}", c.batch_size)}};
  if (!preset.empty()) facts["preset"] = preset;
  if (c.threads > 0) facts["threads"] = fmt::format("{}", c.threads);
  return facts;
}

Result run_ladder(Session& session, const selection::Variants& file, size_t index) {
  const Case& c = session.cases[index];
  const std::string name = short_name(name_of(c));
  Result result = row_of(c, session);
  if (const auto reason = exclusion(file, c)) {
    result.outcome.status = Status::unsupported;
    result.outcome.reason = *reason;
  } else {
    session.runner.prepare(index, [&](const std::string& what) { console::show_progress(name, what); });
    result.outcome = session.runner.run(index, [&](std::string_view phase) { console::show_progress(name, phase); });
    result.duration_s = session.runner.seconds();
  }
  stamp(session, result);
  session.unwritten.attempt(result.name, [&] { results_folder::write_case(session.flags.run.out, result); });
  return result;
}

judge::Entrant entrant_of(const Case& c, Result ladder) {
  judge::Entrant entrant;
  entrant.name = to_string(c.backend);
  const Outcome& outcome = ladder.outcome;
  entrant.status = outcome.status;
  if (outcome.status != Status::pass)
    entrant.out = outcome.reason.empty() ? std::string(to_string(outcome.status)) : outcome.reason;
  if (ladder.check == "performance") {
    entrant.separate = judge::separate_timing_of(ladder);
    entrant.out = judge::why_not_timed(ladder);  // never timed with the others
  }
  entrant.ladder = std::move(ladder);
  return entrant;
}

/// Returns how the variant of a file is shipped. Empty if the model is no file.
std::optional<selection::Shipping> shipping_of_case(const selection::Variants& variants, const Case& c,
                                                    const flags::Flags& flags) {
  const auto file = std::ranges::find_if(flags.only, [&](const auto& only) {
    return selection::only_is_file(only.value) && selection::only_model(only.value) == c.model;
  });
  if (file == flags.only.end()) return std::nullopt;
  return selection::shipping_of(variants.shipping, c, file->value);
}

void add_shipping(const selection::Variants& variants, const Case& c, const flags::Flags& flags,
                  judge::Entrant& entrant) {
  const auto shipping = shipping_of_case(variants, c, flags);
  if (!shipping) return;
  entrant.command = shipping->command;
  entrant.code = shipping->code;
  entrant.python = shipping->python;
  entrant.why_not_shipped = shipping->why_none;
}

/// Measures, in the form in which they are shipped, the variants that may be the fastest. Begins with the fastest and
/// stops when the time limit is reached.
void measure_shipped_variants(Session& session, const selection::Variants& variants,
                              const std::vector<size_t>& of_model, judge::Tournament& tournament) {
  const auto start = std::chrono::steady_clock::now();
  for (judge::Standing& s : tournament.standings) {
    if (!s.ties || isolate::interrupted()) continue;
    const auto index =
        std::ranges::find_if(of_model, [&](size_t i) { return to_string(session.cases[i].backend) == s.entrant.name; });
    const Case& c = session.cases[*index];
    const auto shipping = shipping_of_case(variants, c, session.flags);
    if (!shipping || !shipping->why_none.empty()) continue;
    s.entrant.why_not_measured = why_not_as_timed(c, *find_model(c.model));
    if (!s.entrant.why_not_measured.empty()) continue;
    measure_shipped(
        *shipping, session.flags.run, c.threads, session.flags.tournament_ship_limit_s - seconds_since(start),
        [&](std::string_view step) { console::show_progress(tournament.title, step); }, s.entrant);
  }
}

/// Times the entrants and stores the timings in them. Stores a failure of all of them in `failure` and returns its
/// status, or pass.
Status time_entrants(Session& session, const std::vector<size_t>& variants, std::vector<judge::Entrant>& entrants,
                     judge::Tournament& tournament) {
  std::vector<size_t> passed;
  for (size_t i = 0; i < variants.size(); ++i)
    if (entrants[i].out.empty() && !entrants[i].separate) passed.push_back(variants[i]);
  if (passed.size() < 2 || passed.front() != variants.front()) return Status::pass;
  const auto timed = session.runner.time_variants(passed, tournament.options.margin, [&](std::string_view phase) {
    console::show_progress(tournament.title, phase);
  });
  for (const auto& one : timed.entrants()) {
    const auto place = std::ranges::find(variants, one.index) - variants.begin();
    judge::Entrant& entrant = entrants[static_cast<size_t>(place)];
    entrant.out = one.out;
    entrant.status = one.status;
    entrant.seconds = one.seconds;
    entrant.error = one.error;
    entrant.peak_bytes = one.peak_bytes;
    entrant.start_s = one.start_s;
    entrant.compile_s = one.compile_s;
    entrant.artifact_bytes = one.artifact_bytes;
  }
  tournament.doubts = timed.doubts();
  tournament.timed_processes = timed.processes();
  tournament.disturbed = timed.disturbed();
  tournament.unwatched = timed.unwatched();
  tournament.failure = timed.failure();
  return timed.failure_status();
}

void hold(Session& session, const selection::Variants& file, const std::vector<size_t>& variants,
          judge::Tournament& tournament) {
  std::vector<judge::Entrant> entrants;
  for (const size_t index : variants) {
    if (isolate::interrupted()) break;
    entrants.push_back(entrant_of(session.cases[index], run_ladder(session, file, index)));
    add_shipping(file, session.cases[index], session.flags, entrants.back());
  }
  Status failed = Status::pass;
  if (entrants.size() == variants.size()) failed = time_entrants(session, variants, entrants, tournament);
  for (const auto& entrant : entrants)
    if (const std::string& fault = entrant.ladder.outcome.infrastructure_fault; !fault.empty())
      tournament.doubts.push_back(
          fmt::format("{} was not judged, for want of the infrastructure: {}", entrant.name, fault));
  if (isolate::interrupted()) tournament.failure = "interrupted";
  if (!tournament.failure.empty())
    for (auto& entrant : entrants) entrant.seconds.clear();  // an incomplete timing allows no ranking
  judge_tournament(std::move(entrants), tournament);
  measure_shipped_variants(session, file, variants, tournament);
  for (auto& doubt : judge::doubts_of_quantised(tournament.standings)) tournament.doubts.push_back(std::move(doubt));
  tournament.exit_code =
      isolate::interrupted() ? static_cast<int>(ExitCode::interrupted) : judge::exit_code_of_model(tournament, failed);
}

}  // namespace

std::vector<std::vector<size_t>> groups_of_variants(const std::vector<Case>& cases,
                                                    const std::vector<size_t>& selected) {
  const auto key_of = [](const Case& c) { return fmt::format("{}|{}|{}", title_of(c), c.batch_size, c.threads); };
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> group_of;
  for (const size_t index : selected) {
    const auto [found, fresh] = group_of.try_emplace(key_of(cases.at(index)), groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(index);
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].backend.name != "eager") continue;
    const auto found = group_of.find(key_of(cases[i]));
    if (found == group_of.end()) continue;
    auto& group = groups[found->second];
    std::erase(group, i);
    group.insert(group.begin(), i);
  }
  return groups;
}

namespace {

/// Runs accuracy's ladder for each variant that `file` does not exclude, and then times those that passed in
/// interleaved rounds. Every variant leaves a record, even an excluded one. An exception becomes `failure`, with the
/// exit code of the infrastructure. An interrupted tournament has no ranking. One that never began has no variants.
judge::Tournament hold_tournament(Session& session, const selection::Variants& file,
                                  const std::vector<size_t>& variants) {
  const Case& first = session.cases.at(variants.front());
  judge::Tournament tournament;
  tournament.title = title_of(first) + combination_of(first);
  if (!first.sweep.empty()) tournament.sweep = title_of(first);
  tournament.facts = facts_of(first, row_of(first, session).preset);
  tournament.options = {.confidence = first.confidence,
                        .margin = session.flags.tournament_margin_pct / 100,
                        .looks = checks::tournament_analyses(first)};
  try {
    hold(session, file, variants, tournament);
  } catch (const std::exception& error) {
    tournament.failure = error.what();
    tournament.exit_code = ExitCode::infrastructure;
  }
  return tournament;
}

constexpr const char* page_name = "tournament.html";
constexpr const char* json_name = "tournament.json";

int code_of(const std::vector<judge::Tournament>& tournaments, const Session& session) {
  if (isolate::interrupted()) return ExitCode::interrupted;
  const int code = judge::exit_code_of_models(tournaments);
  return session.unwritten.empty() || code == ExitCode::gate_failed ? code : static_cast<int>(ExitCode::infrastructure);
}

/// Writes the files. Called after each model, so that an interrupted run keeps the earlier models. `ended` adds the
/// exit code, which changes if a file cannot be written. tournament.json is written last and has the final code.
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
  // If tournament.json could not be written, the page needs the new exit code.
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
                       [&](size_t index) { return !exclusion(variants, session.cases[index]); });
  if (const auto fault = python_fault(session.cases, tried, session.flags.run)) {
    print_error("torchstone: " + *fault);
    return ExitCode::infrastructure;
  }
  plan_cases(session, tried);
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
  for (const auto& sweep : judge::group_sweeps(tournaments)) std::cout << console::sweep_text(sweep) << std::flush;
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

}  // namespace

void run_tournament(Session& session, RunInfo& run) {
  run_instead_of_tests(session, [&](const std::vector<size_t>& selected) {
    try {
      return hold_tournaments(session, run, selected);
    } catch (const std::exception& error) {  // otherwise GoogleTest would report a failed test
      print_error(fmt::format("torchstone: {}", error.what()));
      return static_cast<int>(ExitCode::usage_error);
    }
  });
}

}  // namespace torchstone
