#include "models/core/model_registry.h"

#include <utility>

#include <fmt/format.h>

#include "models/core/registration.h"

namespace torchstone {
namespace {

Registry<ModelInfo>& models() {
  static Registry<ModelInfo> registry("model");
  return registry;
}

}  // namespace

bool register_model(ModelInfo info, const char* file, int line) {
  info.file = file;
  info.line = line;
  if (!info.make) return refuse_registration(fmt::format("{}:{}: model {} has no factory", file, line, info.name));
  const std::string name = info.name;
  return models().add(name, std::move(info), file, line);
}

std::vector<const ModelInfo*> all_models() {
  std::vector<const ModelInfo*> all;
  for (const auto& [name, entry] : models().entries()) all.push_back(&entry.value);
  return all;
}

const ModelInfo* find_model(const std::string& name) { return models().find(name); }

}  // namespace torchstone
