#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cases/main/session.h"
#include "fixtures/checks/outputs.h"
#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/record/results_folder/folder_lock.h"
#include "reports/record/results_folder/ownership.h"

namespace torchstone {

namespace fs = std::filesystem;

namespace {

/// Returns the files that flags name, because every process of the run reads them. Excludes the baseline, which has
/// been read already.
std::vector<fs::path> named_files(const flags::Flags& flags) {
  std::vector<fs::path> files;
  for (const auto& [name, value] : flags.given)
    if (name != "baseline" && fs::path(value).is_absolute()) files.emplace_back(value);
  return files;
}

}  // namespace

Origin prepare_results(const flags::Flags& flags, const std::string& run) try {
  const fs::path out = flags.run.out;
  const auto empty = [&] {
    results_folder::require_results_folder(out);
    if (flags.report) results_folder::empty_results(out, named_files(flags));
  };
  Origin origin;
  // Static, so that std::exit destroys it too when a run is interrupted.
  static const results_folder::Hold hold(
      out, this_process(flags.report ? results_folder::Holder::Kind::run : results_folder::Holder::Kind::part), empty,
      [&] { origin = results_folder::begin_run_in(out, run); });
  fs::create_directories(out / "cases");
  fs::create_directories(out / "logs");
  write_atomically(out / "cases" / ".writable", "");  // fails now instead of after the first case
  fs::remove(out / "cases" / ".writable");
  return origin;
} catch (const std::system_error& error) {
  throw std::runtime_error(fmt::format("{}: the results folder cannot be used: {} (choose another by --torchstone_out)",
                                       flags.run.out, error.code().message()));
}

namespace {

constexpr const char *outputs_marker = ".torchstone_outputs", *outputs_line = "torchstone outputs folder, format 1";

bool is_marked(const fs::path& folder) {
  const fs::path path = folder / outputs_marker;
  const auto line = read_first_line(path);
  if (!line) return false;
  if (*line == outputs_line) return true;
  throw std::runtime_error(
      fmt::format("{}: expected \"{}\", found \"{}\"", path.string(), outputs_line, shortened(printable(*line), 100)));
}

/// Returns the name of the first foreign file. A temporary file is not foreign: another process may be writing its
/// marker.
std::string foreign_in(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name == outputs_marker || (name.starts_with('.') && name.ends_with(".tmp"));
    if (!ours) return name;
  }
  return "";
}

void prepare_to_save(const fs::path& folder) {
  fs::create_directories(folder);
  if (is_marked(folder)) return;
  const std::string foreign = foreign_in(folder);
  if (!foreign.empty() && !is_marked(folder))
    throw std::runtime_error(
        fmt::format("flag --torchstone_save_outputs: {}: not a folder of saved outputs: it holds what Torchstone did "
                    "not write ({}) "
                    "(expected a new or an empty folder, or one that saved outputs before)",
                    folder.string(), shortened(printable(foreign), 100)));
  write_atomically(folder / outputs_marker, fmt::format("{}\n", outputs_line));
}

void prepare_to_compare(const fs::path& folder) {
  if (fs::is_directory(folder) && is_marked(folder)) return;
  throw std::runtime_error(
      fmt::format("flag --torchstone_compare_outputs: {}: {} (expected a folder that --torchstone_save_outputs made)",
                  folder.string(), fs::exists(folder) ? "not a folder of saved outputs" : "no such folder"));
}

}  // namespace

void prepare_outputs(const flags::Flags& flags) try {
  const fs::path save = flags.run.save_outputs, compare = flags.run.compare_outputs;
  if (!save.empty()) prepare_to_save(save);
  if (!compare.empty()) prepare_to_compare(compare);
  if (!save.empty() && !compare.empty() && fs::equivalent(save, compare))
    throw std::runtime_error(
        fmt::format("flags --torchstone_save_outputs and --torchstone_compare_outputs: both are {} (expected two "
                    "folders: each case "
                    "would be compared with itself)",
                    save.string()));
} catch (const std::system_error& error) {
  throw std::runtime_error(fmt::format("{}{}: the folder of outputs cannot be used: {}", flags.run.save_outputs,
                                       flags.run.save_outputs.empty() ? flags.run.compare_outputs : "",
                                       error.code().message()));
}

void remove_saved_outputs(const flags::Flags& flags, const Case& c) {
  if (!flags.run.save_outputs.empty()) fs::remove(checks::outputs_path(flags.run.save_outputs, c));
}

}  // namespace torchstone
