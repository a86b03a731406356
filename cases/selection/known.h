#pragma once
#include <map>
#include <string>
#include <vector>

#include <torchstone/case.h>
#include <torchstone/model_info.h>

#include "cases/config/axes.h"

namespace torchstone::selection {

/// The dtype of a model from a file.
struct OwnDtype {
  DType dtype = DType::float32;    ///< in which nothing of the file is cast
  DType loosest = DType::float32;  ///< of as_written: the dtype of the file whose tolerance is the loosest
};

/// What a suite may refer to.
struct Known {
  std::vector<const ModelInfo*> models;
  std::vector<std::string> backends;
  std::map<std::string, OwnDtype> dtypes{};  ///< of models from files with floating-point numbers, by name

  const ModelInfo* model(const std::string& name) const;  ///< nullptr when there is none
};
/// The registries of this program.
Known known_here();

/// The model of that name; throws ConfigError for `place` when there is none.
const ModelInfo& require_model(const Known& known, const std::string& name, const config::Place& place);
/// Throws ConfigError for a backend that is not known.
void require_backends(const Known& known, const config::Choices<BackendSpec>& choices);

}  // namespace torchstone::selection
