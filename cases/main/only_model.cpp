#include "cases/main/only_model.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cases/selection/expand.h"
#include "cases/settings/flags.h"
#include "fixtures/compile/cache_folder.h"
#include "fixtures/compile/toolchain.h"
#include "fixtures/core/private_folders.h"
#include "fixtures/core/sha256.h"
#include "fixtures/core/subprocess.h"
#include "models/core/model_registry.h"
#include "models/core/tree.h"
#include "models/formats/model_file.h"
#include "reports/base/files.h"
#include "reports/base/terminal.h"

namespace torchstone {
namespace {

/// Registers a model under selection::only_model() whose cases end as model_fail_to_load with `error`. `note` says what
/// failed, since it was no compiler.
void register_failed_model(const std::string& only, const std::string& family, const std::string& error,
                           const std::string& note) {
  ModelInfo info;
  info.name = selection::only_model(only);
  info.family = family;
  info.make = [error](const ModelOptions&) -> std::shared_ptr<Model> { throw std::runtime_error(error); };
  info.facts = [note] { return ModelFacts{.notes = {}, .metrics = {}, .infrastructure_fault = note}; };
  register_model(info, only.c_str(), 0);
}

/// Loads the operators of torchvision from the compile workers' Python. Throws std::runtime_error if torchvision is
/// missing there or cannot be loaded in this process.
void load_torchvision(const flags::Flags& flags) {
  const std::string python = compile::default_python(flags.run.python);
  const auto package = compile::find_python_package(flags.run.python, "torchvision");
  if (!package)
    throw std::runtime_error(fmt::format(
        "{} has no torchvision (install it there, or give --torchstone_library=FOLDER/torchvision/_C.so)", python));
  formats::load_operator_library((package->folder / "_C.so").string());
}

/// Empty where the file cannot be read: its case says why.
std::set<c10::ScalarType> dtypes_of_exported(const std::string& path) {
  try {
    return formats::dtypes_of_exported(path);
  } catch (const std::exception&) {
    return {};
  }
}

/// Returns the model of the file `only` and the floating-point dtypes of the file. Throws ConfigError if the flags do
/// not fit the file.
ModelInfo model_of_file(const config::Choice<std::string>& only, const flags::Flags& flags,
                        std::set<c10::ScalarType>& dtypes) {
  const auto& [path, place] = only;
  if (!std::filesystem::exists(path)) fail(place, fmt::format("{}: no such file", path));
  if (path.ends_with(".pt")) {
    if (flags.inputs.empty())
      fail(place,
           "a TorchScript file needs its inputs (expected --torchstone_inputs=FILE.pt, a list of tensors as torch.save "
           "writes it)");
    return formats::script_model_info(path, flags.inputs, &dtypes);
  }
  ModelInfo info = formats::exported_model_info(path);
  dtypes = dtypes_of_exported(path);
  return info;
}

/// Does the same, and loads torchvision's operators if the file needs them.
ModelInfo model_with_libraries(const config::Choice<std::string>& only, const flags::Flags& flags,
                               std::set<c10::ScalarType>& dtypes) {
  std::string lacking;
  try {
    return model_of_file(only, flags, dtypes);
  } catch (const std::runtime_error& error) {
    lacking = error.what();
    const bool of_torchvision =
        lacking.find("torchvision::") != std::string::npos || lacking.find("ops.torchvision.") != std::string::npos;
    if (!of_torchvision) throw;
  }
  try {
    load_torchvision(flags);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("{}\n{}", lacking, error.what()));
  }
  return model_of_file(only, flags, dtypes);
}

/// Throws ConfigError if the flags ask for another batch size than the model's fixed one.
void require_batch_size(const std::string& only, const flags::Flags& flags, const ModelInfo& info) {
  const auto batch =
      std::ranges::find(flags.overrides, "batch_size", [](const auto& setting) { return setting.first; });
  if (!info.fixed_batch || batch == flags.overrides.end()) return;
  if (config::integer_of(batch->second, 1, 1'000'000) != info.eval_batch)
    fail(batch->second, fmt::format("{} runs with {} samples alone (expected no batch size; a file exported with a "
                                    "torch.export.Dim takes others)",
                                    only, info.eval_batch));
}

/// Returns the dtype for cases that need no cast of a file with these dtypes.
std::optional<selection::OwnDtype> own_dtype_of(const std::set<c10::ScalarType>& dtypes) {
  if (dtypes.empty()) return std::nullopt;
  constexpr std::array<std::pair<c10::ScalarType, DType>, 4> whole{{{c10::kFloat, DType::float32},
                                                                    {c10::kBFloat16, DType::bfloat16},
                                                                    {c10::kHalf, DType::float16},
                                                                    {c10::kDouble, DType::float64}}};
  for (const auto& [of_file, of_case] : whole)
    if (dtypes.size() == 1 && dtypes.contains(of_file)) return selection::OwnDtype{of_case, of_case};
  const bool narrow = std::ranges::any_of(dtypes, [](c10::ScalarType dtype) {
    return dtype != c10::kBFloat16 && dtype != c10::kFloat && dtype != c10::kDouble;
  });
  const bool bfloat16 = dtypes.contains(c10::kBFloat16);
  return selection::OwnDtype{DType::as_written, narrow ? DType::float16 : bfloat16 ? DType::bfloat16 : DType::float32};
}

/// Adds the note file_dtypes, because rows of as_written do not name the dtypes.
void note_dtypes(const std::set<c10::ScalarType>& dtypes, ModelInfo& info) {
  std::vector<std::string> names;
  for (const auto dtype : dtypes) names.push_back(dtype_name(dtype));
  info.facts = [facts = std::move(info.facts),
                note = fmt::format("{}: as_written casts none of them, another dtype all", fmt::join(names, ", "))] {
    ModelFacts all = facts ? facts() : ModelFacts();
    all.notes["file_dtypes"] = note;
    return all;
  };
}

}  // namespace

