#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torchstone/model_info.h>

#include "cases/selection/expand.h"
#include "cases/settings/flags.h"

namespace torchstone {

/// Returns file names and texts of the exporter (cases/exporter/*.py), which is part of the library.
std::map<std::string, std::string> exporter_sources();

/// Registers a file of --torchstone_only under selection::only_model(). An exported program that is refused becomes a
/// model that cannot be loaded; throws when any other file or its inputs cannot be used. Returns the dtype that the
/// file is judged in; none where it has no floating-point numbers.
std::optional<selection::OwnDtype> register_own_model(const config::Choice<std::string>& only,
                                                      const flags::Flags& flags);

/// Returns the number of parameters of a model's mini preset. Builds the model to count them.
int64_t mini_parameters(const ModelInfo& info);

/// Writes the exporter below the cache folder, where only this user can write. Returns the path of its script.
std::filesystem::path place_exporter(const std::filesystem::path& cache);

/// Whether the text is a model of a Python package, as the exporter takes it: SOURCE:NAME (timm:ghostnet_100).
bool is_named_model(const std::string& only);

/// Returns the arguments of the exporter, without interpreter and script. Throws ConfigError if the flags select more
/// than one preset.
std::vector<std::string> exporter_arguments(const std::string& only, const flags::Flags& flags);

/// The exporter's answer.
struct Export {
  std::string file;   ///< the archive; empty if the export failed
  std::string error;  ///< why the export failed, as the package reports it
};

/// Parses the answer. `status` is the exporter's exit status, or 128 + signal if a signal ended it.
Export read_export(int status, const std::string& output, double limit_s);

/// Exports a model of --torchstone_only in the Python of the compile workers and replaces the value by the archive's
/// path. Reuses an archive that the same versions exported before. Registers a model that cannot be exported.
/// Its cases end as model_fail_to_load with the package's message, and the program ends with exit code 4. Returns
/// whether it registered the model.
bool export_named_model(config::Choice<std::string>& only, const flags::Flags& flags);

}  // namespace torchstone
