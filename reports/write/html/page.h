#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/history.h"
#include "reports/record/json.h"

namespace torchstone::write {

struct PageOptions {
  std::optional<judge::BaselineComparison> comparison = std::nullopt;  ///< with the baseline, when one is given
  std::vector<judge::HistoryPoint> history = {};                       ///< oldest first; empty: no trends
  std::string baseline_label{};                                        ///< names the older run in text and figures
};

/// One self-contained HTML page: no request leaves it, tables and figures are markup, the script only sorts, filters
/// and copies. A pure function of its arguments. Up to some four hundred cases it stays below 1.5 MB: long texts are
/// cut, series drawn coarser, samples of the embedded JSON shortened or left out; each time the page says so.
std::string write_html(const Report& report, const PageOptions& options = {});

}  // namespace torchstone::write
