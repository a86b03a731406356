#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/core/options.h"

namespace torchstone {

class Model;

/// The facts of one registered model. Free of torch headers, so that suites can be read without them.
struct ModelInfo {
  std::string name{};                 ///< upstream's name
  std::string family{};               ///< file or architecture it belongs to
  std::vector<std::string> suites{};  ///< torchbench, timm, huggingface, …
  int64_t train_batch = 0;            ///< upstream's default batch sizes of the full preset
  int64_t eval_batch = 0;
  int64_t parameters = 0;    ///< of the full preset; 0: not stated
  bool fixed_batch = false;  ///< the batch size must not be changed (always eval_batch)
  bool host_sync = false;    ///< forward reads a value back (`.item()`), so it cannot be captured whole
  std::function<std::shared_ptr<Model>(const ModelOptions&)> make{};
  std::string file{};  ///< where it was registered
  int line = 0;
};

/// Throws std::invalid_argument when the name is taken or `make` is empty. Returns true, for static initialisers.
bool register_model(ModelInfo info, const char* file, int line);
/// While `errors` is set, register_model writes what is wrong there and returns false: an exception must not leave a
/// static initialiser that dlopen runs. nullptr: it throws again.
void collect_registration_errors(std::vector<std::string>* errors);
/// All models, sorted by name.
std::vector<const ModelInfo*> all_models();
/// nullptr when there is none of that name.
const ModelInfo* find_model(const std::string& name);

/// Elements of all parameters; a parameter that stands under several names counts once.
int64_t count_parameters(const Model& model);

}  // namespace torchstone

/// TORCHSTONE_MODEL(resnet18, .family = "resnet", .suites = {"torchbench"}, .eval_batch = 8, .make = …);
#define TORCHSTONE_MODEL(identifier, ...)                            \
  [[maybe_unused]] static const bool torchstone_model_##identifier = \
      torchstone::register_model(torchstone::ModelInfo{.name = #identifier, __VA_ARGS__}, __FILE__, __LINE__)
