#include "reports/results_folder/empty_results.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <climits>

#include "reports/base/files.h"
#include "reports/results_folder/own_names.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

constexpr const char* list_name = "written.txt";

fs::path list_in(const fs::path& folder) { return folder / "runs" / list_name; }

/// Whether empty_results() removes a file without being told of it.
bool is_known_name(const std::string& name) {
  const fs::path path(name);
  const std::string folder = path.parent_path().string();
  return folder.empty() ? is_own_report(name)
                        : std::ranges::find(own_folders(), folder) != own_folders().end() && has_own_name(folder, name);
}

/// Whether a way to a file leads through real folders alone.
bool is_reached_without_links(const fs::path& folder, const fs::path& name) {
  for (fs::path path = name.parent_path(); !path.empty(); path = path.parent_path())
    if (!fs::is_directory(fs::symlink_status(folder / path))) return false;
  return true;
}

/// With the folders that it leaves empty. A folder is not a file that was written.
void remove_file(const fs::path& folder, const std::string& name) {
  if (!is_reached_without_links(folder, name) || fs::is_directory(fs::symlink_status(folder / name))) return;
  std::error_code ignored;
  for (fs::path path = name; !path.empty() && fs::remove(folder / path, ignored);) path = path.parent_path();
}

/// Whether the path leads to one of these files.
bool is_one_of(const std::vector<fs::path>& files, const fs::path& path) {
  return std::ranges::any_of(files, [&](const fs::path& file) {
    std::error_code neither_exists;
    return fs::equivalent(file, path, neither_exists);
  });
}

/// What is Torchstone's in one of own_folders(), and the folder where nothing is left in it.
void empty_own_folder(const fs::path& folder, const std::string& name, const std::vector<fs::path>& kept) {
  const fs::path path = folder / name;
  const fs::file_status status = fs::symlink_status(path);
  if (fs::is_symlink(status)) fs::remove(path);
  if (!fs::is_directory(status)) return;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path))
    if (is_own_entry(name, entry.path()) && !is_one_of(kept, entry.path())) found.push_back(entry.path());
  for (const auto& file : found) fs::remove(file);
  if (fs::is_empty(path)) fs::remove(path);
}

}  // namespace

bool is_report_name(const std::string& name) {
  const fs::path path(name);
  const auto fits = [](const fs::path& part) { return part.native().size() <= NAME_MAX; };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (!path.is_relative() || !path.has_filename() || path.lexically_normal() != path) return false;
  const std::string first = path.begin()->string();  // of a normal path only the first part can be ".."
  return first.front() != '.' && first != "cases" && first != "runs" && std::ranges::all_of(path, fits) &&
         std::ranges::none_of(name, is_control);
}

std::set<std::string> written_in(const fs::path& folder) {
  std::set<std::string> names;
  std::ifstream list(list_in(folder));
  for (std::string name; std::getline(list, name);)
    if (is_report_name(name)) names.insert(name);
  return names;
}

void note_written(const fs::path& folder, const std::vector<std::string>& names) {
  auto listed = written_in(folder);
  const size_t before = listed.size();
  for (const auto& name : names)
    if (!is_known_name(name)) listed.insert(name);
  if (listed.size() == before) return;
  std::string text;
  for (const auto& name : listed) text += name + "\n";
  write_atomically(list_in(folder), text);
}

void empty_results(const fs::path& folder, const std::vector<fs::path>& kept) {
  for (const auto& name : written_in(folder))
    if (!is_one_of(kept, folder / name)) remove_file(folder, name);
  std::vector<fs::path> reports;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.symlink_status().type() != fs::file_type::directory && is_own_report(entry.path().filename().string()) &&
        !is_one_of(kept, entry.path()))
      reports.push_back(entry.path());
  for (const auto& path : reports) fs::remove(path);
  for (const auto& name : own_folders()) empty_own_folder(folder, name, kept);
}

}  // namespace torchstone::results_folder
