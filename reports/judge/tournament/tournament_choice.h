#pragma once
#include <vector>

#include "reports/judge/tournament/tournament.h"

// What to take, beside being the fastest. Of standings whose times are known; those that were not timed take no part.
namespace torchstone::judge {

/// After how many calls of a process each variant that is surely faster than eager (speedup_low over 1) has paid for
/// what it costs before.
void add_break_even(std::vector<Standing>& standings);

/// Marks the Pareto front of time and criteria(). A variant is off it when another one is better in one of them and
/// worse in none, beyond their margins. Those that tie with the fastest are alike in time. By margins a can be better
/// than b, b than c and c than a: then they count as alike, so that the front has a variant always (the Schwartz set:
/// Schwartz, "Rationality and the myth of the maximum", Noûs 6, 1972).
void mark_front(std::vector<Standing>& standings, double time_margin);

/// The lower envelope of the costs setup + calls × time: eager, and what is surely faster than it. Variants that tie
/// with the fastest have its time, so that of them the one with the least setup is advised. `compile_too`: the setup
/// holds the compile of the package.
std::vector<Advice> advice(const std::vector<Standing>& standings, bool compile_too);

}  // namespace torchstone::judge
