#pragma once
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <torchstone/result.h>

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

/// The file that makes a folder a results folder: its first line says what it is and in which format.
inline constexpr const char* marker_name = ".torchstone_results";

/// The folder is not one of results, or of a newer version of Torchstone; what() names it, what was found in it and
/// what to do.
struct FolderRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Sees to it that a folder has the marker, without which nothing is removed from it. An empty folder gets one, and so
/// does one that holds results of a version without markers and nothing else. Throws FolderRefused,
/// std::system_error, std::filesystem::filesystem_error.
void require_results_folder(const std::filesystem::path& folder);

/// Counts a run that begins in a folder with a marker: the origin of its plan. The marker holds the folder's id and the
/// number of runs; it gets an id when it has none. For one process at a time (Hold). Throws std::system_error.
Origin begin_run_in(const std::filesystem::path& folder, const std::string& run);

}  // namespace torchstone::results_folder
