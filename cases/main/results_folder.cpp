#include "cases/main/results_folder.h"

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "reports/base/files.h"
#include "reports/results_folder/empty_results.h"
#include "reports/results_folder/hold.h"
#include "reports/results_folder/marker.h"

namespace torchstone {
namespace fs = std::filesystem;

namespace {

/// The files that flags name: every process of the run reads them. Not the baseline, which was read before.
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
  // Static: an interrupted run ends by std::exit.
  static const results_folder::Hold hold(
      out, this_process(flags.report ? results_folder::Holder::Kind::run : results_folder::Holder::Kind::part), empty,
      [&] { origin = results_folder::begin_run_in(out, run); });
  fs::create_directories(out / "cases");
  fs::create_directories(out / "logs");
  write_atomically(out / "cases" / ".writable", "");  // said now, not after the first hour
  fs::remove(out / "cases" / ".writable");
  return origin;
} catch (const std::system_error& error) {
  throw std::runtime_error(fmt::format("{}: the results folder cannot be used: {} (choose another by --torchstone_out)",
                                       flags.run.out, error.code().message()));
}

}  // namespace torchstone
