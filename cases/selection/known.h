#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/config/axes.h"

namespace torchstone::selection {

/// What a suite may refer to.
struct Known {
  std::vector<const ModelInfo*> models;
  std::vector<std::string> backends;
  std::map<std::string, DType> dtypes{};  ///< of models from files whose numbers are all of one dtype, by name

  const ModelInfo* model(const std::string& name) const;  ///< nullptr when there is none
};
/// The registries of this program.
Known known_here();

/// The model of that name; throws ConfigError for `place` when there is none.
const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place);
/// Throws ConfigError for a backend that is not known.
void require_backends(const Known& known, const config::Choices<BackendSpec>& choices);

}  // namespace torchstone::selection
