#include "cases/main/own_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/main/failed_model.h"
#include "cases/main/torchvision_library.h"
#include "cases/selection/expand.h"
#include "models/core/dtype_name.h"
#include "models/core/registry.h"
#include "models/formats/exported/exported_model.h"
#include "models/formats/file_dtype.h"
#include "models/formats/script_model.h"

namespace torchstone {
namespace {

/// Empty where the file cannot be read: its case says why.
std::set<c10::ScalarType> dtypes_of_exported(const std::string& path) {
  try {
    return formats::dtypes_of_exported(path);
  } catch (const std::exception&) {
    return {};
  }
}

/// The model of the file `path`, and the floating-point dtypes of the file. Throws ConfigError where the flags do not
/// fit it.
ModelInfo model_of_file(const std::string& path, const flags::Flags& flags, std::set<c10::ScalarType>& dtypes) {
  if (!std::filesystem::exists(path)) fail(flags.only_place, fmt::format("{}: no such file", path));
  if (path.ends_with(".pt")) {
    if (flags.inputs.empty())
      fail(flags.only_place,
           "a TorchScript file needs its inputs (expected --torchstone_inputs=FILE.pt, a list of tensors as torch.save "
           "writes it)");
    return formats::script_model_info(path, flags.inputs, &dtypes);
  }
  ModelInfo info = formats::exported_model_info(path);
  dtypes = dtypes_of_exported(path);
  return info;
}

/// The same; torchvision's operators are looked for where the file needs them.
ModelInfo model_with_libraries(const std::string& path, const flags::Flags& flags, std::set<c10::ScalarType>& dtypes) {
  std::string lacking;
  try {
    return model_of_file(path, flags, dtypes);
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
  return model_of_file(path, flags, dtypes);
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

/// Returns the dtype of cases that casts nothing of a file with these dtypes.
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

std::optional<selection::OwnDtype> register_own_model(const flags::Flags& flags) {
  ModelInfo info;
  std::set<c10::ScalarType> dtypes;
  try {
    info = model_with_libraries(flags.only, flags, dtypes);
  } catch (const std::runtime_error& error) {
    // A file that is there has a row, whatever is in it.
    if (!formats::is_exported_model(flags.only) || !std::filesystem::exists(flags.only)) throw;
    register_failed_model(flags, "exported", error.what(), "the file could not be read");
    return std::nullopt;
  }
  info.name = selection::only_model(flags);
  require_batch_size(flags, info);
  const auto own = own_dtype_of(dtypes);
  if (own && own->dtype == DType::as_written) note_dtypes(dtypes, info);
  register_model(info, flags.only.c_str(), 0);
  return own;
}

int64_t mini_parameters(const ModelInfo& info) { return count_parameters(*info.make(ModelOptions{})); }

}  // namespace torchstone
