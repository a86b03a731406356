#include "reports/judge/tournament_ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/record/metric.h"
#include "reports/record/summary.h"
#include "reports/statistics/multiple_comparisons.h"
#include "reports/statistics/statistics.h"

namespace torchstone::judge {
namespace {

bool is_eager(const Standing& s) { return s.entrant.name == "eager"; }

/// The seconds of a process with n calls: setup + n × slope.
struct Cost {
  size_t standing;
  double setup, slope;
  double of(double calls) const { return setup + calls * slope; }
};

/// Returns the costs of eager and of the variants that are certainly faster, if their start-up time is known. Variants
/// that tie with the fastest have its time. `compile_too`: setup includes the compile of the package.
std::vector<Cost> costs_of(const std::vector<Standing>& standings, bool compile_too) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Standing& s : standings)
    if (s.timed) fastest = std::min(fastest, s.seconds);
  std::vector<Cost> costs;
  for (size_t i = 0; i < standings.size(); ++i) {
    const Standing& s = standings[i];
    if (!s.timed || !s.entrant.start_s || !(is_eager(s) || s.speedup_low > 1)) continue;
    costs.push_back(
        {i, *s.entrant.start_s + (compile_too ? s.entrant.compile_s.value_or(0) : 0), s.ties ? fastest : s.seconds});
  }
  return costs;
}

/// Returns the number of calls up to which `steep` costs no more than `flat`, whose slope is less. 0: `flat` is cheaper
/// from the first call on.
double calls_until_cheaper(const Cost& flat, const Cost& steep) {
  return std::max(0.0, std::floor((flat.setup - steep.setup) / (steep.slope - flat.slope)));
}

/// Returns −1 if a is better, 1 if it is worse, 0 within the margin.
int compared(double a, double b, double margin) {
  if (a * (1 + margin) < b) return -1;
  return b * (1 + margin) < a ? 1 : 0;
}

int compared(const Criterion& criterion, const Standing& a, const Standing& b) {
  auto of_a = criterion.of(a.entrant), of_b = criterion.of(b.entrant);
  if (!criterion.missing_is_nil && (!of_a || !of_b)) return 0;
  return compared(of_a.value_or(0), of_b.value_or(0), criterion.margin);
}

bool dominates(const Standing& a, const Standing& b, double time_margin) {
  const int time = a.ties && b.ties ? 0 : compared(a.seconds, b.seconds, time_margin);
  if (time > 0) return false;
  bool better = time < 0;
  for (const Criterion& criterion : criteria()) {
    const int one = compared(criterion, a, b);
    if (one > 0) return false;
    better = better || one < 0;
  }
  return better;
}

/// Returns the speed-up over the processes that both have. These are the first processes of eager.
double speedup_in_common_processes(const std::vector<double>& eager, const std::vector<double>& variant) {
  const auto end = eager.begin() + static_cast<std::ptrdiff_t>(std::min(eager.size(), variant.size()));
  return statistics::geometric_mean({eager.begin(), end}) / statistics::geometric_mean(variant);
}

void add_times(Tournament& tournament, size_t timed, size_t eager) {
  auto& standings = tournament.standings;
  std::vector<std::vector<double>> logs;
  for (size_t i = 0; i < timed; ++i) logs.push_back(statistics::logarithms(standings[i].entrant.seconds));
  const double confidence = statistics::confidence_of_look(tournament.options.confidence, tournament.options.looks);
  const auto versus_eager = statistics::compare_with_control(logs, eager, confidence);
  const auto look = statistics::look_at_race(logs, confidence, std::log1p(tournament.options.margin));
  const auto& of_eager = standings[eager].entrant.seconds;
  for (size_t i = 0; i < timed; ++i) {
    Standing& s = standings[i];
    s.timed = true;
    s.speedup = speedup_in_common_processes(of_eager, s.entrant.seconds);
    s.seconds = statistics::geometric_mean(of_eager) / s.speedup;
    s.speedup_low = std::exp(-versus_eager[i].high);
    s.speedup_high = std::exp(-versus_eager[i].low);
    s.of_best_low = std::exp(look.versus_best[i].low);
    s.of_best_high = std::exp(look.versus_best[i].high);
    s.ties = look.may_be_best[i];
  }
  tournament.processes = of_eager.size();
  if (tournament.processes == 1)
    tournament.doubts.push_back("A single process has no spread, so the variants cannot be distinguished.");
}

