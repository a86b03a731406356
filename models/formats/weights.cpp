#include "models/formats/weights.h"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/core/tree.h"
#include "models/formats/safetensors.h"

namespace torchstone::formats {
namespace {

std::vector<std::string> differences(const Model& model, const State& expected, const State& found) {
  std::map<const c10::TensorImpl*, torch::Tensor> given;
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : found) {
    const auto place = expected.find(name);
    if (place == expected.end()) {
      lines.push_back(fmt::format("{}: unexpected ({})", name, describe(tensor)));
    } else if (place->second.sizes() != tensor.sizes() || place->second.scalar_type() != tensor.scalar_type()) {
      lines.push_back(fmt::format("{}: {}, expected {}", name, describe(tensor), describe(place->second)));
    } else {
      const auto [first, fresh] = given.try_emplace(place->second.unsafeGetTensorImpl(), tensor);
      if (!fresh && !torch::equal(first->second, tensor)) {
        lines.push_back(fmt::format("{}: differs from another name of the same tied tensor", name));
      }
    }
  }
  for (const auto& [name, tensor] : expected) {
    const bool may_be_absent = !model.in_state_dict(name) || name.ends_with("num_batches_tracked") ||
                               given.count(tensor.unsafeGetTensorImpl());
    if (!found.count(name) && !may_be_absent) {
      lines.push_back(fmt::format("{}: missing ({})", name, describe(tensor)));
    }
  }
  return lines;
}

}  // namespace

void load_weights(Model& model, const std::string& path) {
  const auto expected = state_of(model);
  const auto found = read_safetensors(path).tensors;
  if (const auto lines = differences(model, expected, found); !lines.empty()) {
    throw std::runtime_error(
        fmt::format("{}: {} tensors do not fit the model:\n  {}", path, lines.size(), fmt::join(lines, "\n  ")));
  }
  torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : found) torch::Tensor(expected.at(name)).copy_(tensor);
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
