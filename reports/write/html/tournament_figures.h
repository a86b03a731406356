#pragma once
#include <string>

#include "reports/judge/tournament/tournament.h"

// Markup; empty where there is nothing to draw. Variants have the numbers of their places.
namespace torchstone::html {

/// Speed-ups against eager as bars with their simultaneous intervals, on a logarithmic scale, the fastest on top.
std::string speed_bars(const judge::Tournament& tournament);
/// Time against each further criterion, one plot each. Variants on the front are filled.
std::string front_plots(const judge::Tournament& tournament);

}  // namespace torchstone::html
