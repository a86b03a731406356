#include "cases/settings/flags.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "fixtures/compile/cache_folder.h"
#include "fixtures/isolate/case_server.h"
#include "models/formats/model_file.h"
#include "reports/base/process.h"
#include "reports/base/text.h"

namespace torchstone::flags {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view prefix = "--torchstone_";

std::string absolute(const FlagInfo& flag, const std::string& value) {
  std::error_code error;
  if (constexpr std::string_view mark = "path:"; flag.name == "only" && value.starts_with(mark))
    return fmt::format("{}{}", mark, fs::absolute(value.substr(mark.size()), error).lexically_normal().string());
  const bool model_file = flag.name == "only" && formats::is_model_file(value);
  const bool library_by_name =
      flag.name == "plugin" && value.find('/') == std::string::npos && !fs::exists(value, error);
  if ((!flag.path && !model_file) || library_by_name || (flag.name == "cache" && value == "off")) return value;
  const fs::path path = fs::absolute(value, error);
  return error ? value : path.lexically_normal().string();
}

/// Returns the flag that an argument names, and its value.
std::pair<const FlagInfo*, std::string> parse_argument(const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string name =
      argument.substr(prefix.size(), equals == std::string::npos ? equals : equals - prefix.size());
  const FlagInfo* flag = find_flag(name);
  if (!flag) {
    const std::string guess = config::nearest(name, config::texts_of(flag_table(), &FlagInfo::name));
    throw config::ConfigError(fmt::format(
        "unknown flag {}{} ({})", prefix, name.substr(0, 60),
        guess.empty() ? "expected one of --torchstone_list=flags" : fmt::format("did you mean {}{}?", prefix, guess)));
  }
  if (equals == std::string::npos && flag->boolean) return {flag, "true"};
  if (equals == std::string::npos || equals + 1 == argument.size())
    throw config::ConfigError(
        fmt::format("{}{}: no value (expected {}{}={})", prefix, name, prefix, name, flag->value));
  return {flag, argument.substr(equals + 1)};
}

void apply(const FlagInfo& flag, const std::vector<std::string>& values, const std::string& source, Flags& flags) {
  for (size_t i = flag.repeats ? 0 : values.size() - 1; i < values.size(); ++i) {
    const std::string value = absolute(flag, values[i]);
    const std::string name =
        source.empty() ? fmt::format("flag {}{}={}", prefix, flag.name, value) : fmt::format("{}={}", source, value);
    flag.set(flags, config::scalar_of_flag(name, value));
    flags.given.emplace_back(flag.name, value);
  }
}

std::string program_of(const std::string& argument) {
  std::error_code error;
  if (argument.find('/') != std::string::npos) return fs::absolute(argument, error).lexically_normal().string();
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? argument : self.string();
}

bool has_several_processes(const Flags& flags) {
  const auto given = std::ranges::find(flags.overrides, "processes", [](const auto& setting) { return setting.first; });
  return given != flags.overrides.end() && text_of(given->second) != "0" && text_of(given->second) != "1";
}

/// Replaces several `cuda:N` by one `cuda` and stores the numbers. Cases are then distributed over these GPUs.
void join_gpus(Flags& flags) {
  constexpr std::string_view mark = "cuda:";
  auto& devices = flags.axes.devices;
  std::vector<int> gpus;
  for (const auto& device : devices)
    if (device.value.starts_with(mark)) gpus.push_back(std::stoi(device.value.substr(mark.size())));
  std::ranges::sort(gpus);
  gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
  if (gpus.size() < 2) return;
  flags.gpus = gpus;
  std::ranges::find_if(devices, [&](const auto& device) { return device.value.starts_with(mark); })->value = "cuda";
  std::erase_if(devices, [&](const auto& device) { return device.value.starts_with(mark); });
  const auto first = std::ranges::find(devices, std::string("cuda"), &config::Choice<std::string>::value);
  devices.erase(std::remove_if(first + 1, devices.end(), [](const auto& device) { return device.value == "cuda"; }),
                devices.end());
}

/// Refuses each of these flags; `why` follows its name in the message.
void refuse(Flags& flags, const std::vector<std::string>& names, const std::string& why) {
  for (const auto& name : names) refuse_without_effect(flags, name, fmt::format("--torchstone_{} {}", name, why));
}

/// Whether the reproduction of a case needs this value of a flag. It leaves out other models of --torchstone_only, and
/// --torchstone_inputs for a model that is no TorchScript file, since that would be refused.
bool needs_value(const Flags& flags, const std::string& name, const std::string& value, const Case& c) {
  const auto may_name_model = [&](const std::string& only) {
    const auto found = flags.only_models.find(only);
    return found == flags.only_models.end() || found->second == c.model;
  };
  if (name == "only") return may_name_model(value);
  if (name == "inputs")
    return std::ranges::any_of(flags.given, [&](const auto& flag) {
      return flag.first == "only" && flag.second.ends_with(".pt") && may_name_model(flag.second);
    });
  return makes_a_difference(flags, name, c);
}

/// Returns the Torchstone flags that a reproduction needs, shell-quoted and without secrets (RunOptions::arguments).
/// With a case, returns only those that affect it.
std::string reproduce_arguments(const Flags& flags, const Case* c = nullptr) {
  std::string line;
  for (const auto& [name, value] : flags.given) {
    if (find_flag(name)->reproduces && (c == nullptr || needs_value(flags, name, value, *c)))
      line += (line.empty() ? "" : " ") + shell_quoted(without_secret(fmt::format("--torchstone_{}={}", name, value)));
  }
  return line;
}

}  // namespace

