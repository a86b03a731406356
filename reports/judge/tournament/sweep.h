#pragma once
#include <string>
#include <vector>

#include "reports/judge/tournament/tournament.h"

// Which variant to take at which batch size and thread count: tournaments of one model side by side.
namespace torchstone::judge {

/// One tournament of a sweep.
struct SweepRow {
  std::string batch_size{}, threads{};  ///< as the tournament has them; "-": LibTorch's choice
  std::string fastest{};                ///< the winner, or those that tie; "no ranking: …" without one
  double seconds = 0;                   ///< of a call of the fastest; 0 without a ranking, as the numbers below
  double samples_per_s = 0;
  double speedup = 0, speedup_low = 0, speedup_high = 0;  ///< of the fastest against eager at the same combination
};

struct Sweep {
  std::string title;           ///< Tournament::sweep
  std::vector<SweepRow> rows;  ///< in the order in which they were held
};

/// The sweeps among the tournaments, each with all of its combinations. None for tournaments that belong to no sweep.
std::vector<Sweep> sweeps_of(const std::vector<Tournament>& tournaments);

}  // namespace torchstone::judge
