#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <torchstone/result.h>

// Which files of a results folder are Torchstone's. Only such files are ever removed from it.

namespace torchstone::results_folder {

/// The folders that a run makes in its results folder: cases, runs, logs, csv, samples, traces, memory, coverage,
/// layers, conv_args.
const std::vector<std::string>& own_folders();

/// Returns whether a file in one of own_folders() has a name that Torchstone gives there.
bool has_own_name(const std::string& folder, const std::string& name);

/// Returns whether a report may have this name, relative to the results folder. It must stay inside the folder and must
/// not be the name of a record or of the marker.
bool is_report_name(const std::string& name);

/// Stores the names of the written report files, relative to the folder, for empty_results().
void note_written(const std::filesystem::path& folder, const std::vector<std::string>& names);

/// Removes the files of earlier runs except those in `kept`. Call it only while holding a folder that
/// require_results_folder() accepted. Files with other names stay. Symbolic links are not followed, so nothing outside
/// the folder is touched.
void empty_results(const std::filesystem::path& folder, const std::vector<std::filesystem::path>& kept = {});

/// The marker that makes a folder a results folder. Its first line has this purpose and the format's version.
inline constexpr const char* marker_name = ".torchstone_results";

/// The folder is no results folder, or belongs to a newer version of Torchstone. what() names the folder, its contents
/// and the remedy.
struct FolderRefused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Makes sure that a folder has the marker. Nothing is ever removed from a folder without one. An empty folder gets the
/// marker, and so does a folder that holds only results of a version without markers. Throws FolderRefused,
/// std::system_error, std::filesystem::filesystem_error.
void require_results_folder(const std::filesystem::path& folder);

/// Counts a run that begins in a folder with a marker, and returns the origin of its plan. The marker holds the number
/// of runs and the folder's id, which is added if it is missing. Only one process at a time may call it (Hold). Throws
/// std::system_error.
Origin begin_run_in(const std::filesystem::path& folder, const std::string& run);

}  // namespace torchstone::results_folder
