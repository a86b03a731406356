#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <torchstone/result.h>

namespace torchstone {

/// A text member of Result under its names: `key` in JSON and CSV, `property` among a test's properties, where
/// GoogleTest reserves `name` and `file`.
struct TextField {
  std::string_view key, property;
  std::string Result::*member;
};
const std::vector<TextField>& text_fields();

/// A digest of the model under its name in JSON and among a test's properties.
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
std::map<std::string, std::string> text_map_of(const nlohmann::json& json, const std::string& path);
nlohmann::json text_map_to_json(const std::map<std::string, std::string>& map);

}  // namespace torchstone