bool has_own_budget(const Standing& s) { return s.timed && metric_of(s.entrant.ladder, "quantized_operators"); }

SweepRow sweep_row(const Tournament& tournament) {
  SweepRow row{.batch_size = value_in(tournament.facts, "batch_size", "-"),
               .threads = value_in(tournament.facts, "threads", "-")};
  if (tournament.best.empty()) {
    row.failure = tournament.failure;
    return row;
  }
  const Standing& fastest = tournament.standings.front();
  row.fastest = tournament.best;
  row.disturbed = !why_no_advice(tournament).empty();
  row.seconds = fastest.seconds;
  row.samples_per_s = parse_number(row.batch_size).value_or(0) / fastest.seconds;
  row.speedup = fastest.speedup;
  row.speedup_low = fastest.speedup_low;
  row.speedup_high = fastest.speedup_high;
  return row;
}

}  // namespace

const std::vector<Criterion>& criteria() {
  // On one machine, compile and start-up times vary by a quarter from run to run; sizes do not.
  static const std::vector<Criterion> table{
      {"error", "error", 0.1, false, [](const Entrant& e) { return e.error; }},
      {"peak_bytes", "peak memory", 0.01, false, [](const Entrant& e) { return e.peak_bytes; }},
      {"start_s", "start-up", 0.25, false, [](const Entrant& e) { return e.start_s; }},
      {"compile_s", "compile", 0.25, true, [](const Entrant& e) { return e.compile_s; }},
      {"artifact_bytes", "artifact", 0.01, true, [](const Entrant& e) { return e.artifact_bytes; }},
  };
  return table;
}

/// Returns for each variant after how many calls a process that uses it costs less than one that uses eager.
std::vector<std::optional<double>> pays_after(const std::vector<Standing>& standings, bool compile_too) {
  std::vector<std::optional<double>> calls(standings.size());
  const auto costs = costs_of(standings, compile_too);
  const auto eager = std::ranges::find_if(costs, [&](const Cost& cost) { return is_eager(standings[cost.standing]); });
  if (eager == costs.end()) return calls;
  for (const Cost& cost : costs)
    if (cost.slope < eager->slope) calls[cost.standing] = calls_until_cheaper(cost, *eager);
  return calls;
}

/// Marks the Pareto front of time and criteria(). Another variant dominates if it is better in one criterion and worse
/// in none, beyond their margins. Variants that tie with the fastest have equal time. Because of the margins, a may
/// dominate b, b dominate c, and c dominate a. The members of such a cycle count as equal, so that the front is never
/// empty. This is the Schwartz set (Schwartz, "Rationality and the myth of the maximum", Noûs 6, 1972).
void mark_front(std::vector<Standing>& standings, double time_margin) {
  const size_t n = standings.size();
  std::vector<std::vector<bool>> better(n, std::vector<bool>(n));
  for (size_t a = 0; a < n; ++a)
    for (size_t b = 0; b < n; ++b)
      better[a][b] = standings[a].timed && standings[b].timed && dominates(standings[a], standings[b], time_margin);
  for (size_t by = 0; by < n; ++by)  // its transitive closure
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b < n; ++b)
        if (better[a][by] && better[by][b]) better[a][b] = true;
  for (size_t b = 0; b < n; ++b) {
    standings[b].on_front = standings[b].timed;
    for (size_t a = 0; a < n; ++a)
      if (better[a][b] && !better[b][a]) standings[b].on_front = false;
  }
}

