#pragma once
#include <optional>
#include <string>
#include <vector>

#include "reports/judge/baseline.h"
#include "reports/judge/history.h"
#include "reports/record/report_json.h"

namespace torchstone::write {

struct PageOptions {
  std::optional<judge::BaselineComparison> comparison = std::nullopt;  ///< with the baseline, when one is given
  std::vector<judge::HistoryPoint> history = {};                       ///< oldest first; empty: no trends
  std::string baseline_label{};                                        ///< names the older run in text and figures
};

/// One self-contained HTML page, a pure function of its arguments. The page requests no other file; tables and figures
/// are markup, and the script only sorts, filters and copies. Up to about four hundred cases the page stays below
/// 1.5 MB: long texts are cut, series are drawn with fewer points, and samples of the embedded JSON are shortened or
/// left out. The page says where this was done.
std::string write_html(const Report& report, const PageOptions& options = {});

}  // namespace torchstone::write
