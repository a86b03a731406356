#pragma once
#include <string>

#include "reports/judge/tournament/sweep.h"

namespace torchstone::console {

/// A sweep as a table for the console: which variant is the fastest at which batch size and thread count.
std::string sweep_text(const judge::Sweep& sweep);

}  // namespace torchstone::console
