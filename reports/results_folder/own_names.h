#pragma once
#include <filesystem>
#include <string>
#include <vector>

// Which files of a results folder are Torchstone's. Only such files are ever removed from it.
namespace torchstone::results_folder {

/// The folders that a run makes in its results folder: cases, runs, logs, csv, samples, traces, memory, coverage,
/// layers, conv_args.
const std::vector<std::string>& own_folders();

/// Whether a file directly in the results folder has a name that Torchstone gives: a report, or a file written aside.
bool is_own_report(const std::string& name);
/// Whether a file in one of own_folders() has a name that Torchstone gives there.
bool has_own_name(const std::string& folder, const std::string& name);
/// Whether an entry of one of own_folders() is Torchstone's: a file or a link of such a name. In cases/ and runs/ any
/// other JSON file that holds a record counts too.
bool is_own_entry(const std::string& folder, const std::filesystem::path& entry);

/// Whether this is a record of any version: results.json, a file of cases/ or of runs/.
bool is_record(const std::filesystem::path& file);

}  // namespace torchstone::results_folder
