#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace torchstone::results_folder {

/// Whether a report may have this name, relative to the results folder: it stays inside and is no name of what is kept
/// there beside reports (records, the marker).
bool is_report_name(const std::string& name);

/// Keeps the names of the report files that were written, relative to the folder, for empty_results().
void note_written(const std::filesystem::path& folder, const std::vector<std::string>& names);
/// The names that were kept.
std::set<std::string> written_in(const std::filesystem::path& folder);

// For the process that holds a folder which require_results_folder() has seen. What has no name of Torchstone's stays,
// and a symbolic link is removed as a link: nothing outside of the folder is touched.

/// Removes what earlier runs wrote, but for the files `kept`.
void empty_results(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& kept = {});

}  // namespace torchstone::results_folder
