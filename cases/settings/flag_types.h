#pragma once
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/flags.h"
#include "cases/settings/yaml.h"

// Makers of the runner's flags, one for each type of a value. `of` returns the member of Flags that the flag sets.

namespace torchstone::flags {

template <typename Of>
FlagInfo text_flag(const char* name, const char* value, const char* help, Of of) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  Flags defaults;
  flag.fallback = of(defaults);
  flag.set = [of](Flags& flags, const config::Yaml& node) { of(flags) = text_of(node); };
  return flag;
}

/// A value that may be given several times.
template <typename Of>
FlagInfo texts_flag(const char* name, const char* value, const char* help, Of of) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  flag.set = [of](Flags& flags, const config::Yaml& node) { of(flags).push_back(text_of(node)); };
  return std::move(flag).repeatable();
}

template <typename Of>
FlagInfo boolean_flag(const char* name, const char* help, Of of) {
  FlagInfo flag{.name = name, .value = "BOOL", .help = help};
  Flags defaults;
  flag.fallback = of(defaults) ? "true" : "false";
  flag.boolean = true;
  flag.set = [of](Flags& flags, const config::Yaml& node) { of(flags) = boolean_of(node); };
  return flag;
}

/// A whole number (`low` and `high` are int64_t) or a floating-point one (double); the member may be optional.
template <typename Number, typename Of>
FlagInfo number_flag(const char* name, const char* value, Number low, Number high, const char* help, Of of) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  flag.range = fmt::format("{} to {}", low, high);
  Flags defaults;
  using Member = std::remove_reference_t<decltype(of(defaults))>;
  if constexpr (std::is_arithmetic_v<Member>) flag.fallback = fmt::format("{}", of(defaults));
  flag.set = [of, low, high](Flags& flags, const config::Yaml& node) {
    Number number{};
    if constexpr (std::is_integral_v<Number>)
      number = integer_of(node, low, high);
    else
      number = number_of(node, low, high);
    if constexpr (std::is_arithmetic_v<Member>)
      of(flags) = static_cast<Member>(number);
    else
      of(flags) = static_cast<typename Member::value_type>(number);
  };
  return flag;
}

/// One of some words.
template <typename T, typename Of>
FlagInfo word_flag(const char* name, const config::Words<T>& words, const char* help, Of of) {
  FlagInfo flag{.name = name, .value = fmt::format("{}", fmt::join(config::spelt(words), "|")), .help = help};
  Flags defaults;
  for (const auto& [word, meaning] : words)
    if (meaning == of(defaults)) flag.fallback = word;
  flag.set = [of, words](Flags& flags, const config::Yaml& node) { of(flags) = word_of(node, words); };
  return flag;
}

/// The parts between commas; throws ConfigError when one is empty.
std::vector<config::Yaml> split(const config::Yaml& value);

/// A list with commas that replaces an axis; `parse` reads one part.
template <typename Of, typename Parse>
FlagInfo list_flag(const char* name, const char* value, const char* help, Of of, Parse parse,
                   std::vector<config::Yaml> (*parts)(const config::Yaml&) = split) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  flag.set = [of, parse, parts](Flags& flags, const config::Yaml& node) {
    auto& list = of(flags);
    list.clear();
    for (const auto& part : parts(node)) list.push_back({parse(part), part});
  };
  return flag;
}

constexpr double no_limit = 1e9;

// The parts of flag_table().
std::vector<FlagInfo> selection_flags();
std::vector<FlagInfo> model_suite_flags();
std::vector<FlagInfo> case_flags();
std::vector<FlagInfo> process_flags();
std::vector<FlagInfo> output_flags();

}  // namespace torchstone::flags