std::optional<selection::OwnDtype> register_own_model(const config::Choice<std::string>& only,
                                                      const flags::Flags& flags) {
  ModelInfo info;
  std::set<c10::ScalarType> dtypes;
  try {
    info = model_with_libraries(only, flags, dtypes);
  } catch (const std::runtime_error& error) {
    // A file that is there has a row, whatever is in it.
    if (!formats::is_exported_model(only.value) || !std::filesystem::exists(only.value)) throw;
    register_failed_model(only.value, "exported", error.what(), formats::unreadable_file);
    return std::nullopt;
  }
  info.name = selection::only_model(only.value);
  require_batch_size(only.value, flags, info);
  const auto own = own_dtype_of(dtypes);
  if (own && own->dtype == DType::as_written) note_dtypes(dtypes, info);
  register_model(info, only.value.c_str(), 0);
  return own;
}

int64_t mini_parameters(const ModelInfo& info) { return count_parameters(*info.make(ModelOptions{})); }

std::filesystem::path place_exporter(const std::filesystem::path& cache) {
  std::string all;
  const auto sources = exporter_sources();
  for (const auto& [name, text] : sources) all += name + "\n" + text;
  const std::filesystem::path place = cache / "exporter" / sha256(all).substr(0, 16);
  make_folder(place);
  require_private(place);
  for (const auto& [name, text] : sources) {
    if (read_file(place / name) != text) write_file(place / name, text);
  }
  return place / "torchstone_export.py";
}

namespace {

namespace fs = std::filesystem;

Export export_now(const std::string& only, const flags::Flags& flags, const fs::path& cache) {
  const std::string python = compile::default_python(flags.run.python);
  if (!find_program(python))
    return {"", fmt::format("{}: no such Python interpreter (set --torchstone_python)", python)};
  const fs::path exported = cache / "exported";
  make_folder(exported);
  require_private(exported);
  std::vector<std::string> command = {python, place_exporter(cache).string(), "--cache", exported.string()};
  for (const auto& argument : exporter_arguments(only, flags)) command.push_back(argument);
  print_error(fmt::format("exporting {} with {}", only, python));
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

std::vector<std::string> exporter_arguments(const std::string& only, const flags::Flags& flags) {
  std::vector<std::string> arguments = {only, "--time-limit", fmt::format("{}", flags.run.compile_limit_s)};
  const auto add = [&](const char* name, const std::string& value) {
    arguments.insert(arguments.end(), {name, value});
  };
  if (flags.axes.presets.size() > 1)
    fail(flags.axes.presets[1].place, fmt::format("{} is exported in one preset (expected mini or full)", only));
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
    if (file.is_string() && !file.get_ref<const std::string&>().empty()) return {file.get<std::string>(), ""};
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

bool export_named_model(config::Choice<std::string>& only, const flags::Flags& flags) {
  const std::string source = only.value;
  const fs::path cache = compile::cache_folder(flags.run.cache);
  // A case's own process comes here again: what failed is not tried again in this run.
  const std::string run = compile::run_id(), key = "export-" + sha256(source).substr(0, 16);
  Export done;
  if (const auto failed = compile::remembered_failure(cache, run, key)) {
    done.error = *failed;
  } else {
    done = export_now(source, flags, cache);
    if (done.file.empty()) compile::remember_failure(cache, run, key, done.error);
  }
  const std::string name = source.substr(source.find(':') + 1);
  only.value =
      done.file.empty() ? (cache / "exported" / (formats::model_name_of(name + ".pt2") + ".pt2")).string() : done.file;
  if (!done.file.empty()) return false;
  register_failed_model(only.value, source, done.error, "the model could not be exported");
  return true;
}

}  // namespace torchstone
