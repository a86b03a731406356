#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace torchstone {

enum class Better { lower, higher, neither };

/// How a change of a metric since a baseline is judged (reports/judge/baseline.h). `by_processes`: by the samples named
/// like the metric, which have one value per process.
enum class Judged { never, by_rounds, by_processes, by_one_reading, exactly };

/// One row of the metric table, which defines columns, rows and formats of all reports. A metric outside the table,
/// such as a plug-in's, has no column in results.csv and is never judged. It appears in results.json and on the HTML
/// page, as `metric_KEY` in junit.xml, and as `torchstone_undeclared` in metrics.txt.
struct MetricInfo {
  std::string_view key;     ///< property name, column of results.csv, key in results.json
  std::string_view title;   ///< for people
  std::string_view unit;    ///< "s", "ms", "B", "x", "" …
  std::string_view format;  ///< fmt format of the value, e.g. "{:.3f}"
  Better better;
  Judged judged = Judged::never;
  double slack = 0;         ///< largest difference to ignore for a metric that is judged exactly
  bool only_shown = false;  ///< its change does not change the verdict on the case
};

const std::vector<MetricInfo>& metric_table();
/// Returns nullptr for a key that is not declared.
const MetricInfo* find_metric(std::string_view key);
/// Returns the value with its unit: "1.432x", "12.3 ms", "45.8 MiB", "NaN". Undeclared keys: six digits, no unit.
std::string format_metric(std::string_view key, double value);

}  // namespace torchstone
