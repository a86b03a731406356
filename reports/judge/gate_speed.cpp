// check_perf_csv.py, and what it does not know: speed-ups that say too little.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/judge/gate.h"
#include "reports/record/noise.h"
#include "reports/statistics/interval_width.h"
#include "reports/tables/upstream_csv.h"

namespace torchstone::judge {
namespace {

/// What is asked for: no worse than `limit`, and no better than `better` where that is red too.
struct Limits {
  bool higher_is_better = true, fail_on_improvement = false;
  double limit = 0, better = 0;

  bool worse(double value) const { return higher_is_better ? value < limit : value > limit; }
  bool improved(double value) const {
    return fail_on_improvement && (higher_is_better ? value > better : value < better);
  }
};

Limits limits_of(const SpeedTarget& target) {
  const double multiplied = target.threshold * target.scale, divided = target.threshold / target.scale;
  const double low = std::min(multiplied, divided), high = std::max(multiplied, divided);
  if (target.metric != "speedup") return {false, target.fail_on_improvement, high, low};
  return {true, target.fail_on_improvement, target.fail_on_improvement ? low : multiplied, high};
}

std::string cell(const CsvTable& table, const CsvRow& row, const char* column) {
  const auto index = table.column(column);
  return index ? row.cells[*index] : "";
}

/// By the interval, because the number alone says too little, as a run judges its required speed-up. `why`: the reason.
std::string noisy_verdict(const Limits& limits, const std::string& why, const CsvTable& table, const CsvRow& row) {
  const auto low = parse_number(cell(table, row, tables::SpeedColumns::low)),
             high = parse_number(cell(table, row, tables::SpeedColumns::high));
  if (!limits.higher_is_better || !low || !high || !statistics::is_bounded(*low, *high)) return "NOISY";
  if (limits.worse(*high * (why.starts_with(place_begin) ? most_lost_apart : 1))) return "FAIL";
  return limits.worse(*low) || limits.improved(*high) ? "NOISY" : "PASS_BUT_NOISY";
}

}  // namespace

std::vector<GateRow> gate_speed(const CsvTable& actual, const SpeedTarget& target, const GateOptions& options) {
  const size_t column = actual.require_column(target.metric), name = actual.require_column("name");
  const Limits limits = limits_of(target);
  std::vector<GateRow> rows;
  for (const auto& cells : actual.rows) {
    GateRow row{cells.cells[name], "PASS", "", false};
    const auto value = parse_number(cells.cells[column]);
    if (!value || !std::isfinite(*value) || *value <= 0) {
      row.verdict = "NOT_MEASURED";
      row.detail = fmt::format("{}={}", target.metric, cells.cells[column].empty() ? "nothing" : cells.cells[column]);
    } else {
      const bool worse = limits.worse(*value), improved = limits.improved(*value);
      if (worse || improved) row.verdict = worse ? "FAIL" : "IMPROVED";
      row.detail = fmt::format("{}={}, limit={:.6g}", target.metric, cells.cells[column],
                               improved ? limits.better : limits.limit);
      if (const std::string why = cell(actual, cells, tables::SpeedColumns::noisy); !why.empty()) {
        row.verdict = noisy_verdict(limits, why, actual, cells);
        row.detail += "; noisy: " + why;
      }
    }
    row.red = row.verdict != "PASS" && !row.verdict.ends_with("NOISY");
    pardon(row, options);
    if (const auto ratio = parse_number(cell(actual, cells, "compression_ratio"));
        limits.higher_is_better && ratio && *ratio > 0)
      row.detail += fmt::format(", memory={:.2f}x of eager's", 1 / *ratio);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace torchstone::judge
