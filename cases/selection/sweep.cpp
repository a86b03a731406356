#include "cases/selection/sweep.h"

#include <iterator>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace torchstone::selection {
namespace {

std::vector<config::Settings> combinations_of(const flags::Flags& flags) {
  std::vector<config::Settings> combinations{{}};
  for (const auto& [key, values] : flags.sweeps) {
    std::vector<config::Settings> longer;
    for (const auto& combination : combinations)
      for (const auto& value : values) {
        longer.push_back(combination);
        longer.back().emplace_back(key, value);
      }
    combinations = std::move(longer);
  }
  return combinations;
}

flags::Flags with_settings(flags::Flags flags, const config::Settings& settings) {
  for (const auto& [key, value] : settings) {
    std::erase_if(flags.overrides, [&, &swept = key](const auto& setting) { return setting.first == swept; });
    flags.overrides.emplace_back(key, value);
  }
  return flags;
}

std::string name_of_combination(const config::Settings& settings) {
  std::string name;
  for (const auto& [key, value] : settings) name += fmt::format("{}{}_{}", name.empty() ? "" : "_", key, value.text);
  return name;
}

}  // namespace

Expansion expand_sweep(const std::vector<suite::Suite>& suites, const Known& known, const flags::Flags& flags) {
  if (flags.sweeps.empty()) return expand(suites, known, flags);
  Expansion all;
  std::set<std::tuple<std::string, int64_t, int>> seen;
  for (const auto& combination : combinations_of(flags)) {
    Expansion one = expand(suites, known, with_settings(flags, combination));
    if (seen.empty()) all.skipped = std::move(one.skipped);
    for (Case& c : one.cases) {
      const bool fresh = seen.emplace(name_of(c), c.batch_size, c.threads).second;
      c.sweep = name_of_combination(combination);
      if (fresh)
        all.cases.push_back(std::move(c));
      else
        all.skipped.push_back(
            {name_of(c),
             fmt::format("another combination has batch size {} already, which the model fixes", c.batch_size),
             c.origin["batch_size"]});
    }
  }
  return all;
}

}  // namespace torchstone::selection
