#include "models/formats/weights.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "models/core/tree.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"
#include "models/formats/safetensors.h"

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;
using TensorMap = std::map<std::string, torch::Tensor>;

// In the order in which transformers and diffusers search for them.
const std::vector<std::string> names_in_folder{"model.safetensors", "diffusion_pytorch_model.safetensors",
                                               "pytorch_model.bin", "diffusion_pytorch_model.bin"};
constexpr auto largest_index = 64U << 20U;  // bytes

/// Returns the state_dict in a file of torch.save: the value itself, or one of its entries.
c10::impl::GenericDict state_dict_in(const c10::IValue& value, const fs::path& path) {
  if (!value.isGenericDict()) refuse(path, fmt::format("holds a {}, expected a state_dict", describe(value)));
  const auto dict = value.toGenericDict();
  for (const auto& entry : dict) {
    if (!entry.key().isString()) refuse(path, "has keys that are not strings, expected a state_dict");
  }
  for (const char* key : {"state_dict", "model_state_dict", "model"}) {
    const auto inner = dict.find(key);
    if (inner != dict.end() && inner->value().isGenericDict()) return state_dict_in(inner->value(), path);
  }
  return dict;
}

TensorMap read_state_dict(const fs::path& path) {
  TensorMap tensors;
  for (const auto& entry : state_dict_in(read_pt(path.string()), path)) {
    const auto& name = entry.key().toStringRef();
    if (!entry.value().isTensor())
      refuse(path, fmt::format("{} is {}, expected a tensor", name, describe(entry.value())));
    tensors.emplace(name, entry.value().toTensor());
  }
  return tensors;
}

TensorMap read_file(const fs::path& path) {
  return path.extension() == ".safetensors" ? read_safetensors(path.string()).tensors : read_state_dict(path);
}

/// Returns the files in an index of Hugging Face: `{"weight_map": {NAME: FILE, …}}`, with FILE in the index's folder.
std::set<std::string> files_of_index(const fs::path& index) {
  std::error_code error;
  if (fs::file_size(index, error) > largest_index || error) refuse(index, "cannot be read, or is larger than 64 MiB");
  std::ifstream stream(index);
  const auto json = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse(index, "expected a JSON object with a weight_map");
  std::set<std::string> files;
  for (const auto& [name, file] : json["weight_map"].items()) {
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>())
      refuse(index,
             fmt::format("weight_map: {} is {}, expected the name of a file in the same folder", name, file.dump()));
    files.insert(file.get<std::string>());
  }
  return files;
}

TensorMap read_index(const fs::path& index) {
  TensorMap all;
  for (const auto& file : files_of_index(index)) {
    auto tensors = read_file(index.parent_path() / file);
    all.merge(tensors);
    if (!tensors.empty()) refuse(index, fmt::format("{} is in two files", tensors.begin()->first));
  }
  return all;
}

TensorMap read_folder(const fs::path& folder) {
  for (const auto& name : names_in_folder) {
    if (fs::is_regular_file(folder / name)) return read_file(folder / name);
    if (fs::is_regular_file(folder / (name + ".index.json"))) return read_index(folder / (name + ".index.json"));
  }
  refuse(folder,
         fmt::format("has no checkpoint (expected {} or the index of several)", fmt::join(names_in_folder, ", ")));
}

TensorMap without_module_prefix(TensorMap tensors) {
  constexpr std::string_view prefix = "module.";
  const auto has_prefix = [&](const auto& entry) { return entry.first.starts_with(prefix); };
  if (tensors.empty() || !std::ranges::all_of(tensors, has_prefix)) return tensors;
  TensorMap result;
  for (auto& [name, tensor] : tensors) result.emplace(name.substr(prefix.size()), tensor);
  return result;
}

bool fits(const torch::Tensor& expected, const torch::Tensor& found) {
  const bool castable = expected.is_floating_point() && found.is_floating_point();
  return expected.sizes() == found.sizes() && (castable || expected.scalar_type() == found.scalar_type());
}

std::vector<std::string> misfits(const Model& model, const State& expected, const State& found) {
  std::map<const c10::TensorImpl*, torch::Tensor> given;
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : found) {
    const auto place = expected.find(name);
    if (place == expected.end()) continue;
    if (!fits(place->second, tensor)) {
      lines.push_back(fmt::format("{}: {}, expected {}", name, describe(tensor), describe(place->second)));
      continue;
    }
    const auto [first, fresh] = given.try_emplace(place->second.unsafeGetTensorImpl(), tensor);
    if (!fresh && !torch::equal(first->second, tensor))
      lines.push_back(fmt::format("{}: differs from another name of the same tied tensor", name));
  }
  for (const auto& [name, tensor] : expected) {
    const bool may_be_absent = !model.in_state_dict(name) || name.ends_with("num_batches_tracked") ||
                               given.count(tensor.unsafeGetTensorImpl());
    if (!found.count(name) && !may_be_absent) lines.push_back(fmt::format("{}: missing ({})", name, describe(tensor)));
  }
  return lines;
}

}  // namespace

TensorMap read_checkpoint(const std::string& path) {
  return without_module_prefix(fs::is_directory(path) ? read_folder(path) : read_file(path));
}

std::vector<std::string> load_weights(Model& model, const std::string& path) {
  const auto expected = state_of(model);
  const auto found = read_checkpoint(path);
  std::vector<std::string> left_over;
  for (const auto& [name, tensor] : found) {
    if (!expected.contains(name)) left_over.push_back(name);
  }
  if (auto lines = misfits(model, expected, found); !lines.empty()) {
    const auto count = lines.size();
    for (const auto& name : left_over)
      lines.push_back(fmt::format("{}: left over ({})", name, describe(found.at(name))));
    throw UnfitWeights(fmt::format("{}: {} tensors do not fit the model, {} are left over:\n  {}", path, count,
                                   left_over.size(), fmt::join(lines, "\n  ")));
  }
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : expected) {
    if (const auto place = found.find(name); place != found.end()) torch::Tensor(tensor).copy_(place->second);
  }
  return left_over;
}

}  // namespace torchstone::formats
