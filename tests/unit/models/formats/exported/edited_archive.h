#pragma once
#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace torchstone::formats::exported {

/// Returns the path of a committed archive in tests/oracles/exported, such as "torch213/two.pt2".
std::string exported_sample(const std::string& name);

using Records = std::map<std::string, std::string>;
/// Returns the records of an archive by their names relative to its top folder.
Records records_of(const std::string& path);
void write_archive(const std::string& path, const Records& records);

/// Changes the JSON of one record.
void edit_json(Records& records, const std::string& record, const std::function<void(nlohmann::json&)>& edit);

}  // namespace torchstone::formats::exported
