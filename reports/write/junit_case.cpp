#include "reports/write/junit_case.h"

#include <cmath>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/record/detection.h"
#include "reports/record/metric.h"
#include "reports/record/run_verdict.h"

namespace torchstone::write {
namespace {

constexpr size_t message_width = 200;

std::string_view element_of(JUnitKind kind) {
  return kind == JUnitKind::failure ? "failure" : kind == JUnitKind::error ? "error" : "skipped";
}

std::string content_of(const JUnitCase& test) {
  const Result& r = *test.result;
  std::string text(to_string(r.outcome.status));
  if (const std::string reason = reason_of(r); !reason.empty()) text += ": " + reason;
  if (!r.outcome.phase.empty()) text += "\nphase: " + r.outcome.phase;
  if (r.expected != "pass") text += "\nexpected: " + r.expected;
  if (!r.outcome.detail.empty()) text += "\n\n" + r.outcome.detail;
  if (!test.comparison_again.empty()) text += "\n\nthe comparison again: " + test.comparison_again;
  if (!r.reproduce.empty()) text += "\n\nagain: " + r.reproduce;
  return text;
}

std::string output_of(const Result& r) {
  std::string text = fmt::format("accuracy={}\n", to_string(r.outcome.status));
  for (const auto& [key, value] : r.outcome.metrics) text += fmt::format("{}={}\n", key, format_metric(key, value));
  for (const auto& [key, value] : r.outcome.notes) text += fmt::format("{}={}\n", key, first_line(value));
  if (const std::string weak = weak_reason(r); !weak.empty()) text += fmt::format("weak={}\n", weak);
  if (!r.reproduce.empty()) text += fmt::format("reproduce={}\n", r.reproduce);
  if (!r.file.empty()) text += fmt::format("declared={}{}\n", r.file, r.line > 0 ? fmt::format(":{}", r.line) : "");
  return text;
}

/// What the element's content or results.json has anyway stays out: texts of many lines, the raw samples
/// and what a diagnosis found; and the line where a file has none. The mark `weak` follows from the others and is no
/// property of the record.
Properties short_properties_of(const Result& r) {
  Properties properties = properties_of(r);
  std::erase_if(properties, [&r](const auto& p) {
    return p.first == "detail" || p.first == "diagnosis_record" || p.first.starts_with("samples_") ||
           (p.first == "declared_line" && r.line == 0) || (p.first == "batch_size" && r.batch_size == 0) ||
           (p.first == "duration_s" && r.duration_s == 0);
  });
  if (const std::string weak = weak_reason(r); !weak.empty()) properties.emplace_back("weak", weak);
  return properties;
}

}  // namespace

JUnitEntry junit_entry_of(const Result& r) {
  const StatusInfo& info = info_of(r.outcome.status);
  const std::string status(info.name);
  const std::string reason = first_line(reason_of(r));
  const std::string story = reason.empty() ? status : status + ": " + reason;
  if (!r.finished) return {JUnitKind::error, "unfinished", "started, never finished"};
  if (!r.as_expected() && r.status_as_expected())
    return {JUnitKind::failure, r.outcome.notes.contains("different_model") ? "different_model" : "worse_than_baseline",
            reason};
  if (!r.as_expected()) {
    if (info.passing) return {JUnitKind::failure, "unexpected_pass", "expected " + r.expected + ", got " + story};
    return {info.junit == JUnitKind::none ? JUnitKind::failure : info.junit, status, story};
  }
  if (info.passing) return {info.junit, status, story};
  return {JUnitKind::skipped, "expected_failure", "expected " + story};
}

std::string junit_seconds(double value) {
  return fmt::format("{:.3f}", std::isfinite(value) && value > 0 ? value : 0.0);
}

void append_junit_properties(std::string& out, const std::string& indent, const Properties& properties) {
  out += indent + "<properties>\n";
  for (const auto& [key, value] : properties) {
    out += indent + "  " + xml_open("property", {{"name", key}, {"value", value}}) + "/>\n";
  }
  out += indent + "</properties>\n";
}

void append_junit_case(std::string& out, const JUnitCase& test, const std::string& suite, const JUnitOptions& options) {
  const Result& r = *test.result;
  Attributes attributes = {{"classname", suite}, {"name", test.name}, {"time", junit_seconds(r.duration_s)}};
  if (options.testcase_properties && !r.file.empty()) {
    attributes.emplace_back("file", r.file);
    if (r.line > 0) attributes.emplace_back("line", std::to_string(r.line));
  }
  out += "    " + xml_open("testcase", attributes) + ">\n";
  if (options.testcase_properties) append_junit_properties(out, "      ", short_properties_of(r));
  if (test.entry.kind != JUnitKind::none) {
    const std::string_view element = element_of(test.entry.kind);
    out += "      " + xml_open(element, {{"type", test.entry.type},
                                         {"message", shortened(printable(test.entry.message), message_width)}});
    out += ">" + xml_text(content_of(test)) + "</" + std::string(element) + ">\n";
  }
  out += "      <system-out>" + xml_text(output_of(r)) + "</system-out>\n    </testcase>\n";
}

}  // namespace torchstone::write
