#include "reports/record/results_folder/ownership.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <random>
#include <set>
#include <string_view>

#include <climits>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/folder_lock.h"

namespace torchstone::results_folder {

namespace fs = std::filesystem;
namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// Whether a file name could come from case_file_name().
bool is_encoded(std::string_view stem) {
  const auto fits = [](char c) { return is_plain(c) || c == '.' || c == '+' || c == '%'; };
  return !stem.empty() && stem.front() != '.' && std::ranges::all_of(stem, fits);
}

/// Whether this is SUITE/Check.Claim/PARAMETERS as a file name. Long names are cut in PARAMETERS.
bool is_of_a_case(std::string_view stem) {
  const auto dot = stem.find('.');
  return is_encoded(stem) && dot != std::string_view::npos && stem.rfind('+', dot) != std::string_view::npos &&
         stem.find('+', dot) != std::string_view::npos;
}

/// Whether this is a run's id, its start and process: 2026-01-31T12%3A00%3A00.000Z-1a2b.
bool is_of_a_run(std::string_view stem) {
  return is_encoded(stem) && stem.find('T') == 10 && stem.find("%3A") == 13 &&
         stem.find("Z-") != std::string_view::npos;
}

/// Whether this is a log of a case, SUITE.Check.Claim.PARAMETERS, or of compiling.
bool is_of_a_log(std::string_view stem) {
  static constexpr std::array<std::string_view, 3> of_compiling = {"ahead", "capture", "compile"};
  return std::ranges::find(of_compiling, stem) != of_compiling.end() ||
         (is_encoded(stem) && std::ranges::count(stem, '.') >= 3);
}

/// Whether this is a table: BACKEND_SUITE_DTYPE_MODE_DEVICE_CHECK, or operatorbench_SUITE_DTYPE.
bool is_of_a_table(std::string_view stem) {
  return is_encoded(stem) && (std::ranges::count(stem, '_') >= 5 || stem.starts_with("operatorbench_"));
}

/// Whether this is .PROCESS.NUMBER.tmp of write_atomically(), left by a run that was killed.
bool is_written_aside(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".tmp")) return false;
  const std::string_view numbers = name.substr(1, name.size() - 5);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::count(numbers, '.') == 1 &&
         std::ranges::all_of(numbers, [&](char c) { return is_digit(c) || c == '.'; });
}

/// Whether a file directly in the results folder has a name that Torchstone gives: a report or a temporary file.
bool is_own_report(const std::string& name) {
  static constexpr std::array<std::string_view, 10> reports = {
      "results.json", "report.html",  "junit.xml",     "results.csv",      "summary.csv",
      "summary.txt",  "fastrnns.txt", "fastrnns.json", "fastrnns_pep.txt", "batch_sizes.txt"};
  return is_written_aside(name) || std::ranges::find(reports, name) != reports.end();
}

/// Whether this is a record of any version: results.json, a file of cases/ or of runs/.
bool is_record(const fs::path& file) {
  if (!fs::is_regular_file(fs::symlink_status(file))) return false;
  // The schema is the first member of a report and the last one of a case.
  constexpr std::streamoff length = 80;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, length> part{};
  const auto has_schema = [&] {
    stream.read(part.data(), length);
    const std::string_view text(part.data(), static_cast<size_t>(stream.gcount()));
    stream.clear();
    return text.find("\"torchstone/result/") != std::string_view::npos ||
           text.find("\"torchstone/case/") != std::string_view::npos;
  };
  if (has_schema()) return true;
  stream.seekg(0, std::ios::end);
  stream.seekg(std::max<std::streamoff>(0, stream.tellg() - length));
  return has_schema();
}

/// Whether an entry of one of own_folders() is Torchstone's: a file or link with such a name. In cases/ and runs/ any
/// other JSON file that holds a record counts too.
bool is_own_entry(const std::string& folder, const fs::path& entry) {
  const fs::file_status status = fs::symlink_status(entry);
  if (!fs::is_regular_file(status) && !fs::is_symlink(status)) return false;
  const bool may_hold_a_record = (folder == "cases" || folder == "runs") && entry.extension() == ".json";
  return has_own_name(folder, entry.filename().string()) || (may_hold_a_record && is_record(entry));
}

constexpr const char* list_name = "written.txt";

fs::path list_in(const fs::path& folder) { return folder / "runs" / list_name; }