/// Returns the lower envelope of the costs: the cheapest variant by number of calls. Of variants that tie with the
/// fastest, it has the one with the least setup.
std::vector<Advice> advice(const std::vector<Standing>& standings, bool compile_too) {
  std::vector<Cost> costs = costs_of(standings, compile_too);
  std::vector<Advice> result;
  for (double calls = 1; !costs.empty();) {
    const Cost now = *std::ranges::min_element(costs, [&](const Cost& a, const Cost& b) {
      return std::pair(a.of(calls), -a.slope) < std::pair(b.of(calls), -b.slope);
    });
    result.push_back({calls, standings[now.standing].entrant.name});
    // The next advice is the faster variant that becomes cheaper first.
    std::erase_if(costs, [&](const Cost& cost) { return cost.slope >= now.slope; });
    double next = std::numeric_limits<double>::infinity();
    for (const Cost& cost : costs) next = std::min(next, calls_until_cheaper(cost, now));
    calls = std::max(next, calls) + 1;  // max: rounding may make `next` one call too small
  }
  return result;
}

/// Sets everything that follows from setup and time: the calls after which a variant pays, and the advice.
void advise(Tournament& tournament) {
  if (!why_no_advice(tournament).empty()) return;
  auto& standings = tournament.standings;
  const auto loaded = pays_after(standings, /*compile_too=*/false);
  const auto compiled = pays_after(standings, /*compile_too=*/true);
  for (size_t i = 0; i < standings.size(); ++i) {
    standings[i].break_even_calls = loaded[i];
    standings[i].break_even_compiled_calls = compiled[i];
  }
  tournament.loaded = advice(standings, /*compile_too=*/false);
  tournament.compiled = advice(standings, /*compile_too=*/true);
}

void judge_tournament(std::vector<Entrant> entrants, Tournament& tournament) {
  auto& standings = tournament.standings;
  for (Entrant& entrant : entrants) {
    if (entrant.separate)
      tournament.separate.push_back(std::move(entrant));
    else
      standings.push_back({.entrant = std::move(entrant)});
  }
  const auto begin_of_out = std::stable_partition(standings.begin(), standings.end(), [](const Standing& s) {
    return s.entrant.out.empty() && !s.entrant.seconds.empty();
  });
  const bool only_eager =
      std::ranges::all_of(standings, [](const Standing& s) { return s.entrant.out.empty() == is_eager(s); });
  std::for_each(begin_of_out, standings.end(), [](Standing& s) {
    s.red = !s.entrant.out.empty() && info_of(s.entrant.status).kind != StatusKind::skipped;
    if (s.entrant.out.empty()) s.entrant.out = "it passed, but was not timed";
  });
  const auto timed = static_cast<size_t>(begin_of_out - standings.begin());
  const auto eager = std::find_if(standings.begin(), begin_of_out, is_eager);
  if (timed < 2 || eager == begin_of_out) {
    if (!tournament.failure.empty()) return;
    tournament.failure = only_eager              ? "only eager passed"
                         : eager == begin_of_out ? "eager was not timed, so nothing can be compared with it"
                                                 : "only eager could be timed";
    return;
  }
  add_times(tournament, timed, static_cast<size_t>(eager - standings.begin()));
  std::ranges::stable_sort(standings.begin(), begin_of_out, {}, &Standing::seconds);
  for (const Standing& s : standings)
    if (s.ties) tournament.best.push_back(s.entrant.name);
  mark_front(standings, tournament.options.margin);
  advise(tournament);
}

std::string why_no_advice(const Tournament& tournament) {
  const size_t watched = tournament.timed_processes - tournament.unwatched;
  if (2 * tournament.disturbed <= watched) return "";
  return fmt::format("{} of {} processes were disturbed. End other programs or take a quiet machine, and run it again.",
                     tournament.disturbed, watched);
}

std::string fastest_other_text(const Standing& s, int digits) {
  if (s.of_best_low <= 0 || !std::isfinite(s.of_best_high)) return "unknown";
  return fmt::format("[{:.{}f} {:.{}f}]", s.of_best_low, digits, s.of_best_high, digits);
}

std::string shipping_heading(const Tournament& tournament) {
  return why_no_advice(tournament).empty() ? "To ship it"
                                           : "The commands that would ship each variant that may be the fastest";
}

