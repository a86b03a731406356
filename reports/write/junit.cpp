#include "reports/write/junit.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/base/text.h"
#include "reports/base/xml.h"
#include "reports/record/metric.h"
#include "reports/record/properties.h"

namespace torchstone::write {
namespace {

constexpr size_t message_width = 200;

/// What a reader of JUnit sees of a result.
struct Entry {
  JUnitKind kind = JUnitKind::none;
  std::string type, message;
};

struct TestCase {
  const Result* result;
  std::string name;
  Entry entry;
};

struct Suite {
  std::string name;
  std::vector<TestCase> cases;
};

Entry entry_of(const Result& r) {
  const StatusInfo& info = info_of(r.outcome.status);
  const std::string status(info.name);
  const std::string reason = first_line(r.outcome.reason);
  const std::string story = reason.empty() ? status : status + ": " + reason;
  if (!r.finished) return {JUnitKind::error, "unfinished", "started, never finished"};
  if (!r.as_expected()) {
    if (info.passing) return {JUnitKind::failure, "unexpected_pass", "expected " + r.expected + ", got " + story};
    return {info.junit == JUnitKind::none ? JUnitKind::failure : info.junit, status, story};
  }
  if (info.passing) return {info.junit, status, story};
  return {JUnitKind::skipped, "expected_failure", "expected " + story};
}

std::string_view element_of(JUnitKind kind) {
  return kind == JUnitKind::failure ? "failure" : kind == JUnitKind::error ? "error" : "skipped";
}

/// Milliseconds, never an exponent or NaN: the schema takes digits and a dot only.
std::string seconds(double value) { return fmt::format("{:.3f}", std::isfinite(value) && value > 0 ? value : 0.0); }

std::string content_of(const Result& r) {
  std::string text(to_string(r.outcome.status));
  if (!r.outcome.reason.empty()) text += ": " + r.outcome.reason;
  if (!r.outcome.phase.empty()) text += "\nphase: " + r.outcome.phase;
  if (r.expected != "pass") text += "\nexpected: " + r.expected;
  if (!r.outcome.detail.empty()) text += "\n\n" + r.outcome.detail;
  if (!r.reproduce.empty()) text += "\n\nagain: " + r.reproduce;
  return text;
}

std::string output_of(const Result& r) {
  std::string text = fmt::format("accuracy={}\n", to_string(r.outcome.status));
  for (const auto& [key, value] : r.outcome.metrics) text += fmt::format("{}={}\n", key, format_metric(key, value));
  for (const auto& [key, value] : r.outcome.notes) text += fmt::format("{}={}\n", key, first_line(value));
  if (!r.reproduce.empty()) text += fmt::format("reproduce={}\n", r.reproduce);
  if (!r.file.empty()) text += fmt::format("declared={}:{}\n", r.file, r.line);
  return text;
}

void append_properties(std::string& out, const std::string& indent, const Properties& properties) {
  out += indent + "<properties>\n";
  for (const auto& [key, value] : properties) {
    out += indent + "  " + xml_open("property", {{"name", key}, {"value", value}}) + "/>\n";
  }
  out += indent + "</properties>\n";
}

/// What the element's content or results.json has anyway stays out: texts of many lines and the raw samples.
Properties short_properties_of(const Result& r) {
  Properties properties = properties_of(r);
  std::erase_if(properties, [](const auto& p) { return p.first == "detail" || p.first.starts_with("samples_"); });
  return properties;
}

void append_case(std::string& out, const TestCase& test, const std::string& suite, const JUnitOptions& options) {
  const Result& r = *test.result;
  Attributes attributes = {{"classname", suite}, {"name", test.name}, {"time", seconds(r.duration_s)}};
  if (options.testcase_properties && !r.file.empty()) {
    attributes.emplace_back("file", r.file);
    attributes.emplace_back("line", std::to_string(r.line));
  }
  out += "    " + xml_open("testcase", attributes) + ">\n";
  if (options.testcase_properties) append_properties(out, "      ", short_properties_of(r));
  if (test.entry.kind != JUnitKind::none) {
    const std::string_view element = element_of(test.entry.kind);
    out += "      " + xml_open(element, {{"type", test.entry.type},
                                         {"message", shortened(printable(test.entry.message), message_width)}});
    out += ">" + xml_text(content_of(r)) + "</" + std::string(element) + ">\n";
  }
  out += "      <system-out>" + xml_text(output_of(r)) + "</system-out>\n    </testcase>\n";
}

std::vector<Suite> suites_of(const std::vector<Result>& results) {
  std::vector<Suite> suites;
  std::map<std::string, int> seen;
  for (const auto& result : results) {
    const auto dot = result.name.find('.');
    const std::string suite_name = result.name.substr(0, dot);
    std::string name = dot == std::string::npos ? result.name : result.name.substr(dot + 1);
    if (const int count = ++seen[result.name]; count > 1) name += fmt::format(" ({})", count);
    auto suite = std::ranges::find(suites, suite_name, &Suite::name);
    if (suite == suites.end()) suite = suites.insert(suite, {suite_name, {}});
    suite->cases.push_back({&result, name, entry_of(result)});
  }
  return suites;
}

struct Totals {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double duration_s = 0;
};

Totals totals_of(const std::vector<TestCase>& cases) {
  Totals totals;
  for (const auto& test : cases) {
    ++totals.tests;
    totals.failures += test.entry.kind == JUnitKind::failure;
    totals.errors += test.entry.kind == JUnitKind::error;
    totals.skipped += test.entry.kind == JUnitKind::skipped;
    if (std::isfinite(test.result->duration_s)) totals.duration_s += test.result->duration_s;
  }
  return totals;
}

Properties environment_of(const RunInfo& run) {
  Properties properties = {{"run", run.id}, {"exit_reason", run.exit_reason}};
  for (const auto& [prefix, facts] :
       {std::pair{"machine.", &run.machine}, {"build.", &run.build}, {"policy.", &run.policy}}) {
    for (const auto& [key, value] : *facts) properties.emplace_back(prefix + key, value);
  }
  return properties;
}

}  // namespace

std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const JUnitOptions& options) {
  std::string body;
  Totals all;
  for (const auto& suite : suites_of(results)) {
    const Totals totals = totals_of(suite.cases);
    all.tests += totals.tests;
    all.failures += totals.failures;
    all.errors += totals.errors;
    Attributes attributes = {{"name", suite.name},
                             {"tests", std::to_string(totals.tests)},
                             {"failures", std::to_string(totals.failures)},
                             {"errors", std::to_string(totals.errors)},
                             {"skipped", std::to_string(totals.skipped)},
                             {"time", seconds(totals.duration_s)}};
    if (!run.started.empty()) attributes.emplace_back("timestamp", run.started.substr(0, run.started.find('.')));
    body += "  " + xml_open("testsuite", attributes) + ">\n";
    append_properties(body, "    ", environment_of(run));
    for (const auto& test : suite.cases) append_case(body, test, suite.name, options);
    body += "  </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         xml_open("testsuites", {{"name", "torchstone"},
                                 {"tests", std::to_string(all.tests)},
                                 {"failures", std::to_string(all.failures)},
                                 {"errors", std::to_string(all.errors)},
                                 {"time", seconds(run.duration_s)}}) +
         ">\n" + body + "</testsuites>\n";
}

TORCHSTONE_REPORT_WRITER(
    junit, .help = "JUnit's XML for Jenkins, GitLab, GitHub and IDEs", .order = 300, .file = "junit.xml",
    .text = [](const Report& report, const WriteOptions& options) {
      return write_junit(report.results, report.run, {options.testcase_properties});
    });

}  // namespace torchstone::write
