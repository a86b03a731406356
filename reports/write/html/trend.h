#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torchstone/result.h>

#include "reports/judge/history.h"

namespace torchstone::html {

/// The points of a history by case and device, in its order.
using HistoryByCase = std::map<std::pair<std::string, std::string>, std::vector<const judge::HistoryPoint*>>;
/// Keeps pointers into `history`.
HistoryByCase history_by_case(const std::vector<judge::HistoryPoint>& history);

/// The speed-up of a case over the runs of a history on the same machine class, with its level shift: sparkline and
/// words. Empty with fewer than two runs.
std::string trend_of(const HistoryByCase& history, const Result& result);

}  // namespace torchstone::html
