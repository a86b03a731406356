#include "cases/main/tournament_of_model.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cases/selection/expand.h"
#include "fixtures/checks/timing/tournament_rounds.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/process.h"
#include "reports/console/progress.h"
#include "reports/judge/tournament/tournament_exit.h"
#include "reports/judge/tournament/tournament_quantised.h"
#include "reports/record/row.h"
#include "reports/results_folder/case_files.h"

namespace torchstone {
namespace {

std::string title_of(const Case& c) {
  return fmt::format("{}/{}_{}_{}_{}{}", c.suite, c.model, to_string(c.mode), to_string(c.dtype), c.device,
                     c.preset == Preset::full ? "_full" : "");
}

/// `_batch_size_8_threads_2` of a sweep (cases/selection/sweep.h).
std::string combination_of(const Case& c) { return c.sweep.empty() ? "" : "_" + c.sweep; }

std::map<std::string, std::string> facts_of(const Case& c) {
  std::map<std::string, std::string> facts{{"suite", c.suite},
                                           {"model", c.model},
                                           {"mode", to_string(c.mode)},
                                           {"dtype", to_string(c.dtype)},
                                           {"device", c.device},
                                           {"preset", to_string(c.preset)},
                                           {"batch_size", fmt::format("{}", c.batch_size)}};
  if (c.threads > 0) facts["threads"] = fmt::format("{}", c.threads);
  return facts;
}

Result run_ladder(Session& session, const selection::Variants& file, size_t index) {
  const Case& c = session.cases[index];
  const std::string name = short_name(name_of(c));
  Result result = row_of(c, session);
  if (const auto reason = left_out(file, c)) {
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
  entrant.ladder = std::move(ladder);
  return entrant;
}

void add_shipping(const selection::Variants& variants, const Case& c, const flags::Flags& flags,
                  judge::Entrant& entrant) {
  if (!selection::only_is_file(flags)) return;
  const auto shipping = selection::shipping_of(variants.shipping, c, flags.only);
  entrant.command = shipping.command;
  entrant.code = shipping.code;
  entrant.why_not_shipped = shipping.why_none;
}

/// What the processes say, in the entrants; a failure of all of them in `failure`. Its status, or pass.
Status time_entrants(Session& session, const std::vector<size_t>& variants, std::vector<judge::Entrant>& entrants,
                     judge::Tournament& tournament) {
  std::vector<size_t> passed;
  for (size_t i = 0; i < variants.size(); ++i)
    if (entrants[i].out.empty()) passed.push_back(variants[i]);
  if (passed.size() < 2 || passed.front() != variants.front()) return Status::pass;
  const auto turns = session.runner.take_turns(passed, tournament.options.margin, [&](std::string_view phase) {
    console::show_progress(tournament.title, fmt::format("{}, {} variants take turns", phase, passed.size()));
  });
  for (const auto& turn : turns.entrants()) {
    const auto place = std::ranges::find(variants, turn.index) - variants.begin();
    judge::Entrant& entrant = entrants[static_cast<size_t>(place)];
    entrant.out = turn.out;
    entrant.status = turn.status;
    entrant.seconds = turn.seconds;
    entrant.error = turn.error;
    entrant.peak_bytes = turn.peak_bytes;
    entrant.start_s = turn.start_s;
    entrant.compile_s = turn.compile_s;
    entrant.artifact_bytes = turn.artifact_bytes;
  }
  tournament.doubts = turns.doubts();
  tournament.failure = turns.failure();
  return turns.failure_status();
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
    if (const auto& notes = entrant.ladder.outcome.notes; notes.contains("infrastructure"))
      tournament.doubts.push_back(fmt::format("{} was not judged, for want of the infrastructure: {}", entrant.name,
                                              notes.at("infrastructure")));
  if (isolate::interrupted()) tournament.failure = "interrupted";
  if (!tournament.failure.empty())
    for (auto& entrant : entrants) entrant.seconds.clear();  // half a timing has no verdict
  judge_tournament(std::move(entrants), tournament);
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

judge::Tournament hold_tournament(Session& session, const selection::Variants& file,
                                  const std::vector<size_t>& variants) {
  const Case& first = session.cases.at(variants.front());
  judge::Tournament tournament;
  tournament.title = title_of(first) + combination_of(first);
  if (!first.sweep.empty()) tournament.sweep = title_of(first);
  tournament.facts = facts_of(first);
  tournament.options = {.confidence = first.confidence,
                        .margin = session.flags.tournament_margin_pct / 100,
                        .looks = checks::turn_looks(first)};
  try {
    hold(session, file, variants, tournament);
  } catch (const std::exception& error) {
    tournament.failure = error.what();
    tournament.exit_code = ExitCode::infrastructure;
  }
  return tournament;
}

}  // namespace torchstone
