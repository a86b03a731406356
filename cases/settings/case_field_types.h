#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/settings/case_fields.h"
#include "cases/settings/yaml.h"

// Makers of the entries of case_fields(), one for each type of a member.

namespace torchstone::config {

struct Range {
  double low, high;
};

/// The value that a case has unless something decides, for people.
inline std::string default_of(const CaseField& field) {
  const auto value = field.get(Case{});
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

inline CaseField with_default(CaseField field) {
  field.fallback = default_of(field);
  return field;
}

template <typename T>
struct ValueOf {
  using type = T;
};
template <typename T>
struct ValueOf<std::optional<T>> {
  using type = T;
};

/// A whole or a floating-point number, which may be absent.
template <typename Member>
CaseField number(const char* name, Member Case::*member, Range range, const char* help) {
  using T = typename ValueOf<Member>::type;
  constexpr bool whole = std::is_integral_v<T>;
  CaseField field{.name = name, .help = help, .value = whole ? "N" : "X"};
  field.key = name;
  field.range = whole ? fmt::format("{} to {}", static_cast<int64_t>(range.low), static_cast<int64_t>(range.high))
                      : fmt::format("{} to {}", range.low, range.high);
  field.set = [member, range](Case& c, const Yaml& value) {
    if constexpr (whole)
      c.*member = static_cast<T>(integer_of(value, static_cast<int64_t>(range.low), static_cast<int64_t>(range.high)));
    else
      c.*member = number_of(value, range.low, range.high);
  };
  field.get = [member](const Case& c) -> nlohmann::ordered_json {
    if constexpr (std::is_same_v<Member, T>)
      return c.*member;
    else
      return c.*member ? nlohmann::ordered_json(*(c.*member)) : nlohmann::ordered_json(nullptr);
  };
  return with_default(std::move(field));
}

inline CaseField boolean(const char* name, bool Case::*member, const char* help) {
  CaseField field{.name = name, .help = help, .value = "BOOL"};
  field.key = name;
  field.boolean = true;
  field.set = [member](Case& c, const Yaml& value) { c.*member = boolean_of(value); };
  field.get = [member](const Case& c) { return c.*member; };
  return with_default(std::move(field));
}

/// A word of an enum that has a to_string.
template <typename Enum>
CaseField word(const char* name, Enum Case::*member, const std::vector<Enum>& choices, const char* help) {
  const auto words = words_for(choices);
  CaseField field{.name = name, .help = help, .value = fmt::format("{}", fmt::join(spelt(words), "|"))};
  field.key = name;
  field.set = [member, words](Case& c, const Yaml& value) { c.*member = word_of(value, words); };
  field.get = [member](const Case& c) { return to_string(c.*member); };
  return with_default(std::move(field));
}

/// A member that an axis of a row or a policy decides; `get` as JSON, as --torchstone_explain shows it.
template <typename Get>
CaseField decided_elsewhere(const char* name, const Get& get, const char* help, const char* by) {
  CaseField field{.name = name, .help = help, .fallback = by};
  field.get = [get](const Case& c) { return nlohmann::ordered_json(get(c)); };
  return field;
}

}  // namespace torchstone::config
