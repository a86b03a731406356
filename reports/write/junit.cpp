#include "reports/write/junit.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <torchstone/report_writer.h>

#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/record/properties.h"
#include "reports/record/run_verdict.h"
#include "reports/write/junit_case.h"

namespace torchstone::write {
namespace {

/// Bytes that the facts of machine and build may take in all suites together; beyond, they stand in the first alone.
constexpr size_t largest_facts = size_t{64} << 20;

struct Suite {
  std::string name;
  std::vector<JUnitCase> cases;
};

std::vector<Suite> suites_of(const std::vector<Result>& results, const RunInfo& run) {
  std::vector<Suite> suites;
  std::map<std::string, int> seen;
  std::map<std::string, size_t> places;  // in suites
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
    totals.failures += test.entry.kind == JUnitKind::failure;
    totals.errors += test.entry.kind == JUnitKind::error;
    totals.skipped += test.entry.kind == JUnitKind::skipped;
    if (std::isfinite(test.result->duration_s)) totals.duration_s += test.result->duration_s;
  }
  return totals;
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

/// What a run is red for that no case is: JUnit knows only test cases. Empty when there is nothing of that kind.
std::string run_suite(const RunInfo& run, Totals& all) {
  if (run.exit_code.value_or(ExitCode::success) == ExitCode::success || all.failures + all.errors > 0) return "";
  ++all.tests, ++all.errors;
  const std::string words = fmt::format("exit code {}: {}", *run.exit_code,
                                        run.exit_words.empty() ? exit_words(*run.exit_code) : run.exit_words);
  return "  " +
         xml_open("testsuite", {{"name", "torchstone"},
                                {"tests", "1"},
                                {"failures", "0"},
                                {"errors", "1"},
                                {"skipped", "0"},
                                {"time", "0.000"}}) +
         ">\n    " + xml_open("testcase", {{"classname", "torchstone"}, {"name", "exit_code"}, {"time", "0.000"}}) +
         ">\n      " + xml_open("error", {{"type", "exit_code"}, {"message", printable(words)}}) + ">" +
         xml_text(words) + "</error>\n    </testcase>\n  </testsuite>\n";
}

}  // namespace

std::string write_junit(const std::vector<Result>& results, const RunInfo& run, const JUnitOptions& options) {
  std::string body, facts;
  append_junit_properties(facts, "    ", environment_of(run));
  Totals all;
  const auto suites = suites_of(results, run);
  // JUnit has no place for them but in each suite.
  const bool facts_in_each = facts.size() * suites.size() <= largest_facts;
  for (const auto& suite : suites) {
    const Totals totals = totals_of(suite.cases);
    all.tests += totals.tests;
    all.failures += totals.failures;
    all.errors += totals.errors;
    Attributes attributes = {{"name", suite.name},
                             {"tests", std::to_string(totals.tests)},
                             {"failures", std::to_string(totals.failures)},
                             {"errors", std::to_string(totals.errors)},
                             {"skipped", std::to_string(totals.skipped)},
                             {"time", junit_seconds(totals.duration_s)}};
    if (!run.started.empty()) attributes.emplace_back("timestamp", run.started.substr(0, run.started.find('.')));
    body += "  " + xml_open("testsuite", attributes) + ">\n";
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
      return write_junit(report.results, report.run, {options.testcase_properties});
    });

}  // namespace torchstone::write
