#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torchstone/report_writer.h>

#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/own_model.h"
#include "reports/record/summary.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

/// A unit of the metric table, its base unit in OpenMetrics and the factor between them. In a metric's name the base
/// unit replaces the `suffix` of its key.
struct Unit {
  std::string_view unit, suffix, base;
  double factor;
};
constexpr std::array units = {Unit{"s", "_s", "seconds", 1}, Unit{"ms", "_ms", "seconds", 1e-3},
                              Unit{"B", "_bytes", "bytes", 1}, Unit{"x", "_ratio", "ratio", 1},
                              Unit{"%", "_pct", "ratio", 1e-2}};

std::string backslashed(std::string_view text) {
  return substituted(printable(text), {{'\n', "\\n"}, {'\\', "\\\\"}, {'"', "\\\""}});
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return exact(value);
}

/// A metric family, which keeps its samples together as the format requires.
struct Family {
  std::string name, type, unit, help;
  double factor = 1;  ///< converts values of the metric to the base unit
  std::string samples{};

  void add(std::string_view suffix, const Attributes& labels, double value) {
    std::vector<std::string> parts;
    for (const auto& [key, text] : labels)
      if (!text.empty()) parts.push_back(fmt::format("{}=\"{}\"", key, backslashed(text)));
    const std::string set = parts.empty() ? "" : fmt::format("{{{}}}", fmt::join(parts, ","));
    samples += fmt::format("{}{}{} {}\n", name, suffix, set, number(value));
  }

  std::string text() const {
    if (samples.empty()) return "";
    std::string head = fmt::format("# TYPE {} {}\n", name, type);
    if (!unit.empty()) head += fmt::format("# UNIT {} {}\n", name, unit);
    return head + fmt::format("# HELP {} {}\n", name, backslashed(help)) + samples;
  }
};

Family family_of(const MetricInfo& info) {
  std::string name = "torchstone_" + std::string(info.key);
  for (const auto& [unit, suffix, base, factor] : units) {
    if (info.unit != unit) continue;
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return {fmt::format("{}_{}", name, base), "gauge", std::string(base), std::string(info.title), factor};
  }
  return {name, "gauge", "", std::string(info.title)};
}

Attributes labels_of(const Result& r) {
  Attributes labels{{"case", r.name},     {"suite", r.suite},    {"model", r.model},   {"check", r.check},
                    {"mode", r.mode},     {"dtype", r.dtype},    {"device", r.device}, {"backend", r.backend},
                    {"preset", r.preset}, {"dynamic", r.dynamic}};
  if (!r.machine.empty()) labels.emplace_back("machine", r.machine);
  return labels;
}

}  // namespace

std::string write_openmetrics(const Report& report) {
  const auto results = one_of_each_name(report.results);
  Family run{"torchstone_run", "info", "", "what all results have in common"};
  run.add("_info", {{"id", report.run.id}, {"started", report.run.started}, {"exit_reason", report.run.exit_reason}},
          1);
  Family duration{"torchstone_run_duration_seconds", "gauge", "seconds", "duration of the run"};
  duration.add("", {}, report.run.duration_s);
  Family exit_code{"torchstone_run_exit_code", "gauge", "", "exit code of the run"};
  if (report.run.exit_code) exit_code.add("", {}, *report.run.exit_code);
  Family counts{"torchstone_cases", "gauge", "", "cases by status"};
  for (const auto& [status, count] : count_by_status(report.results))
    counts.add("", {{"status", std::string(to_string(status))}}, static_cast<double>(count));
  Family geomean{"torchstone_geomean_speedup_ratio", "gauge", "ratio", "geometric mean of the measured speed-ups"};
  const bool own = are_of_own_model(report.results);  // a mean over one model's backends and modes means nothing
  for (const auto& machine : own ? std::vector<std::string>{} : machines_of_timings(report.results)) {
    const Attributes labels = machine.empty() ? Attributes{} : Attributes{{"machine", machine}};
    if (const Geomean mean = geomean_of(report.results, machine); mean.n > 0) geomean.add("", labels, mean.value);
  }
  Family info{"torchstone_case", "info", "", "status of each case"};
  Family expected{"torchstone_case_as_expected", "gauge", "", "1: the case ended as expected, 0: it did not"};
  Family noisy{"torchstone_case_noisy", "gauge", "", "1: the interval of the speed-up says too little, 0: it does not"};
  Family weak{"torchstone_case_weak", "gauge", "", "1: it passed, as would an error over 10 %; 0: it would not"};
  Family took{"torchstone_case_duration_seconds", "gauge", "seconds", "duration of each case"};
  Family undeclared{"torchstone_undeclared", "gauge", "", "metrics that Torchstone does not know"};
  for (const Result* r : results) {
    Attributes labels = labels_of(*r);
    expected.add("", labels, r->finished && r->as_expected() ? 1 : 0);
    took.add("", labels, r->duration_s);
    if (r->outcome.metrics.contains("speedup")) noisy.add("", labels, is_noisy(*r) ? 1 : 0);
    if (info_of(final_status(*r)).passing && pass_limit(*r)) weak.add("", labels, is_weak(*r) ? 1 : 0);
    labels.emplace_back("status", to_string(final_status(*r)));
    info.add("_info", labels, 1);
    for (const auto& [key, value] : r->outcome.metrics)
      if (find_metric(key) == nullptr) undeclared.add("", {{"case", r->name}, {"metric", key}}, value);
  }
  std::string text;
  for (const Family* family : {&run, &duration, &exit_code, &counts, &geomean, &info, &expected, &noisy, &weak, &took})
    text += family->text();
  for (const auto& metric : metric_table()) {
    Family family = family_of(metric);
    const std::string key(metric.key);
    for (const Result* r : results)
      if (const auto value = metric_of(*r, key.c_str());
          value && !is_unknown(*r, key) && !follows_from_unknown(*r, key))
        family.add("", labels_of(*r), *value * family.factor);
    text += family.text();
  }
  return text + undeclared.text() + "# EOF\n";
}

TORCHSTONE_REPORT_WRITER(
    openmetrics, .help = "For Prometheus and GitLab's metrics reports", .each_run = false, .file = "metrics.txt",
    .text = [](const Report& report, const auto&) { return write_openmetrics(report); });

}  // namespace torchstone::write
