#pragma once
#include <string>

#include "reports/record/report_json.h"

namespace torchstone::write {

/// A report in the OpenMetrics text format 1.0 (Prometheus, `artifacts:reports:metrics` of GitLab): a gauge for every
/// metric of the metric table in its base unit (seconds, bytes, ratio), torchstone_eager_seconds{case="…",model="…",…},
/// and the statuses as torchstone_case_info and torchstone_cases. Metrics outside of the table share
/// torchstone_undeclared. Of several results of one name one counts (reports/record/summary.h).
/// Source: OpenMetrics specification, sections "Text format" and "MetricFamily".
std::string write_openmetrics(const Report& report);

}  // namespace torchstone::write
