#pragma once
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/flags.h"
#include "cases/settings/yaml.h"

// Makers of the runner's flags, one for each type of value. `member` is the member of Flags, or of a struct in it, that
// the flag sets.

namespace torchstone::flags {

template <typename Owner, typename Member>
Member& member_of(Flags& flags, Member Owner::*member) {
  if constexpr (std::is_same_v<Owner, Flags>)
    return flags.*member;
  else if constexpr (std::is_same_v<Owner, RunOptions>)
    return flags.run.*member;
  else if constexpr (std::is_same_v<Owner, config::Axes>)
    return flags.axes.*member;
  else if constexpr (std::is_same_v<Owner, OperatorFlags>)
    return flags.operators.*member;
  else if constexpr (std::is_same_v<Owner, FastrnnsFlags>)
    return flags.fastrnns.*member;
  else
    return flags.fastrnns.sizes.*member;
}

template <typename Owner, typename Member>
Member default_of(Member Owner::*member) {
  Flags defaults;
  return member_of(defaults, member);
}

template <typename Owner>
FlagInfo text_flag(const char* name, const char* value, const char* help, std::string Owner::*member) {
  FlagInfo flag{.name = name, .value = value, .help = help, .fallback = default_of(member)};
  flag.set = [member](Flags& flags, const config::Yaml& node) { member_of(flags, member) = text_of(node); };
  return flag;
}

/// A text flag that may be given several times.
template <typename Owner>
FlagInfo texts_flag(const char* name, const char* value, const char* help, std::vector<std::string> Owner::*member) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  flag.set = [member](Flags& flags, const config::Yaml& node) { member_of(flags, member).push_back(text_of(node)); };
  return std::move(flag).repeatable();
}

template <typename Owner>
FlagInfo boolean_flag(const char* name, const char* help, bool Owner::*member) {
  FlagInfo flag{.name = name, .value = "BOOL", .help = help, .fallback = default_of(member) ? "true" : "false"};
  flag.boolean = true;
  flag.set = [member](Flags& flags, const config::Yaml& node) { member_of(flags, member) = boolean_of(node); };
  return flag;
}

/// A whole number (`low` and `high` are int64_t) or a floating-point one (double). The member may be optional.
template <typename Number, typename Owner, typename Member>
FlagInfo number_flag(const char* name, const char* value, Number low, Number high, const char* help,
                     Member Owner::*member) {
  FlagInfo flag{.name = name, .value = value, .help = help, .range = fmt::format("{} to {}", low, high)};
  if constexpr (std::is_arithmetic_v<Member>) flag.fallback = fmt::format("{}", default_of(member));
  flag.set = [member, low, high](Flags& flags, const config::Yaml& node) {
    Number number{};
    if constexpr (std::is_integral_v<Number>)
      number = integer_of(node, low, high);
    else
      number = number_of(node, low, high);
    if constexpr (std::is_arithmetic_v<Member>)
      member_of(flags, member) = static_cast<Member>(number);
    else
      member_of(flags, member) = static_cast<typename Member::value_type>(number);
  };
  return flag;
}

/// One word of a fixed list.
template <typename Owner, typename T>
FlagInfo word_flag(const char* name, const config::Words<T>& words, const char* help, T Owner::*member) {
  FlagInfo flag{.name = name, .value = fmt::format("{}", fmt::join(config::spelt(words), "|")), .help = help};
  for (const auto& [word, meaning] : words)
    if (meaning == default_of(member)) flag.fallback = word;
  flag.set = [member, words](Flags& flags, const config::Yaml& node) {
    member_of(flags, member) = word_of(node, words);
  };
  return flag;
}

/// Splits a text at its commas; throws ConfigError when a part is empty.
std::vector<config::Yaml> split(const config::Yaml& value);

/// A list with commas that replaces an axis; `parse` reads one part.
template <typename Owner, typename T, typename Parse>
FlagInfo list_flag(const char* name, const char* value, const char* help, config::Choices<T> Owner::*member,
                   Parse parse, std::vector<config::Yaml> (*parts)(const config::Yaml&) = split) {
  FlagInfo flag{.name = name, .value = value, .help = help};
  flag.set = [member, parse, parts](Flags& flags, const config::Yaml& node) {
    auto& list = member_of(flags, member);
    list.clear();
    for (const auto& part : parts(node)) list.push_back({parse(part), part});
  };
  return flag;
}

constexpr double no_limit = 1e9;

// Parts of flag_table().
std::vector<FlagInfo> selection_flags();
std::vector<FlagInfo> model_suite_flags();

}  // namespace torchstone::flags
