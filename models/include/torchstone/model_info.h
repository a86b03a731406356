#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// The facts of a model. Free of LibTorch's headers, so that suites are read without them.
namespace torchstone {

class Model;

/// Size of a model: `mini` for a machine of two cores, `full` as published.
enum class Preset { mini, full };
/// What a case runs: forward alone, or forward, loss and backward.
enum class Mode { inference, training };

/// What a model's factory may depend on.
struct ModelOptions {
  Preset preset = Preset::mini;
  Mode mode = Mode::inference;
  int64_t batch_size = 1;  ///< samples in one call, at least 1
  /// Of the dimensions that the model declares (Model::dimensions), where they are not the preset's.
  std::map<std::string, int64_t> sizes{};
  std::string device{"cpu"};  ///< where the case runs, `cuda:1`; the model is always made on the CPU

  int64_t size_of(const std::string& dimension, int64_t of_preset) const {
    const auto found = sizes.find(dimension);
    return found == sizes.end() ? of_preset : found->second;
  }
};

/// An input dimension, other than the batch, that may vary. Examples are the length of a text and the height of an
/// image.
struct ModelDimension {
  std::string name{};
  int64_t size = 0;                  ///< of the preset
  int64_t minimum = 2, maximum = 0;  ///< of the range that the model takes, both included, of three sizes at least
  int64_t step = 1;                  ///< all three are multiples of it, and so is each requested size
};

/// Facts about a model that reports show with its results.
struct ModelFacts {
  std::map<std::string, std::string> notes{};
  std::map<std::string, double> metrics{};
  std::string infrastructure_fault{};  ///< why the model could not be prepared, if the model is not at fault
  std::string operator_name{};         ///< of a model that is one logged call of an operator: "aten.tanh.default"
};

/// A model of PyTorch's benchmarks/dynamo, or of a package that one of its suites takes its models from.
struct UpstreamModel {
  std::string suite{};  ///< torchbench, timm or huggingface; empty: the one that lists the name
  std::string name{};   ///< as upstream's lists have it: `deit_tiny_patch16_224.fb_in1k`, `google/gemma-2-2b`
};

/// The facts of one registered model.
struct ModelInfo {
  std::string name{};                 ///< in suites and flags; upstream's name where upstream has the model
  std::string family{};               ///< the architecture or file it belongs to
  std::vector<std::string> suites{};  ///< whose rows and policies apply: torchbench, timm, huggingface, …
  int64_t train_batch = 0;            ///< upstream's batch size in training (full preset); 0: not stated
  int64_t eval_batch = 0;             ///< upstream's batch size in inference (full preset); 0: not stated
  int64_t parameters = 0;             ///< elements of all parameters of the full preset; 0: not stated
  bool fixed_batch = false;           ///< the batch size must not be changed (always eval_batch)
  /// Of a model with a fixed batch: Model::dimensions() declares some all the same, which one program may serve.
  bool dimensions_alone = false;
  /// train() and eval() do not change the model, because the mode is a part of its file.
  bool fixed_mode = false;
  /// Makes the model, on the CPU, with random weights from torch's default generator. What it throws becomes the
  /// status model_fail_to_load.
  std::function<std::shared_ptr<Model>(const ModelOptions&)> make{};
  /// Asked when a case of the model has run; empty: nothing to add.
  std::function<ModelFacts()> facts{};
  /// Why the model cannot run on a device (`cpu`, `cuda:1`), which becomes the status unsupported; empty when it can.
  std::function<std::optional<std::string>(const std::string& device)> unsupported{};
  /// Why the model cannot be trained; empty when it can. Its rows of training are left out with this reason, and have
  /// the status unsupported when they are asked for by --torchstone_modes.
  std::string not_trained{};
  /// Source of a Python subject, such as `path:/dir/net.py,class:Net`: a Python process runs the module itself. Empty
  /// for a model of this process.
  std::string python{};
  /// The upstream model whose rules judge this model, if no suite lists it. Empty: the rules of the suite that runs it.
  std::optional<UpstreamModel> upstream{};
  std::string file{};  ///< where it was registered; set by register_model
  int line = 0;
};

/// Adds a model and returns true, for static initialisers. Throws std::invalid_argument when the name is taken or
/// `make` is empty. While a plug-in is loaded, keeps the error for the loader instead and returns false.
bool register_model(ModelInfo info, const char* file, int line);
/// Returns the registered model of that name: one of the zoo, a plug-in or this program. nullptr without one.
const ModelInfo* find_model(const std::string& name);

/// The facts of a model while TORCHSTONE_MODEL collects them.
class ModelDescription {
 public:
  ModelDescription(ModelInfo info, const char* file, int line) : info_(std::move(info)), file_(file), line_(line) {}

  /// Sets the name in suites, flags and reports. The default is the class's name.
  ModelDescription&& name(std::string value) && { return with(info_.name, std::move(value)); }
  ModelDescription&& family(std::string value) && { return with(info_.family, std::move(value)); }
  /// Adds a suite. A suite that no file describes has the rows of the program's suite `own`.
  ModelDescription&& suite(std::string value) && {
    info_.suites.push_back(std::move(value));
    return std::move(*this);
  }
  /// Batch size of the full preset, in inference and in training. In a suite that no file describes it applies to all
  /// presets and checks.
  ModelDescription&& batch_size(int64_t samples) && {
    info_.train_batch = samples;
    return with(info_.eval_batch, samples);
  }
  /// Why the model cannot be trained.
  ModelDescription&& not_trained(std::string why) && { return with(info_.not_trained, std::move(why)); }

 private:
  friend class RegisteredModel;
  template <typename T>
  ModelDescription&& with(T& fact, T value) {
    fact = std::move(value);
    return std::move(*this);
  }

  ModelInfo info_;
  const char* file_;
  int line_;
};

/// Registers a description when it is complete, as register_model() does.
class RegisteredModel {
 public:
  RegisteredModel(ModelDescription&& complete) {  // NOLINT(google-explicit-constructor): the end of a chain
    register_model(std::move(complete.info_), complete.file_, complete.line_);
  }
};

/// Describes a class whose constructor takes `const ModelOptions&` or nothing.
template <typename T>
ModelDescription describe_model(const char* name, const char* file, int line) {
  ModelInfo info;
  info.name = info.family = name;
  info.make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
    if constexpr (std::is_constructible_v<T, const ModelOptions&>)
      return std::make_shared<T>(options);
    else
      return std::make_shared<T>();
  };
  return {std::move(info), file, line};
}

}  // namespace torchstone

/// Registers a class as a model, with the facts that follow in a chain:
///   TORCHSTONE_MODEL(TinyMlp).suite("mine").batch_size(8);
/// or one of several models of a family, with its facts in the order of ModelInfo:
///   TORCHSTONE_MODEL(resnet18, .family = "resnet", .suites = {"torchbench"}, .eval_batch = 8, .make = …);
#define TORCHSTONE_MODEL(identifier, ...)                                                   \
  [[maybe_unused]] static const torchstone::RegisteredModel torchstone_model_##identifier = \
      TORCHSTONE_MODEL_##__VA_OPT__(FACTS)(identifier __VA_OPT__(, ) __VA_ARGS__)
#define TORCHSTONE_MODEL_(Type) torchstone::describe_model<Type>(#Type, __FILE__, __LINE__)
#define TORCHSTONE_MODEL_FACTS(identifier, ...) \
  torchstone::ModelDescription({.name = #identifier, __VA_ARGS__}, __FILE__, __LINE__)