/// Returns the names that note_written() stored.
std::set<std::string> written_in(const fs::path& folder) {
  std::set<std::string> names;
  std::ifstream list(list_in(folder));
  for (std::string name; std::getline(list, name);)
    if (is_report_name(name)) names.insert(name);
  return names;
}

/// Whether empty_results() removes a file by its name, without an entry in the list of written reports.
bool is_known_name(const std::string& name) {
  const fs::path path(name);
  const std::string folder = path.parent_path().string();
  return folder.empty() ? is_own_report(name)
                        : std::ranges::find(own_folders(), folder) != own_folders().end() && has_own_name(folder, name);
}

/// Whether the path to a file has only real folders, no symbolic links.
bool is_reached_without_links(const fs::path& folder, const fs::path& name) {
  for (fs::path path = name.parent_path(); !path.empty(); path = path.parent_path())
    if (!fs::is_directory(fs::symlink_status(folder / path))) return false;
  return true;
}

/// Removes a file and the folders that become empty. Does nothing for a folder.
void remove_file(const fs::path& folder, const std::string& name) {
  if (!is_reached_without_links(folder, name) || fs::is_directory(fs::symlink_status(folder / name))) return;
  std::error_code ignored;
  for (fs::path path = name; !path.empty() && fs::remove(folder / path, ignored);) path = path.parent_path();
}

/// Whether the path names one of these files, possibly in another form.
bool is_one_of(const std::vector<fs::path>& files, const fs::path& path) {
  return std::ranges::any_of(files, [&](const fs::path& file) {
    std::error_code neither_exists;
    return fs::equivalent(file, path, neither_exists);
  });
}

/// Removes Torchstone's entries of one of own_folders(), and the folder if it is empty then.
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

/// Returns the number of runs in the text; 0 if it has none.
int64_t count_in(const std::string& text) {
  constexpr double most = 1e15;
  const auto number = parse_number(text);
  return number && *number >= 0 && *number <= most ? static_cast<int64_t>(*number) : 0;
}

std::string new_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

/// The contents of a folder without a marker.
struct Content {
  std::vector<std::string> foreign;  ///< relative to the folder
  size_t files = 0, records = 0;     ///< Torchstone's files, and records among them
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
  const auto line = read_first_line(path);
  if (!line || !line->starts_with(first_words)) return false;
  if (*line == first_line()) return true;
  throw FolderRefused(
      fmt::format("{}: expected \"{}\", found \"{}\", of another version of Torchstone.\nChoose "
                  "another folder (--torchstone_out).",
                  path.string(), first_line(), shortened(printable(*line), 100)));
}

}  // namespace

const std::vector<std::string>& own_folders() {
  static const std::vector<std::string> folders = {"cases",  "runs",   "logs",     "csv",    "samples",
                                                   "traces", "memory", "coverage", "layers", "conv_args"};
  return folders;
}

bool has_own_name(const std::string& folder, const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  const std::string stem = fs::path(name).stem().string(), extension = fs::path(name).extension().string();
  if (is_written_aside(name)) return true;
  if (folder == "cases") return name == ".writable" || (extension == ".json" && is_of_a_case(stem));
  if (folder == "runs") return name == "written.txt" || (extension == ".json" && is_of_a_run(stem));
  if (folder == "logs") return extension == ".log" && is_of_a_log(stem);
  if (folder == "csv") return extension == ".csv" && is_of_a_table(stem);
  if (folder == "coverage" || folder == "layers") return extension == ".csv" && is_of_a_case(stem);
  if (folder == "memory" && extension == ".pickle") return is_of_a_case(stem);
  return extension == (folder == "samples" ? ".npy" : ".json") && is_of_a_case(stem);
}

bool is_report_name(const std::string& name) {
  const fs::path path(name);
  const auto fits = [](const fs::path& part) { return part.native().size() <= NAME_MAX; };
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' '; };
  if (!path.is_relative() || !path.has_filename() || path.lexically_normal() != path) return false;
  const std::string first = path.begin()->string();  // in a normal path only the first part can be ".."
  return first.front() != '.' && first != "cases" && first != "runs" && std::ranges::all_of(path, fits) &&
         std::ranges::none_of(name, is_control);
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
  if (origin.folder.empty()) origin.folder = new_id();  // a marker made by hand has no id
  ++origin.number;
  write_marker(folder, origin.folder, origin.number);
  return origin;
}

}  // namespace torchstone::results_folder
