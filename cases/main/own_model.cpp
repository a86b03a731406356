#include "cases/main/own_model.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>

#include "cases/main/failed_model.h"
#include "cases/main/torchvision_library.h"
#include "cases/selection/expand.h"
#include "models/core/registry.h"
#include "models/formats/exported/exported_model.h"
#include "models/formats/script_model.h"

namespace torchstone {
namespace {

/// The model of the file `path`. Throws ConfigError where the flags do not fit it.
ModelInfo model_of_file(const std::string& path, const flags::Flags& flags) {
  if (!std::filesystem::exists(path)) fail(flags.only_place, fmt::format("{}: no such file", path));
  if (path.ends_with(".pt")) {
    if (flags.inputs.empty())
      fail(flags.only_place,
           "a TorchScript file needs its inputs (expected --torchstone_inputs=FILE.pt, a list of tensors as torch.save "
           "writes it)");
    return formats::script_model_info(path, flags.inputs);
  }
  return formats::exported_model_info(path);
}

/// The same; torchvision's operators are looked for where the file needs them.
ModelInfo model_with_libraries(const std::string& path, const flags::Flags& flags) {
  std::string lacking;
  try {
    return model_of_file(path, flags);
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
  return model_of_file(path, flags);
}

/// Throws ConfigError for a batch size that a model with a fixed one does not have.
void require_batch_size(const flags::Flags& flags, const ModelInfo& info) {
  const auto batch =
      std::ranges::find(flags.overrides, "batch_size", [](const auto& setting) { return setting.first; });
  if (!info.fixed_batch || batch == flags.overrides.end()) return;
  if (config::integer_of(batch->second, 1, 1'000'000) != info.eval_batch)
    fail(batch->second, fmt::format("{} runs with {} samples alone (expected no batch size; a file exported with a "
                                    "torch.export.Dim takes others)",
                                    flags.only, info.eval_batch));
}

}  // namespace

void register_own_model(const flags::Flags& flags) {
  ModelInfo info;
  try {
    info = model_with_libraries(flags.only, flags);
  } catch (const std::runtime_error& error) {
    // A file that is there has a row, whatever is in it.
    if (!formats::is_exported_model(flags.only) || !std::filesystem::exists(flags.only)) throw;
    return register_failed_model(flags, "exported", error.what(), "the file could not be read");
  }
  info.name = selection::only_model(flags);
  require_batch_size(flags, info);
  register_model(info, flags.only.c_str(), 0);
}

int64_t mini_parameters(const ModelInfo& info) { return count_parameters(*info.make(ModelOptions{})); }

}  // namespace torchstone
