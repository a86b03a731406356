#include "cases/flags/without_effect.h"

#include <algorithm>

#include "fixtures/case/check_registry.h"

namespace torchstone::flags {
namespace {

bool has_several_processes(const Flags& flags) {
  const auto given = std::ranges::find(flags.overrides, "processes", [](const auto& setting) { return setting.first; });
  return given != flags.overrides.end() && text_of(given->second) != "0" && text_of(given->second) != "1";
}

}  // namespace

void refuse_without_effect(Flags& flags, const std::string& name, const std::string& message) {
  const auto is_this = [&](const auto& flag) { return flag.first == name; };
  const auto given = std::ranges::find_if(flags.given, is_this);
  if (given == flags.given.end() || given->second == "false") return;
  if (flags.typed.contains(name)) throw config::ConfigError(message);
  std::erase_if(flags.given, is_this);
  flags.run.arguments = reproduce_arguments(flags);
}

void refuse_flags_without_effect(Flags& flags) {
  if (!flags.tournament) {
    for (const std::string name : {"tournament_variants", "tournament_margin"})
      refuse_without_effect(flags, name, "--torchstone_" + name + " is only for --torchstone_tournament");
  }
  if (flags.baseline.empty())
    refuse_without_effect(flags, "baseline_history", "--torchstone_baseline_history is only for --torchstone_baseline");
  if (flags.list == Listing::none && !flags.print_program && flags.format != Format::text)
    refuse_without_effect(flags, "format",
                          "--torchstone_format is only for --torchstone_list and --torchstone_print_program");
  if (flags.list != Listing::none)
    refuse_without_effect(flags, "explain", "--torchstone_explain does not go with --torchstone_list");
  if (!flags.report && flags.github == "always")
    refuse_without_effect(flags, "github",
                          "--torchstone_github=always does not go with --torchstone_report=none: annotations are made "
                          "of the reports");
  if (!flags.only.ends_with(".pt"))
    refuse_without_effect(flags, "inputs",
                          "--torchstone_inputs is only for a TorchScript file (.pt) in --torchstone_only");
  if (flags.run.isolate != Isolation::off) return;
  if (has_several_processes(flags))
    refuse_without_effect(flags, "processes",
                          "--torchstone_processes does not go with --torchstone_isolate=off, where all cases run in "
                          "the program's own process");
  if (flags.run.diagnose == Diagnose::always)
    refuse_without_effect(flags, "diagnose",
                          "--torchstone_diagnose=always does not go with --torchstone_isolate=off: a case is diagnosed "
                          "in processes of its own");
}

void refuse_speedup_without_timed_cases(Flags& flags, const std::vector<Case>& cases) {
  if (!cases.empty() && std::ranges::none_of(cases, [](const Case& c) { return check_of(c).timed; }))
    refuse_without_effect(flags, "required_speedup",
                          "--torchstone_required_speedup is only for cases of performance, and none is chosen");
}

}  // namespace torchstone::flags
