#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reports/base/text.h"
#include "reports/judge/comparison/baseline.h"

namespace torchstone::judge {
namespace {

/// Already compared, or of no meaning for a timing.
const std::set<std::string> passed_over = {"architecture", "cpu",          "cores",
                                           "usable_cores", "governor",     "host",
                                           "load_average", "memory_bytes", "steal_since_boot_pct"};
constexpr double load_that_matters = 1;

std::string value_in(const Facts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? "" : found->second;
}

std::string differ(const std::string& key, const std::string& now, const std::string& then) {
  const auto shown = [](const std::string& value) { return value.empty() ? "not set" : value; };
  return fmt::format("{}: {} now, {} in the baseline", key, shown(now), shown(then));
}

/// The values of a note over all cases that both reports have. `absent`: what a case without it means; empty where it
/// means nothing.
void compare_notes(const Report& baseline, const Report& report, const std::string& key, const std::string& absent,
                   std::vector<std::string>& differences) {
  const auto value_of = [&](const Result& result) {
    const std::string value = value_in(result.outcome.notes, key);
    return value.empty() ? absent : value;
  };
  std::map<std::string, std::string> then;
  for (const auto& result : baseline.results) then[result.name] = value_of(result);
  std::map<std::string, size_t> found;
  for (const auto& result : report.results) {
    const auto old = then.find(result.name);
    const std::string now = value_of(result);
    if (old != then.end() && !old->second.empty() && !now.empty() && old->second != now)
      ++found[differ(key, now, old->second)];
  }
  for (const auto& [words, count] : found) differences.push_back(fmt::format("{} ({} cases)", words, count));
}

}  // namespace

std::vector<std::string> other_differences(const Report& baseline, const Report& report) {
  std::vector<std::string> differences;
  const auto compare = [&](const Facts& before, const Facts& after, auto matters) {
    std::set<std::string> keys;
    for (const Facts* facts : {&before, &after})
      for (const auto& [key, value] : *facts) keys.insert(key);
    for (const auto& key : keys)
      if (matters(key) && value_in(before, key) != value_in(after, key))
        differences.push_back(differ(key, value_in(after, key), value_in(before, key)));
  };
  compare(baseline.run.machine, report.run.machine, [](const std::string& key) { return !passed_over.contains(key); });
  // The twins of flags and GoogleTest's variables choose cases.
  compare(baseline.run.environment, report.run.environment,
          [](const std::string& key) { return !key.starts_with("TORCHSTONE_") && !key.starts_with("GTEST_"); });
  const auto load_of = [](const Report& r) { return parse_number(value_in(r.run.machine, "load_average")); };
  if (const auto then = load_of(baseline), now = load_of(report);
      then && now && std::abs(*now - *then) >= load_that_matters)
    differences.push_back(differ("load_average", fmt::format("{:.2f}", *now), fmt::format("{:.2f}", *then)));
  compare_notes(baseline, report, "threads", "", differences);
  compare_notes(baseline, report, "pin_threads", "none", differences);
  return differences;
}

std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key, const Facts& before, const Facts& after) {
    const auto known = [&](const Facts& facts) { return facts.contains(key) ? facts.at(key) : "unknown"; };
    if (known(before) != known(after))
      differences.push_back(fmt::format("{}: {} now, {} in the baseline", key, known(after), known(before)));
  };
  for (const char* key : {"architecture", "cpu", "cores", "usable_cores", "governor"})
    compare(key, baseline.machine, run.machine);
  std::set<std::string> libraries;
  for (const Facts* facts : {&baseline.build, &run.build})
    for (const auto& [key, value] : *facts) libraries.insert(key);
  for (const auto& key : libraries) compare(key, baseline.build, run.build);
  return differences;
}

}  // namespace torchstone::judge
