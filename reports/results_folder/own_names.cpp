#include "reports/results_folder/own_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

#include "reports/base/files.h"

namespace torchstone::results_folder {
namespace fs = std::filesystem;
namespace {

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; }

/// What case_file_name() makes.
bool is_encoded(std::string_view stem) {
  const auto fits = [](char c) { return is_plain(c) || c == '.' || c == '+' || c == '%'; };
  return !stem.empty() && stem.front() != '.' && std::ranges::all_of(stem, fits);
}

/// SUITE/Check.Claim/PARAMETERS as a file name. A long one is cut behind these.
bool is_of_a_case(std::string_view stem) {
  const auto dot = stem.find('.');
  return is_encoded(stem) && dot != std::string_view::npos && stem.rfind('+', dot) != std::string_view::npos &&
         stem.find('+', dot) != std::string_view::npos;
}

/// The start of a run and its process: 2026-01-31T12%3A00%3A00.000Z-1a2b.
bool is_of_a_run(std::string_view stem) {
  return is_encoded(stem) && stem.find("T") == 10 && stem.find("%3A") == 13 &&
         stem.find("Z-") != std::string_view::npos;
}

/// The output of a case, SUITE.Check.Claim.PARAMETERS, or of compiling.
bool is_of_a_log(std::string_view stem) {
  static constexpr std::array<std::string_view, 3> of_compiling = {"ahead", "capture", "compile"};
  return std::ranges::find(of_compiling, stem) != of_compiling.end() ||
         (is_encoded(stem) && std::ranges::count(stem, '.') >= 3);
}

/// BACKEND_SUITE_DTYPE_MODE_DEVICE_CHECK, or operatorbench_SUITE_DTYPE.
bool is_of_a_table(std::string_view stem) {
  return is_encoded(stem) && (std::ranges::count(stem, '_') >= 5 || stem.starts_with("operatorbench_"));
}

/// .PROCESS.NUMBER.tmp of write_atomically(), left by a run that was killed.
bool is_written_aside(std::string_view name) {
  if (!name.starts_with('.') || !name.ends_with(".tmp")) return false;
  const std::string_view numbers = name.substr(1, name.size() - 5);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::ranges::count(numbers, '.') == 1 &&
         std::ranges::all_of(numbers, [&](char c) { return is_digit(c) || c == '.'; });
}

}  // namespace

const std::vector<std::string>& own_folders() {
  static const std::vector<std::string> folders = {"cases",  "runs",   "logs",     "csv",    "samples",
                                                   "traces", "memory", "coverage", "layers", "conv_args"};
  return folders;
}

bool is_own_report(const std::string& name) {
  static constexpr std::array<std::string_view, 10> reports = {
      "results.json", "report.html",  "junit.xml",     "results.csv",      "summary.csv",
      "summary.txt",  "fastrnns.txt", "fastrnns.json", "fastrnns_pep.txt", "batch_sizes.txt"};
  return is_written_aside(name) || std::ranges::find(reports, name) != reports.end();
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
  return extension == (folder == "samples" ? ".npy" : ".json") && is_of_a_case(stem);
}

bool is_own_entry(const std::string& folder, const fs::path& entry) {
  const fs::file_status status = fs::symlink_status(entry);
  if (!fs::is_regular_file(status) && !fs::is_symlink(status)) return false;
  const bool may_hold_a_record = (folder == "cases" || folder == "runs") && entry.extension() == ".json";
  return has_own_name(folder, entry.filename().string()) || (may_hold_a_record && is_record(entry));
}

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

}  // namespace torchstone::results_folder
