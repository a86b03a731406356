#include <cmath>
#include <map>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/record/doubts.h"
#include "reports/record/metric.h"
#include "reports/record/result_json.h"
#include "reports/record/verdict.h"
#include "reports/write/formats.h"

namespace torchstone::write {
namespace {

using Properties = std::vector<std::pair<std::string, std::string>>;

/// A result as JUnit shows it: the element's kind, type and message. A passed test case has no such element.
struct JUnitEntry {
  StatusKind kind = StatusKind::passed;
  std::string type, message;
};

/// A <testcase>; `name` is unique within its suite.
struct JUnitCase {
  const Result* result;
  std::string name;
  JUnitEntry entry;
  std::string comparison_again{};  ///< command that repeats the comparison, if that made the case red
};

constexpr size_t message_width = 200;

std::string_view element_of(StatusKind kind) {
  return kind == StatusKind::failed ? "failure" : kind == StatusKind::error ? "error" : "skipped";
}

std::string content_of(const JUnitCase& test) {
  const Result& r = *test.result;
  std::string text(to_string(r.outcome.status));
  if (const std::string reason = reason_of(r); !reason.empty()) text += ": " + reason;
  if (!r.outcome.phase.empty()) text += "\nphase: " + r.outcome.phase;
  if (r.expected != "pass") text += "\nexpected: " + expected_words(r);
  if (!r.outcome.detail.empty()) text += "\n\n" + r.outcome.detail;
  if (!test.comparison_again.empty()) text += "\n\nthe comparison again: " + test.comparison_again;
  if (!r.reproduce.empty()) text += "\n\nagain: " + r.reproduce;
  return text;
}

std::string output_of(const Result& r) {
  std::string text = fmt::format("accuracy={}\n", to_string(r.outcome.status));
  for (const auto& [key, value] : r.outcome.metrics) text += fmt::format("{}={}\n", key, format_metric(key, value));
  for (const auto& [key, value] : reported_notes(r)) text += fmt::format("{}={}\n", key, first_line(value));
  if (const std::string weak = weak_reason(r); !weak.empty()) text += fmt::format("weak={}\n", weak);
  if (!r.reproduce.empty()) text += fmt::format("reproduce={}\n", r.reproduce);
  if (!r.file.empty()) text += fmt::format("declared={}{}\n", r.file, r.line > 0 ? fmt::format(":{}", r.line) : "");
  return text;
}

/// Returns the properties of a test case. The status is `accuracy` (upstream's word). Declared metrics have their own
/// keys, others have `metric_KEY`, notes have `note_KEY`. The detail, the samples and the diagnosis are left out: the
/// element's content or results.json has them. Unknown numbers are left out too.
Properties properties_of(const Result& r) {
  const Outcome& outcome = r.outcome;
  Properties properties = {
      {"accuracy", std::string(to_string(outcome.status))}, {"reason", outcome.reason}, {"phase", outcome.phase}};
  for (const auto& field : text_fields()) properties.emplace_back(field.property, r.*field.member);
  if (r.batch_size != 0) properties.emplace_back("batch_size", std::to_string(r.batch_size));
  if (r.line != 0) properties.emplace_back("declared_line", std::to_string(r.line));
  if (r.duration_s != 0) properties.emplace_back("duration_s", exact(r.duration_s));
  properties.emplace_back("finished", r.finished ? "true" : "false");
  for (const auto& [key, value] : outcome.metrics)
    properties.emplace_back(find_metric(key) != nullptr ? key : "metric_" + key, exact(value));
  for (const auto& [key, value] : reported_notes(r)) properties.emplace_back("note_" + key, value);
  for (const auto& [key, member] : digest_fields)
    if (const auto& digest = outcome.model.*member; !digest.empty()) properties.emplace_back(key, digest);
  if (const std::string weak = weak_reason(r); !weak.empty()) properties.emplace_back("weak", weak);
  return properties;
}

JUnitEntry junit_entry_of(const Result& r) {
  const StatusInfo& info = info_of(r.outcome.status);
  const std::string status(info.name);
  const std::string reason = first_line(reason_of(r));
  const std::string story = reason.empty() ? status : status + ": " + reason;
  if (!r.finished) return {StatusKind::error, "unfinished", "started, never finished"};
  if (!r.as_expected() && r.status_as_expected()) return {StatusKind::failed, baseline_type(r), reason};
  if (!r.as_expected()) {
    if (info.passing) return {StatusKind::failed, "unexpected_pass", "expected " + r.expected + ", got " + story};
    return {info.kind == StatusKind::passed ? StatusKind::failed : info.kind, status, story};
  }
  if (info.passing) return {info.kind, status, story};
  return {StatusKind::skipped, "expected_failure", "expected " + story};
}

/// Returns seconds with three decimals, never an exponent or NaN: the schema allows digits and a dot only.
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

void append_junit_case(std::string& out, const JUnitCase& test, const std::string& suite, const WriteOptions& options) {
  const Result& r = *test.result;
  Attributes attributes = {{"classname", suite}, {"name", test.name}, {"time", junit_seconds(r.duration_s)}};
  if (options.testcase_properties && !r.file.empty()) {
    attributes.emplace_back("file", r.file);
    if (r.line > 0) attributes.emplace_back("line", std::to_string(r.line));
  }
  out += "    " + xml_open("testcase", attributes) + ">\n";
  if (options.testcase_properties) append_junit_properties(out, "      ", properties_of(r));
  if (test.entry.kind != StatusKind::passed) {
    const std::string_view element = element_of(test.entry.kind);
    out += "      " + xml_open(element, {{"type", test.entry.type},
                                         {"message", shortened(printable(test.entry.message), message_width)}});
    out += ">" + xml_text(content_of(test)) + "</" + std::string(element) + ">\n";
  }
  out += "      <system-out>" + xml_text(output_of(r)) + "</system-out>\n    </testcase>\n";
}

/// Size limit in bytes of the run's properties over all suites. Beyond it only the first suite has them.
constexpr size_t largest_facts = size_t{64} << 20;

struct Suite {
  std::string name;
  std::vector<JUnitCase> cases;
};

std::vector<Suite> suites_of(const std::vector<Result>& results, const RunInfo& run) {
  std::vector<Suite> suites;
  std::map<std::string, int> seen;
  std::map<std::string, size_t> places;  // indices into `suites`
  for (const auto& result : results) {
    const auto dot = result.name.find('.');
    const std::string suite_name = result.name.substr(0, dot);
    std::string name = dot == std::string::npos ? result.name : result.name.substr(dot + 1);
    if (const int count = ++seen[result.name]; count > 1) name += fmt::format(" ({})", count);
    const auto [place, is_new] = places.emplace(suite_name, suites.size());
    if (is_new) suites.push_back({suite_name, {}});
    suites[place->second].cases.push_back({&result, name, junit_entry_of(result), comparison_again(run, result)});
  }
  return suites;
}

struct Totals {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double duration_s = 0;
};

Totals totals_of(const std::vector<JUnitCase>& cases) {
  Totals totals;
  for (const auto& test : cases) {
    ++totals.tests;
    totals.failures += test.entry.kind == StatusKind::failed;
    totals.errors += test.entry.kind == StatusKind::error;
    totals.skipped += test.entry.kind == StatusKind::skipped;
    if (std::isfinite(test.result->duration_s)) totals.duration_s += test.result->duration_s;
  }
  return totals;
}

std::string open_suite(const std::string& name, const Totals& totals, const std::string& timestamp) {
  Attributes attributes = {{"name", name},
                           {"tests", std::to_string(totals.tests)},
                           {"failures", std::to_string(totals.failures)},
                           {"errors", std::to_string(totals.errors)},
                           {"skipped", std::to_string(totals.skipped)},
                           {"time", junit_seconds(totals.duration_s)}};
  if (!timestamp.empty()) attributes.emplace_back("timestamp", timestamp);
  return "  " + xml_open("testsuite", attributes) + ">\n";
}

Properties environment_of(const RunInfo& run) {
  Properties properties = {{"run", run.id}, {"exit_reason", run.exit_reason}};
  if (run.exit_code) properties.emplace_back("exit_code", std::to_string(*run.exit_code));
  for (const auto& line : baseline_lines(run)) properties.emplace_back("baseline", line);
  if (run.baseline && !run.baseline->again.empty()) properties.emplace_back("baseline_again", run.baseline->again);
  for (const auto& [prefix, facts] :
       {std::pair{"machine.", &run.machine}, {"build.", &run.build}, {"policy.", &run.policy}}) {
    for (const auto& [key, value] : *facts) properties.emplace_back(prefix + key, value);
  }
  return properties;
}

/// Returns a suite with one error for a run that failed although no case did: JUnit has results of test cases only.
/// Empty if the exit code is 0 or a case failed.
std::string run_suite(const RunInfo& run, Totals& all) {
  if (run.exit_code.value_or(ExitCode::success) == ExitCode::success || all.failures + all.errors > 0) return "";
  ++all.tests, ++all.errors;
  const std::string words = fmt::format("exit code {}: {}", *run.exit_code,
                                        run.exit_words.empty() ? exit_words(*run.exit_code) : run.exit_words);
  return open_suite("torchstone", {.tests = 1, .errors = 1}, "") + "    " +
         xml_open("testcase", {{"classname", "torchstone"}, {"name", "exit_code"}, {"time", "0.000"}}) + ">\n      " +
         xml_open("error", {{"type", "exit_code"}, {"message", printable(words)}}) + ">" + xml_text(words) +
         "</error>\n    </testcase>\n  </testsuite>\n";
}

}  // namespace

std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const WriteOptions& options) {
  std::string body, facts;
  append_junit_properties(facts, "    ", environment_of(run));
  Totals all;
  const auto suites = suites_of(results, run);
  // JUnit has no element for properties of the whole run, so every suite repeats them.
  const bool facts_in_each = facts.size() * suites.size() <= largest_facts;
  for (const auto& suite : suites) {
    const Totals totals = totals_of(suite.cases);
    all.tests += totals.tests;
    all.failures += totals.failures;
    all.errors += totals.errors;
    body += open_suite(suite.name, totals, run.started.substr(0, run.started.find('.')));
    if (facts_in_each || &suite == &suites.front()) body += facts;
    for (const auto& test : suite.cases) append_junit_case(body, test, suite.name, options);
    body += "  </testsuite>\n";
  }
  body += run_suite(run, all);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
         xml_open("testsuites", {{"name", "torchstone"},
                                 {"tests", std::to_string(all.tests)},
                                 {"failures", std::to_string(all.failures)},
                                 {"errors", std::to_string(all.errors)},
                                 {"time", junit_seconds(run.duration_s)}}) +
         ">\n" + body + "</testsuites>\n";
}

TORCHSTONE_REPORT_WRITER(
    junit, .help = "JUnit's XML for Jenkins, GitLab, GitHub and IDEs", .order = 300, .file = "junit.xml",
    .text = [](const Report& report, const WriteOptions& options) {
      return write_junit(report.results, report.run, options);
    });

}  // namespace torchstone::write