Flags parse_flags(std::vector<std::string>& arguments) {
  Flags flags;
  flags.run.out = fs::absolute("build/results").string();
  // "off" without a home folder, because a folder with a predictable name would not be safe from other users.
  flags.run.cache = compile::default_cache_folder().value_or("off").string();
  flags.run.program = arguments.empty() ? "" : program_of(arguments.front());

  std::map<const FlagInfo*, std::vector<std::string>> typed;
  std::vector<std::string> others;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (i > 0 && argument.starts_with(prefix)) {
      const auto [flag, value] = parse_argument(argument);
      typed[flag].push_back(value);
      flags.typed.insert(flag->name);
      continue;
    }
    if (i > 0 && (argument == "--help" || argument == "-h" || argument == "-?")) flags.help = true;
    if (i > 0 && argument == "--version") flags.version = true;
    others.push_back(argument);
  }
  for (const auto& flag : flag_table()) {
    const std::string variable = environment_name(flag);
    const char* twin = std::getenv(variable.c_str());
    if (const auto values = typed.find(&flag); values != typed.end())
      apply(flag, values->second, "", flags);
    else if (twin != nullptr && *twin != '\0')
      apply(flag, {twin}, variable, flags);
  }
  if (!flags.tournament && !flags.sweeps.empty())
    fail(flags.sweeps.begin()->second.front(), "several values need --torchstone_tournament (expected one value)");
  join_gpus(flags);
  flags.run.arguments = reproduce_arguments(flags);
  arguments = std::move(others);
  return flags;
}

Flags parse_flags(int* argc, char** argv) {
  std::vector<std::string> arguments(argv, argv + *argc);
  const std::vector<std::string> before = arguments;
  Flags flags = parse_flags(arguments);
  // The kept arguments are a subsequence, so moving their pointers forward suffices.
  size_t kept = 0;
  for (size_t i = 0; i < before.size() && kept < arguments.size(); ++i)
    if (before[i] == arguments[kept]) argv[kept++] = argv[i];
  *argc = static_cast<int>(kept);
  argv[kept] = nullptr;
  return flags;
}

std::string cache_warning(const Flags& flags) {
  const bool chosen = std::ranges::any_of(flags.given, [](const auto& flag) { return flag.first == "cache"; });
  if (chosen || flags.run.cache != "off") return "";
  return "neither XDG_CACHE_HOME nor HOME is an absolute path: this run stores compiled programs in a temporary folder "
         "(--torchstone_cache=FOLDER keeps them)";
}