std::string verdict_line(const Tournament& tournament) {
  if (tournament.best.empty()) return "no ranking: " + tournament.failure;
  if (const std::string why = why_no_advice(tournament); !why.empty()) return "no advice: " + why;
  if (tournament.best.size() == 1) return "winner " + tournament.best.front();
  return fmt::format("{} tie: {}", tournament.best.size(), fmt::join(tournament.best, ", "));
}

std::string shipped_words(const Shipped& shipped) {
  return fmt::format(
      "as shipped: {} with all weights, load {}, first call {}, then {} a call in a new Python process; "
      "differs from the exported program by {}",
      format_metric("artifact_bytes", shipped.bytes), format_metric("load_s", shipped.load_s),
      format_metric("first_call_s", shipped.first_call_s), format_metric("compiled_ms", 1e3 * shipped.seconds),
      format_metric("max_rel_error", shipped.error));
}

std::string fastest_words(const SweepRow& row) {
  if (row.fastest.empty()) return "no ranking: " + row.failure;
  return fmt::format("{}{}", fmt::join(row.fastest, ", "), row.disturbed ? " (most processes were disturbed)" : "");
}

std::string processes_words(const Tournament& tournament) {
  size_t fewest = tournament.processes;
  for (const Standing& s : tournament.standings)
    if (s.timed) fewest = std::min(fewest, s.entrant.seconds.size());
  if (fewest == tournament.processes) return fmt::format("{}", fewest);
  return fmt::format("{} to {}", fewest, tournament.processes);
}

std::vector<std::string> doubts_of_quantised(const std::vector<Standing>& standings) {
  std::vector<std::string> doubts;
  for (const Standing& s : standings)
    if (has_own_budget(s))
      doubts.push_back(
          fmt::format("{} is judged by {}.", s.entrant.name, s.entrant.ladder.outcome.notes.at("judged_by")));
  const bool among_the_fastest =
      std::ranges::any_of(standings, [](const Standing& s) { return s.ties && has_own_budget(s); });
  const auto other = std::ranges::find_if(standings, [](const Standing& s) { return s.timed && !has_own_budget(s); });
  if (among_the_fastest && other != standings.end())
    doubts.push_back(fmt::format("The fastest that is not quantised is {}.", other->entrant.name));
  return doubts;
}

int exit_code_of_model(const Tournament& tournament, Status failed) {
  std::vector<Result> rows;
  bool infrastructure = false;
  for (const Standing& s : tournament.standings) {
    rows.push_back(s.entrant.ladder);
    rows.back().outcome.status = s.entrant.status;
    infrastructure = infrastructure || !s.entrant.ladder.outcome.infrastructure_fault.empty();
  }
  if (!tournament.best.empty()) return infrastructure ? ExitCode::infrastructure : ExitCode::success;
  if (failed != Status::pass) return info_of(failed).exit_code;
  const int code = exit_code_of(rows, /*strict_undecided=*/false);
  return code == ExitCode::success ? static_cast<int>(ExitCode::nothing_judged) : code;
}

int exit_code_of_models(const std::vector<Tournament>& tournaments) {
  for (const int code :
       {ExitCode::interrupted, ExitCode::gate_failed, ExitCode::infrastructure, ExitCode::nothing_judged})
    if (std::ranges::find(tournaments, code, &Tournament::exit_code) != tournaments.end()) return code;
  return ExitCode::success;
}

std::vector<Sweep> group_sweeps(const std::vector<Tournament>& tournaments) {
  std::vector<Sweep> sweeps;
  for (const Tournament& tournament : tournaments) {
    if (tournament.sweep.empty()) continue;
    auto found = std::ranges::find(sweeps, tournament.sweep, &Sweep::title);
    if (found == sweeps.end()) found = sweeps.insert(sweeps.end(), Sweep{tournament.sweep, {}});
    found->rows.push_back(sweep_row(tournament));
  }
  return sweeps;
}

}  // namespace torchstone::judge
