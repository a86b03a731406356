#include "reports/results_folder/empty_results.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "reports/base/files.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

/// What the program itself and its writers leave. Files of other writers are listed where they are written.
bool is_of_a_run(const std::string& name) {
  static constexpr std::array names = {"cases",          "runs",         "logs",          "csv",
                                       "samples",        "traces",       "memory",        "results.json",
                                       "report.html",    "junit.xml",    "results.csv",   "summary.csv",
                                       "summary.txt",    "fastrnns.txt", "fastrnns.json", "fastrnns_pep.txt",
                                       "batch_sizes.txt"};
  const bool written_aside = name.starts_with('.') && name.ends_with(".tmp");  // by a run that was killed
  return written_aside || std::ranges::find(names, name) != names.end();
}

fs::path list_in(const fs::path& folder) { return folder / "runs" / "written.txt"; }

std::set<std::string> written_in(const fs::path& folder) {
  std::set<std::string> names;
  std::ifstream list(list_in(folder));
  for (std::string name; std::getline(list, name);)
    if (is_inside(name)) names.insert(name);
  return names;
}

/// With the folders that it leaves empty.
void remove_file(const fs::path& folder, const std::string& name) {
  std::error_code ignored;
  for (fs::path path = name; !path.empty() && fs::remove(folder / path, ignored);) path = path.parent_path();
}

}  // namespace

bool is_inside(const std::string& name) {
  const fs::path path(name);
  return path.is_relative() && path.has_filename() && path.lexically_normal() == path && *path.begin() != ".." &&
         name.find('\n') == std::string::npos;
}

void note_written(const fs::path& folder, const std::vector<std::string>& names) {
  auto listed = written_in(folder);
  const size_t before = listed.size();
  for (const auto& name : names)
    if (!is_of_a_run(fs::path(name).begin()->string())) listed.insert(name);
  if (listed.size() == before) return;
  std::string text;
  for (const auto& name : listed) text += name + "\n";
  write_atomically(list_in(folder), text);
}

void empty_results(const fs::path& folder) {
  for (const auto& name : written_in(folder)) remove_file(folder, name);
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (is_of_a_run(entry.path().filename().string())) found.push_back(entry.path());
  for (const auto& path : found) fs::remove_all(path);
}

}  // namespace torchstone::results_folder
