#pragma once
#include <string>

#include "reports/judge/tournament/tournament.h"

namespace torchstone::console {

/// A tournament as a table for the console: one line for each variant, the fastest first, then those that were not
/// timed with their status and reason; the verdict; from how many calls what is the best choice; and how it ships.
std::string tournament_text(const judge::Tournament& tournament, size_t width, bool color);

}  // namespace torchstone::console
