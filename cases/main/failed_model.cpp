#include "cases/main/failed_model.h"

#include <memory>
#include <stdexcept>

#include "cases/selection/expand.h"
#include "models/core/registry.h"

namespace torchstone {

void register_failed_model(const flags::Flags& flags, const std::string& family, const std::string& error,
                           const std::string& note) {
  ModelInfo info;
  info.name = selection::only_model(flags);
  info.family = family;
  info.make = [error](const ModelOptions&) -> std::shared_ptr<Model> { throw std::runtime_error(error); };
  info.facts = [note] { return ModelFacts{.notes = {{"infrastructure", note}}, .metrics = {}}; };
  register_model(info, flags.only.c_str(), 0);
}

}  // namespace torchstone
