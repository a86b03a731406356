#include "reports/results_folder/marker.h"

#include <algorithm>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/results_folder/empty_results.h"
#include "reports/results_folder/hold.h"
#include "reports/results_folder/own_names.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

constexpr int marker_format = 1;
constexpr const char* first_words = "torchstone results folder, format ";

constexpr const char *id_key = "id: ", *runs_key = "runs: ";

std::string first_line() { return fmt::format("{}{}", first_words, marker_format); }

void write_marker(const fs::path& folder, const std::string& id, int64_t runs) {
  write_atomically(folder / marker_name,
                   fmt::format("{}\n{}{}\n{}{}\nFiles here that Torchstone wrote are removed when "
                               "the next run begins.\n",
                               first_line(), id_key, id, runs_key, runs));
}

/// 0 for what is no number of runs.
int64_t count_in(const std::string& text) {
  constexpr double most = 1e15;
  const auto number = parse_number(text);
  return number && *number >= 0 && *number <= most ? static_cast<int64_t>(*number) : 0;
}

std::string new_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// What an unmarked folder holds.
struct Content {
  std::vector<std::string> foreign;  ///< relative to the folder
  size_t files = 0, records = 0;     ///< of Torchstone
};

Content content_of(const fs::path& folder) {
  Content content;
  const auto listed = written_in(folder);
  const auto add = [&](const fs::path& entry, bool own) {
    const std::string name = entry.lexically_relative(folder).string();
    if (!own && !listed.contains(name)) return content.foreign.push_back(name);
    ++content.files;
    if (is_record(entry)) ++content.records;
  };
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(holder_prefix)) continue;
    const bool is_folder = entry.symlink_status().type() == fs::file_type::directory;
    if (is_folder && std::ranges::find(own_folders(), name) != own_folders().end()) {
      for (const auto& inner : fs::directory_iterator(entry)) add(inner.path(), is_own_entry(name, inner.path()));
    } else {
      add(entry.path(), !is_folder && !entry.is_symlink() && is_own_report(name));
    }
  }
  std::ranges::sort(content.foreign);
  return content;
}

[[noreturn]] void refuse(const fs::path& folder, const std::vector<std::string>& found) {
  constexpr size_t most = 3;
  std::vector<std::string> named;
  for (const auto& name : found)
    if (named.size() < most) named.push_back(shortened(printable(name), 100));
  const std::string more = found.size() > most ? fmt::format(" and {} more", found.size() - most) : "";
  throw FolderRefused(fmt::format(
      "{0}: not a results folder: it holds what Torchstone did not write ({1}{2}), and a run removes the results "
      "of the run before it.\nChoose an empty or a new folder (--torchstone_out), or say that this one is for "
      "results:\n"
      "  echo '{3}' > '{4}'",
      folder.string(), fmt::join(named, ", "), more, first_line(), (folder / marker_name).string()));
}

/// Whether there is a marker. Throws FolderRefused for another format.
bool has_marker(const fs::path& folder) {
  const fs::path path = folder / marker_name;
  const auto line = first_line_of(path);
  if (!line || !line->starts_with(first_words)) return false;
  if (*line == first_line()) return true;
  throw FolderRefused(
      fmt::format("{}: expected \"{}\", found \"{}\", of another version of Torchstone.\nChoose "
                  "another folder (--torchstone_out).",
                  path.string(), first_line(), shortened(printable(*line), 100)));
}

}  // namespace

void require_results_folder(const fs::path& folder) {
  if (has_marker(folder)) return;
  const Content content = content_of(folder);
  std::vector<std::string> found = content.foreign;
  if (found.empty() && content.files > 0 && content.records == 0) found = {"reports or logs, but no record of a case"};
  if (!found.empty()) refuse(folder, found);
  write_marker(folder, new_id(), 0);
}

Origin begin_run_in(const fs::path& folder, const std::string& run) {
  Origin origin;
  origin.run = run;
  std::ifstream file(folder / marker_name);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(id_key)) origin.folder = line.substr(std::string_view(id_key).size());
    if (line.starts_with(runs_key)) origin.number = count_in(line.substr(std::string_view(runs_key).size()));
  }
  if (origin.folder.empty()) origin.folder = new_id();  // made by hand
  ++origin.number;
  write_marker(folder, origin.folder, origin.number);
  return origin;
}

}  // namespace torchstone::results_folder
