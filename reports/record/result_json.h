#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
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

// Reading JSON: each throws std::invalid_argument "path: expected …, found …".

nlohmann::json number_to_json(double value);
double number_of(const nlohmann::json& json, const std::string& path);
int64_t integer_of(const nlohmann::json& json, const std::string& path);
std::string text_of(const nlohmann::json& json, const std::string& path);
/// The member `key` of an object; null when it is absent.
const nlohmann::json& member_of(const nlohmann::json& json, const std::string& key, const std::string& path);
/// The json itself, when it is an object.
const nlohmann::json& object_of(const nlohmann::json& json, const std::string& path);
std::vector<double> numbers_of(const nlohmann::json& json, const std::string& path);
/// Absent is empty.
std::vector<std::string> texts_of(const nlohmann::json& json, const std::string& path);
nlohmann::json texts_to_json(const std::vector<std::string>& texts);
std::map<std::string, std::string> text_map_of(const nlohmann::json& json, const std::string& path);
nlohmann::json text_map_to_json(const std::map<std::string, std::string>& map);

/// Writes the members of diagnosis.json (docs/diagnosis.md), `files` and `faults`. Unknown values are absent. Numbers
/// that are not finite are strings, as in the rest of results.json.
void to_json(nlohmann::json& json, const GuiltyPart& guilty);
void to_json(nlohmann::json& json, const DiagnosedReproducer& reproducer);
void to_json(nlohmann::json& json, const Diagnosis& diagnosis);

/// Reads the form of to_json() and that of diagnosis.json. Absent members are empty, unknown ones are ignored. Throws
/// std::invalid_argument "PATH.part[2].value: expected …, found …".
Diagnosis diagnosis_of(const nlohmann::json& json, const std::string& path);

/// Returns the notes as results.json has them: those of the outcome, and members that version 2 keeps as notes
/// (`operator`, `noisy`, `diagnosis`, `diagnosis_outcome`, `diagnosis_folder`).
std::map<std::string, std::string> recorded_notes(const Outcome& outcome);

/// NaN and infinities are the strings "NaN", "Infinity", "-Infinity"; text becomes valid UTF-8. Reading throws
/// std::invalid_argument with the path of the member and what was expected ("outcome.status: …").
void to_json(nlohmann::json& json, const Outcome& outcome);
void from_json(const nlohmann::json& json, Outcome& outcome);
void to_json(nlohmann::json& json, const Result& result);
void from_json(const nlohmann::json& json, Result& result);

}  // namespace torchstone
