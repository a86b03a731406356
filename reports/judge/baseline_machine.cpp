#include <set>

#include <fmt/format.h>

#include "reports/judge/baseline.h"

namespace torchstone::judge {

std::vector<std::string> machine_differences(const RunInfo& baseline, const RunInfo& run) {
  std::vector<std::string> differences;
  const auto compare = [&](const std::string& key, const Facts& before, const Facts& after) {
    const auto value_in = [&](const Facts& facts) {
      const auto found = facts.find(key);
      return found == facts.end() ? "unknown" : found->second;
    };
    if (value_in(before) != value_in(after))
      differences.push_back(fmt::format("{}: {} now, {} in the baseline", key, value_in(after), value_in(before)));
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
