#include <array>
#include <string>

#include <fmt/format.h>

#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/summary.h"
#include "reports/record/tables/suite_tables.h"

namespace torchstone::tables {
namespace {

/// One of upstream's thresholds. A value of 0 means "not measured" or "nothing allocated", so it is never flagged
/// below.
struct Mark {
  const char* metric;
  const char* words;
  bool (*is_flagged)(double value);
};

constexpr std::array marks = {Mark{"speedup", "below 0.95x", [](double x) { return x > 0 && x < 0.95; }},
                              Mark{"compile_s", "above 120 s", [](double x) { return x > 120; }},
                              Mark{"compression_ratio", "below 0.9x", [](double x) { return x > 0 && x < 0.9; }}};

/// Row limit: nobody reads longer tables.
constexpr size_t most_marked = 2000;

}  // namespace

std::optional<SuiteTable> dashboard_marks(const std::vector<Result>& results) {
  SuiteTable table{
      "Flagged by the thresholds of PyTorch's dashboard",
      "Timings with a speed-up below 0.95x, a compile above 120 s, or a memory ratio (eager / compiled, with "
      "weights) below 0.9x. They are no gates",
      {"Model", "Run", "Flagged", "Threshold", "Value"},
      4,
      {}};
  for (const Result* result : one_of_each_name(results)) {
    if (result->check != "performance") continue;
    for (const Mark& mark : marks) {
      const auto value = metric_of(*result, mark.metric);
      if (!value || !mark.is_flagged(*value) || is_unknown(*result, mark.metric)) continue;
      if (table.rows.size() == most_marked) break;
      const bool noisy = std::string(mark.metric) == "speedup" && is_noisy(*result);
      table.rows.push_back({result->model, run_words(*result), std::string(find_metric(mark.metric)->title), mark.words,
                            format_metric(mark.metric, *value) + (noisy ? " noisy" : "")});
    }
  }
  if (table.rows.empty()) return std::nullopt;
  return table;
}

}  // namespace torchstone::tables
