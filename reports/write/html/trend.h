#pragma once
#include <string>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/history.h"

namespace torchstone::html {

/// The speed-up of a case over the runs of a history on the same machine class, with its level shift: sparkline and
/// words. Empty with fewer than two runs.
std::string trend_of(const std::vector<judge::HistoryPoint>& history, const Result& result);

}  // namespace torchstone::html
