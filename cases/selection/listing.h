#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cases/selection/expand.h"

namespace torchstone::listing {

/// Returns the fields of a case that its explanation shows, with their values; absent values are null.
std::vector<std::pair<std::string, nlohmann::ordered_json>> fields_of(const Case& c);

/// Counts the parameters of the mini preset. The program provides it, because building a model needs torch. May be
/// empty.
using ParameterCount = std::function<int64_t(const ModelInfo&)>;

/// Returns the text of --torchstone_list. Throws ConfigError for a format that the list does not have.
std::string listing(const flags::Flags& flags, const std::vector<suite::Suite>& suites,
                    const selection::Expansion& expansion, const selection::Known& known,
                    const ParameterCount& mini_parameters);

/// Returns the text of --torchstone_explain: each field of the cases whose name matches the glob, with the line that
/// decided it. Throws NothingSelected when none matches.
std::string explanation(const std::vector<Case>& cases, const std::string& glob);

/// Returns docs/flags.md: all flags, the fields of a case with their keys, and the keys of policies.
std::string reference_page();

/// Returns a script for CTest's TEST_INCLUDE_FILES: one test for each case, by its GoogleTest name, with labels and
/// limits.
std::string ctest_script(const std::vector<Case>& cases, const flags::Flags& flags, const selection::Known& known);

/// A list.
struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<nlohmann::ordered_json>> rows;
};
/// Aligns the columns.
std::string to_text(const Table& table);
/// Makes an array of objects.
nlohmann::ordered_json to_json(const Table& table);

}  // namespace torchstone::listing
