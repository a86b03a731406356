#include "models/core/registry.h"

#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace torchstone {
namespace {

// A function-local static: registrations run before main, in any order of files.
std::map<std::string, ModelInfo>& registry() {
  static std::map<std::string, ModelInfo> models;
  return models;
}

std::vector<std::string>* collected = nullptr;

bool refuse(const std::string& error) {
  if (!collected) throw std::invalid_argument(error);
  collected->push_back(error);
  return false;
}

}  // namespace

void collect_registration_errors(std::vector<std::string>* errors) { collected = errors; }

bool register_model(ModelInfo info, const char* file, int line) {
  info.file = file;
  info.line = line;
  if (!info.make) return refuse(fmt::format("{}:{}: model {} has no factory", file, line, info.name));
  const auto [taken, fresh] = registry().try_emplace(info.name, info);
  if (fresh) return true;
  return refuse(fmt::format("{}:{}: model {} is already registered at {}:{}", file, line, info.name, taken->second.file,
                            taken->second.line));
}

std::vector<const ModelInfo*> all_models() {
  std::vector<const ModelInfo*> models;
  for (const auto& [name, info] : registry()) models.push_back(&info);
  return models;
}

const ModelInfo* find_model(const std::string& name) {
  const auto found = registry().find(name);
  return found == registry().end() ? nullptr : &found->second;
}

}  // namespace torchstone
