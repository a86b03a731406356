#include <algorithm>
#include <cctype>
#include <utility>

#include "cases/flags/flag_types.h"

namespace torchstone::flags {

FlagInfo FlagInfo::also(const std::string& second_name) && {
  alias = second_name;
  return std::move(*this);
}

FlagInfo FlagInfo::otherwise(const std::string& what) && {
  fallback = what;
  return std::move(*this);
}

FlagInfo FlagInfo::is_path() && {
  path = true;
  return std::move(*this);
}

FlagInfo FlagInfo::repeatable() && {
  repeats = true;
  help += " (repeatable)";
  return std::move(*this);
}

FlagInfo FlagInfo::of_output() && {
  reproduces = false;
  return std::move(*this);
}

FlagInfo FlagInfo::used_by(config::Use cases) && {
  use = std::move(cases);
  return std::move(*this);
}

const std::vector<FlagInfo>& flag_table() {
  static const std::vector<FlagInfo> table = [] {
    std::vector<FlagInfo> all;
    const auto add = [&](const char* group, std::vector<FlagInfo> flags) {
      for (auto& flag : flags) {
        flag.group = group;
        all.push_back(std::move(flag));
      }
    };
    add("What runs", selection_flags());
    add("Models of the suites operators and fastrnns", model_suite_flags());
    add("How a case is judged and timed", case_flags());
    add("How cases are run and compiled", process_flags());
    add("What comes out", output_flags());
    return all;
  }();
  return table;
}

const FlagInfo* find_flag(const std::string& name) {
  for (const auto& flag : flag_table())
    if (name == flag.name || (!flag.alias.empty() && name == flag.alias)) return &flag;
  return nullptr;
}

std::string environment_name(const FlagInfo& flag) {
  std::string name = "TORCHSTONE_" + flag.name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

}  // namespace torchstone::flags
