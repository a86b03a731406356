#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "cases/settings/flags.h"
#include "cases/settings/yaml.h"
#include "fixtures/isolate/case_server.h"
#include "reports/base/text.h"

namespace torchstone::flags {
namespace {

bool has_several_processes(const Flags& flags) {
  const auto given = std::ranges::find(flags.overrides, "processes", [](const auto& setting) { return setting.first; });
  return given != flags.overrides.end() && text_of(given->second) != "0" && text_of(given->second) != "1";
}

/// Refuses each of these flags; `why` follows its name in the message.
void refuse(Flags& flags, const std::vector<std::string>& names, const std::string& why) {
  for (const auto& name : names) refuse_without_effect(flags, name, fmt::format("--torchstone_{} {}", name, why));
}

}  // namespace

std::vector<std::string> environment_warnings() {
  constexpr std::string_view prefix = "TORCHSTONE_";
  const auto twins = environment_names();
  std::vector<std::string> flag_names;
  for (const auto& flag : flag_table()) flag_names.push_back(flag.name);
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with(prefix)) names.emplace(variable.substr(0, variable.find('=')));
  }
  std::vector<std::string> warnings;
  if (names.contains(isolate::pipes_variable)) return warnings;
  for (const auto& name : names) {
    if (std::ranges::find(twins, name) != twins.end()) continue;
    std::string flag = name.substr(prefix.size());
    std::ranges::transform(flag, flag.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string guess = config::nearest(flag, flag_names);
    if (!guess.empty())
      warnings.push_back(fmt::format("unknown variable {} (did you mean {}?)", shortened(printable(name), 100),
                                     environment_name(*find_flag(guess))));
  }
  return warnings;
}

void refuse_without_effect(Flags& flags, const std::string& name, const std::string& message) {
  const auto is_this = [&](const auto& flag) { return flag.first == name; };
  const auto given = std::ranges::find_if(flags.given, is_this);
  if (given == flags.given.end() || given->second == find_flag(name)->fallback) return;
  if (flags.typed.contains(name)) throw config::ConfigError(message);
  std::erase_if(flags.given, is_this);
  flags.unused_twins.push_back(environment_name(*find_flag(name)));
  flags.run.arguments = reproduce_arguments(flags);
}

void refuse_flags_without_effect(Flags& flags) {
  if (!flags.tournament)
    refuse(flags, {"tournament_variants", "tournament_margin"}, "is only for --torchstone_tournament");
  if (flags.baseline.empty())
    refuse(flags, {"baseline_history", "baseline_fail_on"}, "is only for --torchstone_baseline");
  if (flags.list == Listing::none && !flags.print_program && flags.format != Format::text)
    refuse(flags, {"format"}, "is only for --torchstone_list and --torchstone_print_program");
  if (flags.list != Listing::none) refuse(flags, {"explain"}, "does not go with --torchstone_list");
  if (!flags.report && flags.github == "always")
    refuse_without_effect(flags, "github",
                          "--torchstone_github=always does not go with --torchstone_report=none: annotations are made "
                          "from the reports");
  if (!flags.report)
    refuse(flags, {"junit_properties"}, "does not go with --torchstone_report=none: no junit.xml is written");
  if (flags.run.diagnose == Diagnose::never)
    refuse(flags, {"diagnose_limit", "diagnose_max"}, "does not go with --torchstone_diagnose=never");
  if (!flags.only.ends_with(".pt"))
    refuse(flags, {"inputs"}, "is only for a TorchScript file (.pt) in --torchstone_only");
  if (flags.run.isolate != Isolation::off) return;
  if (has_several_processes(flags))
    refuse(flags, {"processes"},
           "does not go with --torchstone_isolate=off, where all cases run in the program's own process");
  if (flags.run.diagnose == Diagnose::always)
    refuse_without_effect(flags, "diagnose",
                          "--torchstone_diagnose=always does not go with --torchstone_isolate=off: a case is diagnosed "
                          "in processes of its own");
}

void refuse_flags_without_cases(Flags& flags, const std::vector<Case>& cases) {
  if (cases.empty()) return;       // require_cases() reports it
  const auto given = flags.given;  // a copy, because refuse_without_effect() removes twins from it
  for (const auto& flag : given) {
    const std::string& name = flag.first;
    if (std::ranges::none_of(cases, [&](const Case& c) { return makes_a_difference(flags, name, c); }))
      refuse(flags, {name}, fmt::format("is only for {}, and none is selected", find_flag(name)->use.what));
  }
}

}  // namespace torchstone::flags
