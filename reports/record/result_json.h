#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <torchstone/diagnosis.h>
#include <torchstone/result.h>

namespace torchstone {

/// A text member of Result under its names: `key` in JSON and CSV, `property` in JUnit.
struct TextField {
  std::string_view key, property;
  std::string Result::*member;
};
const std::vector<TextField>& text_fields();

/// A digest of the model under its name in JSON and JUnit.
struct DigestField {
  std::string_view key;
  std::string ModelDigests::*member;
};
inline constexpr std::array<DigestField, 2> digest_fields = {
    {{"program_digest", &ModelDigests::program}, {"weights_digest", &ModelDigests::weights}}};

nlohmann::json number_to_json(double value);
nlohmann::json texts_to_json(const std::vector<std::string>& texts);
nlohmann::json text_map_to_json(const std::map<std::string, std::string>& map);

// Reading JSON: each throws std::invalid_argument "path: expected …, found …".

double number_of(const nlohmann::json& json, const std::string& path);
int64_t integer_of(const nlohmann::json& json, const std::string& path);
std::string text_of(const nlohmann::json& json, const std::string& path);
std::vector<double> numbers_of(const nlohmann::json& json, const std::string& path);
/// Returns an empty value for an absent member.
std::vector<std::string> texts_of(const nlohmann::json& json, const std::string& path);

/// The members of an object. An absent member is null. Read as a value, it is empty, 0 or false.
class Members {
 public:
  /// `path` names the object in messages, and `prefix` precedes the keys of its members there.
  Members(const nlohmann::json& object, const std::string& path, std::string prefix);
  Members(const nlohmann::json& object, const std::string& path) : Members(object, path, path + ".") {}

  const nlohmann::json& operator[](const std::string& key) const;
  std::string at(const std::string& key) const { return prefix_ + key; }
  bool absent(const std::string& key) const { return (*this)[key].is_null(); }

  /// Throws for an absent member.
  std::string required_text(const std::string& key) const { return text_of((*this)[key], at(key)); }
  std::string text(const std::string& key) const { return absent(key) ? "" : required_text(key); }
  int64_t integer(const std::string& key) const { return absent(key) ? 0 : integer_of((*this)[key], at(key)); }
  double number(const std::string& key) const { return absent(key) ? 0 : number_of((*this)[key], at(key)); }
  bool boolean(const std::string& key, bool otherwise = false) const;
  std::map<std::string, std::string> text_map(const std::string& key) const;
  Members object(const std::string& key) const { return {(*this)[key], at(key)}; }

  /// Returns the result of `read` for each member of an object and its path.
  template <typename Read>
  auto map(const std::string& key, Read read) const {
    std::map<std::string, decltype(read(nlohmann::json(), std::string()))> found;
    if (absent(key)) return found;
    const Members members = object(key);
    for (const auto& [name, value] : members.object_.items()) found[name] = read(value, members.at(name));
    return found;
  }
  /// Returns the same for each item of an array.
  template <typename Read>
  auto items(const std::string& key, Read read) const {
    std::vector<decltype(read(nlohmann::json(), std::string()))> found;
    for (const auto& item : array(key)) found.push_back(read(item, fmt::format("{}[{}]", at(key), found.size())));
    return found;
  }

 private:
  const nlohmann::json& array(const std::string& key) const;

  const nlohmann::json& object_;
  std::string prefix_;
};

/// Writes the members of diagnosis.json (docs/diagnosis.md), `files` and `faults`. Unknown values are absent. Numbers
/// that are not finite are strings, as in the rest of results.json.
void to_json(nlohmann::json& json, const GuiltyPart& guilty);
void to_json(nlohmann::json& json, const DiagnosedReproducer& reproducer);
void to_json(nlohmann::json& json, const Diagnosis& diagnosis);

/// Reads the form of to_json() and that of diagnosis.json. Absent members are empty, unknown ones are ignored. Throws
/// std::invalid_argument "PATH.part[2].value: expected …, found …".
Diagnosis diagnosis_of(const nlohmann::json& json, const std::string& path);

/// Writes the members of outcome.dynamo (docs/results_json.md).
void to_json(nlohmann::json& json, const DynamoFacts& facts);
/// Reads that form. Throws std::invalid_argument "PATH.graph_breaks[2].reason: expected …".
DynamoFacts dynamo_facts_of(const nlohmann::json& json, const std::string& path);

/// Returns the notes as they are in results.json: those of the outcome, and members that version 2 still stores as
/// notes
/// (`operator`, `noisy`, `diagnosis`, `diagnosis_outcome`, `diagnosis_folder`).
std::map<std::string, std::string> recorded_notes(const Outcome& outcome);

/// NaN and infinities are the strings "NaN", "Infinity", "-Infinity"; text becomes valid UTF-8. Reading throws
/// std::invalid_argument with the path of the member and what was expected ("outcome.status: …").
void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);
void to_json(nlohmann::json& json, const Result& result);
void from_json(const nlohmann::json& json, Result& result);

}  // namespace torchstone
