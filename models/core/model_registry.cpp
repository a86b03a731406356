#include "models/core/model_registry.h"

#include <dlfcn.h>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

void load_plugin(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) throw std::runtime_error(fmt::format("plug-in {}: no such file", path));
  const CollectRegistrations collect(path);
  // Absolute: a bare name would be looked up in the library path.
  if (!dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_GLOBAL))
    throw std::runtime_error(fmt::format("plug-in {}: {}", path, dlerror()));
  const Registrations& found = collect.registrations();
  if (!found.errors.empty())
    throw std::runtime_error(fmt::format("plug-in {}: {}", path, fmt::join(found.errors, "; ")));
  if (found.added == 0) {
    throw std::runtime_error(
        fmt::format("plug-in {}: registered nothing; expected a TORCHSTONE_MODEL, TORCHSTONE_BACKEND, TORCHSTONE_CHECK "
                    "or TORCHSTONE_REPORT_WRITER in it, and that it was not loaded before",
                    path));
  }
}

}  // namespace torchstone