std::vector<std::string> environment_names() { return config::texts_of(flag_table(), environment_name); }

std::string flags_help() {
  std::string text =
      "Torchstone's own flags. Each has an environment twin (TORCHSTONE_OUT=X is --torchstone_out=X); the flag "
      "wins.\n\n";
  for (const auto& flag : flag_table()) {
    const std::string range = flag.range.empty() ? "" : fmt::format(", {}", flag.range);
    const std::string fallback = flag.fallback.empty() ? "" : fmt::format(" (default: {})", flag.fallback);
    text += fmt::format("  --torchstone_{}={}{}\n      {}{}\n", flag.name, flag.value, range, flag.help, fallback);
  }
  return text;
}

std::string shell_quoted(const std::string& text) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  return "'" + substituted(text, {{'\'', "'\\''"}}) + "'";
}

bool makes_a_difference(const Flags& flags, const std::string& name, const Case& c) {
  const auto& reaches = find_flag(name)->use.reaches;
  return !reaches || reaches(c, flags.facts);
}

std::string reproduce_line(const Flags& flags, const Case& c) {
  const std::string arguments = reproduce_arguments(flags, &c);
  return fmt::format("{}{}{} {}", shell_quoted(flags.run.program), arguments.empty() ? "" : " ", arguments,
                     shell_quoted("--gtest_filter=" + name_of(c)));
}

std::vector<std::string> environment_warnings() {
  constexpr std::string_view twin_prefix = "TORCHSTONE_";
  const auto twins = environment_names();
  const auto flag_names = config::texts_of(flag_table(), &FlagInfo::name);
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with(twin_prefix)) names.emplace(variable.substr(0, variable.find('=')));
  }
  std::vector<std::string> warnings;
  if (names.contains(isolate::pipes_variable)) return warnings;
  for (const auto& name : names) {
    if (std::ranges::find(twins, name) != twins.end()) continue;
    std::string flag = name.substr(twin_prefix.size());
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
    refuse(flags, {"tournament_variants", "tournament_margin", "tournament_ship_limit"},
           "is only for --torchstone_tournament");
  if (flags.baseline.empty())
    refuse(flags, {"baseline_history", "baseline_fail_on", "baseline_other_torch"},
           "is only for --torchstone_baseline");
  if (flags.list == Listing::none && !flags.print_program && flags.format != Format::text)
    refuse(flags, {"format"}, "is only for --torchstone_list and --torchstone_print_program");
  if (flags.list != Listing::none) refuse(flags, {"explain"}, "does not go with --torchstone_list");
  if (!flags.report && flags.github == When::always)
    refuse_without_effect(flags, "github",
                          "--torchstone_github=always does not go with --torchstone_report=none: annotations are made "
                          "from the reports");
  if (!flags.report)
    refuse(flags, {"junit_properties"}, "does not go with --torchstone_report=none: no junit.xml is written");
  if (flags.run.diagnose == Diagnose::never)
    refuse(flags, {"diagnose_limit", "diagnose_max"}, "does not go with --torchstone_diagnose=never");
  const auto contains_colon = [](const auto& only) { return only.value.find(':') != std::string::npos; };
  const auto is_script = [](const auto& only) { return only.value.ends_with(".pt"); };
  if (std::ranges::none_of(flags.only, contains_colon))
    refuse(flags, {"subject"}, "is only for a model of a Python package in --torchstone_only");
  if (flags.operators.names.empty())
    refuse(flags, {"operator_log_folder"}, "is only for logs that --torchstone_operators_of names");
  if (std::ranges::none_of(flags.only, is_script))
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

void turn_off_diagnosis(Flags& flags) {
  const auto needs_diagnosis = [&](const std::vector<std::string>& names) {
    refuse(flags, names, "does not work: this build has no diagnosis (CMake's option TORCHSTONE_DIAGNOSE)");
  };
  if (flags.run.diagnose == Diagnose::always) needs_diagnosis({"diagnose"});
  needs_diagnosis({"diagnose_limit", "diagnose_max"});
  flags.run.diagnose = Diagnose::never;
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
