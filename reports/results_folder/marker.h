#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>

#include <torchstone/result.h>

namespace torchstone::results_folder {

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
