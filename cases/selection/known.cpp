#include "cases/selection/known.h"

#include <algorithm>

#include <fmt/format.h>

#include "cases/config/nearest.h"
#include "fixtures/backends/catalogue.h"
#include "models/core/registry.h"

namespace torchstone::selection {
namespace {

std::vector<std::string> names_of(const std::vector<const ModelInfo*>& models) {
  std::vector<std::string> names;
  for (const auto* model : models) names.push_back(model->name);
  return names;
}

}  // namespace

const ModelInfo* Known::model(const std::string& name) const {
  for (const auto* info : models)
    if (info->name == name) return info;
  return nullptr;
}

Known known_here() { return {all_models(), backend_names(), {}}; }

const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place) {
  if (const ModelInfo* info = known.model(name)) return *info;
  fail(place, fmt::format("unknown model {} ({})", name, config::expected_one_of(name, names_of(known.models))));
}

void require_backends(const Known& known, const config::Choices<BackendSpec>& choices) {
  for (const auto& [backend, place] : choices) {
    if (std::find(known.backends.begin(), known.backends.end(), backend.name) == known.backends.end())
      fail(place,
           fmt::format("unknown backend {} ({})", backend.name, config::expected_one_of(backend.name, known.backends)));
    if (const auto fault = wrong_option(backend)) fail(place, fmt::format("backend {}: {}", backend.name, *fault));
  }
}

}  // namespace torchstone::selection
