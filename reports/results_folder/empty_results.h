#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace torchstone::results_folder {

/// Whether a file name, relative to the results folder, stays inside it and names a file.
bool is_inside(const std::string& name);

/// Keeps the names of the report files that were written, relative to the folder, for empty_results().
void note_written(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Removes what earlier runs wrote into a results folder, and nothing else. For the process that holds it.
void empty_results(const std::filesystem::path& folder);

}  // namespace torchstone::results_folder
