#include "cases/main/named_model.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cases/main/exporter_source.h"
#include "cases/main/failed_model.h"
#include "cases/selection/expand.h"
#include "fixtures/compile/cache_folder.h"
#include "fixtures/compile/toolchain.h"
#include "fixtures/core/private_folders.h"
#include "fixtures/core/sha256.h"
#include "fixtures/core/subprocess.h"
#include "models/formats/model_file.h"
#include "reports/base/files.h"
#include "reports/base/terminal.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

/// Writes the exporter where only this user can write, and returns its script.
fs::path place_exporter(const fs::path& folder) {
  std::string all;
  const auto sources = exporter_sources();
  for (const auto& [name, text] : sources) all += name + "\n" + text;
  const fs::path place = folder / "exporter" / sha256(all).substr(0, 16);
  make_folder(place);
  require_private(place);
  for (const auto& [name, text] : sources) {
    if (read_file(place / name) != text) write_file(place / name, text);
  }
  return place / "torchstone_export.py";
}

Export export_now(const flags::Flags& flags, const fs::path& cache) {
  const std::string python = compile::default_python();
  if (!find_program(python))
    return {"", fmt::format("{}: no such Python interpreter (set --torchstone_python)", python)};
  const fs::path exported = cache / "exported";
  make_folder(exported);
  require_private(exported);
  std::vector<std::string> command = {python, place_exporter(cache).string(), "--cache", exported.string()};
  for (const auto& argument : exporter_arguments(flags)) command.push_back(argument);
  print_error(fmt::format("exporting {} with {}", flags.only, python));
  try {
    const Finished finished = run_program(command);
    return read_export(finished.status, finished.output, flags.run.compile_limit_s);
  } catch (const std::system_error& error) {
    return {"", fmt::format("{}: cannot be run: {}", python, error.code().message())};
  }
}

}  // namespace

bool is_named_model(const std::string& only) {
  const auto colon = only.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == only.size()) return false;
  const auto word = [](unsigned char c) { return std::islower(c) != 0 || c == '_'; };
  return std::all_of(only.begin(), only.begin() + static_cast<std::ptrdiff_t>(colon), word) &&
         !formats::is_model_file(only);
}

std::vector<std::string> exporter_arguments(const flags::Flags& flags) {
  std::vector<std::string> arguments = {flags.only, "--time-limit", fmt::format("{}", flags.run.compile_limit_s)};
  const auto add = [&](const char* name, const std::string& value) {
    arguments.insert(arguments.end(), {name, value});
  };
  if (flags.axes.presets.size() > 1)
    fail(flags.axes.presets[1].place, fmt::format("{} is exported in one preset (expected mini or full)", flags.only));
  for (const auto& preset : flags.axes.presets) add("--preset", preset.value == Preset::full ? "full" : "mini");
  const auto trains = [](const auto& mode) { return mode.value == Mode::training; };
  if (std::ranges::any_of(flags.axes.modes, trains))
    add("--mode", std::ranges::all_of(flags.axes.modes, trains) ? "train" : "both");
  for (const auto& [key, value] : flags.overrides)
    if (key == "batch_size") add("--batch-size", std::to_string(config::integer_of(value, 1, 1'000'000)));
  return arguments;
}

Export read_export(int status, const std::string& output, double limit_s) {
  if (status == 128 + SIGALRM)
    return {"", fmt::format("the export took longer than {} s (--torchstone_compile_limit)", limit_s)};
  if (const auto at = output.rfind("{\"file\": "); status == 0 && at != std::string::npos) {
    const auto answer = nlohmann::json::parse(output.substr(at, output.find('\n', at) - at), nullptr, false);
    const auto file = answer.is_object() ? answer.value("file", nlohmann::json("")) : nlohmann::json("");
    if (file.is_string() && file != "") return {file.get<std::string>(), ""};
  }
  const std::string mark = "torchstone-export: ";
  if (const auto at = output.rfind(mark); status != 0 && status < 128 && at != std::string::npos) {
    const auto end = output.find_last_not_of(" \n");
    return {"", output.substr(at + mark.size(), end + 1 - at - mark.size())};
  }
  const std::string how =
      status > 128 ? fmt::format("was ended by signal {}", status - 128) : fmt::format("ended with status {}", status);
  return {"", fmt::format("the exporter {}: {}", how,
                          output.substr(output.size() - std::min<size_t>(output.size(), 2000)))};
}

bool export_named_model(flags::Flags& flags) {
  const std::string source = flags.only;
  const fs::path cache = compile::cache_folder();
  // A case's own process comes here again: what failed is not tried again in this run.
  const std::string run = compile::run_id(), key = "export-" + sha256(source).substr(0, 16);
  Export done;
  if (const auto failed = compile::remembered_failure(cache, run, key)) {
    done.error = *failed;
  } else {
    done = export_now(flags, cache);
    if (done.file.empty()) compile::remember_failure(cache, run, key, done.error);
  }
  const std::string name = source.substr(source.find(':') + 1);
  flags.only =
      done.file.empty() ? (cache / "exported" / (formats::model_name_of(name + ".pt2") + ".pt2")).string() : done.file;
  if (!done.file.empty()) return false;
  register_failed_model(flags, source, done.error, "the model could not be exported");
  return true;
}

}  // namespace torchstone
