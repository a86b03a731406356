#include "models/formats/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/tree.h"
#include "models/formats/checkpoint.h"
#include "models/formats/safetensors.h"

namespace torchstone::formats {
namespace {

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

void save_weights(const Model& model, const std::string& path) {
  SafeTensors file;
  for (const auto& [name, tensor] : state_of(model)) {
    if (model.in_state_dict(name)) file.tensors[name] = tensor;
  }
  file.metadata["format"] = "pt";  // what Python's readers expect
  write_safetensors(path, file);
}

}  // namespace torchstone::formats
