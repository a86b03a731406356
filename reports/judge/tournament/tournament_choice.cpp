#include "reports/judge/tournament/tournament_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace torchstone::judge {
namespace {

double setup_of(const Entrant& entrant, bool compile_too) {
  return entrant.start_s.value_or(0) + (compile_too ? entrant.compile_s.value_or(0) : 0);
}

bool is_eager(const Standing& s) { return s.entrant.name == "eager"; }

/// Without a known start nothing can be said of its costs.
bool is_worth_it(const Standing& s) { return s.timed && s.entrant.start_s && (is_eager(s) || s.speedup_low > 1); }

/// −1: a is better, 1: worse, 0: alike.
int compared(double a, double b, double margin) {
  if (a * (1 + margin) < b) return -1;
  return b * (1 + margin) < a ? 1 : 0;
}

/// What is known of one of them alone is neither better nor worse.
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

}  // namespace

const std::vector<Criterion>& criteria() {
  // Times of one compile or start vary by a quarter between runs of one machine; sizes hardly do.
  static const std::vector<Criterion> table{
      {"error", "error", 0.1, false, [](const Entrant& e) { return e.error; }},
      {"peak_bytes", "peak memory", 0.01, false, [](const Entrant& e) { return e.peak_bytes; }},
      {"start_s", "start-up", 0.25, false, [](const Entrant& e) { return e.start_s; }},
      {"compile_s", "compile", 0.25, true, [](const Entrant& e) { return e.compile_s; }},
      {"artifact_bytes", "artifact", 0.01, true, [](const Entrant& e) { return e.artifact_bytes; }},
  };
  return table;
}

void add_break_even(std::vector<Standing>& standings) {
  const auto eager = std::ranges::find_if(standings, is_eager);
  if (eager == standings.end()) return;
  const auto calls = [&](const Standing& s, bool compile_too) {
    const double setup = setup_of(s.entrant, compile_too) - setup_of(eager->entrant, compile_too);
    return std::ceil(std::max(0.0, setup / (eager->seconds - s.seconds)));
  };
  for (Standing& s : standings) {
    if (is_eager(s) || !is_worth_it(s) || !(s.seconds < eager->seconds)) continue;
    s.break_even_calls = calls(s, false);
    s.break_even_compiled_calls = calls(s, true);
  }
}

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

std::vector<Advice> advice(const std::vector<Standing>& standings, bool compile_too) {
  struct Line {
    const Standing* standing;
    double setup, slope;
  };
  double fastest = std::numeric_limits<double>::infinity();
  for (const Standing& s : standings)
    if (s.timed) fastest = std::min(fastest, s.seconds);
  std::vector<Line> lines;
  for (const Standing& s : standings)
    if (is_worth_it(s)) lines.push_back({&s, setup_of(s.entrant, compile_too), s.ties ? fastest : s.seconds});
  const auto cost = [](const Line& line, double calls) { return line.setup + calls * line.slope; };
  std::vector<Advice> result;
  for (double calls = 1; !lines.empty();) {
    const Line now = *std::ranges::min_element(lines, [&](const Line& a, const Line& b) {
      return std::pair(cost(a, calls), a.slope) < std::pair(cost(b, calls), b.slope);
    });
    result.push_back({calls, now.standing->entrant.name});
    // Only what is faster can take over, and the first of them does.
    std::erase_if(lines, [&](const Line& line) { return line.slope >= now.slope; });
    double next = std::numeric_limits<double>::infinity();
    for (const Line& line : lines) next = std::min(next, (line.setup - now.setup) / (now.slope - line.slope));
    calls = std::floor(next) + 1;
  }
  return result;
}

}  // namespace torchstone::judge
