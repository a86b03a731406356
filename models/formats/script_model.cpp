#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/script.h>
#include <torchstone/model.h>

#include "models/core/file_program.h"
#include "models/formats/exported/recorded_upstream.h"
#include "models/formats/model_file.h"
#include "models/formats/script_inputs.h"
#include "models/formats/script_program.h"

namespace torchstone::formats {
namespace {

/// Registers children, parameters and buffers of a script module in `target`, as the same tensors: casting or moving
/// one module casts or moves the other. Tensors that are plain attributes become buffers, because TorchScript casts and
/// moves constants too. Their names with `prefix` are added to `attributes`.
void mirror(const torch::jit::Module& script, torch::nn::Module& target, const std::string& prefix,
            std::set<std::string>& attributes) {
  for (const auto& item : script.named_parameters(/*recurse=*/false)) {
    target.register_parameter(item.name, item.value, item.value.requires_grad());
  }
  for (const auto& item : script.named_buffers(/*recurse=*/false)) target.register_buffer(item.name, item.value);
  for (const auto& item : script.named_attributes(/*recurse=*/false)) {
    if (!item.value.isTensor() || !item.value.toTensor().defined()) continue;
    if (target.named_parameters(false).contains(item.name) || target.named_buffers(false).contains(item.name)) continue;
    target.register_buffer(item.name, item.value.toTensor());
    attributes.insert(prefix + item.name);
  }
  for (const auto& item : script.named_children()) {
    const auto child = std::make_shared<torch::nn::Module>(item.name);
    mirror(item.value, *child, prefix + item.name + ".", attributes);
    target.register_module(item.name, child);
  }
}

/// Data that the models of one file share.
struct FileFacts {
  std::string path;
  std::vector<c10::IValue> arguments;  ///< of forward
  Tensors inputs{};                    ///< the tensors among them
  int64_t samples = 1;
  std::set<int64_t> checked{};  ///< numbers of samples that the program ran with
  ForeignDevices foreign{};
  std::string device{};
};

class ScriptModel : public Model, public DropoutRates, public FileProgram {
 public:
  ScriptModel(torch::jit::Module script, std::shared_ptr<FileFacts> file)
      : program_(std::move(script)), file_(std::move(file)) {
    mirror(program_.module(), *this, "", attributes_);
    place_program(torch::kCPU, std::nullopt);
  }

  c10::IValue forward(const Tensors& inputs) override { return program_.run(inputs); }

  Tensors example_inputs(const ModelOptions& options) const override {
    const bool other = options.batch_size != file_->samples;
    if (other) require_samples(options.batch_size);
    Tensors inputs;
    for (const auto& input : other ? with_samples(file_->inputs, options.batch_size) : file_->inputs)
      inputs.push_back(asked_ ? draw_like(input) : input.clone());
    asked_ = true;
    return inputs;
  }

  bool in_state_dict(const std::string& name) const override { return !attributes_.contains(name); }

  const torch::jit::Module* script() const override { return &program_.module(); }

  ProgramDescription program_description() const override {
    // Loading numbers the types of modules (___torch_mangle_7), so that names differ between loads.
    static const std::regex mangled("___torch_mangle_[0-9]+\\.?");
    const auto graph = inlined_forward(program_.module());
    return {std::regex_replace(graph->toString(/*print_source_locations=*/false), mangled, ""),
            constant_tensors(*graph)};
  }

  size_t set_dropout_rate(double rate) override { return program_.set_dropout_rate(rate); }

  void train(bool on = true) override {
    Model::train(on);
    torch::jit::Module(program_.module()).train(on);
  }

  void to(torch::Device device, bool non_blocking = false) override {
    Model::to(device, non_blocking);
    place_program(device, std::nullopt);
  }
  void to(torch::Dtype dtype, bool non_blocking = false) override {
    Model::to(dtype, non_blocking);
    place_program(std::nullopt, dtype);
  }
  using Model::to;

 private:
  void place_program(std::optional<torch::Device> device, std::optional<torch::Dtype> dtype) {
    const ForeignDevices foreign = program_.place(device, dtype);
    if (foreign.constants == 0) return;
    file_->foreign = foreign;
    file_->device = program_.device().str();
  }

  /// Runs the program once with a number of samples. Throws std::runtime_error if it fails or its outputs do not scale
  /// with the number of samples.
  void require_samples(int64_t samples) const {
    if (file_->checked.contains(samples)) return;
    const auto context =
        fmt::format("the program fails with {} samples, the file's inputs have {}", samples, file_->samples);
    with_context(context, [&] {
      const auto requested = run_keeping_buffers(with_samples(file_->inputs, samples));
      const auto why = why_not_scaled(run_keeping_buffers(file_->inputs), file_->samples, requested, samples);
      if (!why.empty()) throw std::invalid_argument(why);
    });
    file_->checked.insert(samples);
  }

  c10::IValue run_keeping_buffers(const Tensors& inputs) const {
    const torch::NoGradGuard no_grad;
    Tensors saved, placed;
    for (const auto& buffer : buffers()) saved.push_back(buffer.clone());
    for (const auto& input : inputs) placed.push_back(input.to(program_.device()));
    const auto restore = [&] {
      for (size_t i = 0; i < saved.size(); ++i) buffers()[i].copy_(saved[i]);
    };
    try {
      const c10::IValue output = program_.run(placed);
      restore();
      return output;
    } catch (...) {
      restore();
      throw;
    }
  }

  ScriptProgram program_;
  std::set<std::string> attributes_;  ///< tensors of the script that are neither parameters nor buffers
  std::shared_ptr<FileFacts> file_;
  mutable bool asked_ = false;
};

/// Returns why the program cannot be trained; empty when it can.
std::string why_not_trained(const ScriptProgram& program, const SavedMode& mode) {
  if (!mode.evaluates.empty())
    return fmt::format(
        "saved in eval mode: {} has the mode as a constant. Save another file in train mode for training "
        "(model.train() "
        "before torch.jit.trace, or torch.jit.script, which follows both)",
        mode.evaluates);
  for (const auto& parameter : program.module().parameters())
    if (parameter.requires_grad()) return "";
  return "the file has no parameter that requires a gradient";
}

/// Returns the upstream model that torchstone-export recorded in the file.
std::optional<UpstreamModel> upstream_of_script(const std::string& path) {
  caffe2::serialize::PyTorchStreamReader archive(path);
  if (!archive.hasRecord(exported::info_record)) return std::nullopt;
  const auto [data, size] = archive.getRecord(exported::info_record);
  try {
    const auto json =
        exported::parse_json(std::string(static_cast<const char*>(data.get()), size), exported::info_record);
    return exported::recorded_upstream(exported::JsonPlace(json, exported::info_record), model_name_of(path));
  } catch (const std::invalid_argument& error) {
    refuse(path, error.what());
  }
}

/// Loads the file's script, specialised for its inputs.
torch::jit::Module specialised_script(const FileFacts& file, const std::string& inputs_path) {
  auto script = load_script(file.path);
  try {
    fix_arguments(script, file.arguments);
  } catch (const std::invalid_argument& error) {
    refuse(inputs_path, error.what());
  }
  return script;
}

/// Returns the floating-point dtypes of a script's parameters, buffers and inputs, and of the constants that casting
/// the model would change. `arguments` belong to forward.
std::set<c10::ScalarType> dtypes_of_script(const torch::jit::Module& module,
                                           const std::vector<c10::IValue>& arguments) {
  std::set<c10::ScalarType> dtypes;
  const auto add = [&](const torch::Tensor& tensor) {
    if (tensor.is_floating_point() || tensor.is_complex()) dtypes.insert(c10::toRealValueType(tensor.scalar_type()));
  };
  for (const auto& parameter : module.parameters()) add(parameter);
  for (const auto& buffer : module.buffers()) add(buffer);
  // A number of a trace is a constant without dimensions, which decides no dtype.
  for (const auto& constant : constant_tensors(*inlined_forward(module)))
    if (constant.dim() > 0) add(constant);
  for (const auto& argument : arguments)
    if (argument.isTensor()) add(argument.toTensor());
  return dtypes;
}

}  // namespace

ModelInfo script_model_info(const std::string& path, const std::string& inputs_path,
                            std::set<c10::ScalarType>* dtypes) {
  const auto file = std::make_shared<FileFacts>(FileFacts{path, load_inputs(inputs_path)});
  for (const auto& argument : file->arguments)
    if (argument.isTensor()) file->inputs.push_back(argument.toTensor());
  file->samples = file->inputs[0].dim() > 0 ? std::max<int64_t>(file->inputs[0].size(0), 1) : 1;
  // Reports a bad file here. The factory reads it again.
  const ScriptProgram program(specialised_script(*file, inputs_path));
  if (dtypes) *dtypes = dtypes_of_script(program.module(), file->arguments);
  const SavedMode mode = program.mode();
  ModelInfo info;
  info.name = model_name_of(path);
  info.family = "script";
  info.suites = {"own"};
  info.train_batch = file->samples;
  info.eval_batch = file->samples;
  info.not_trained = why_not_trained(program, mode);
  info.upstream = upstream_of_script(path);
  info.file = path;
  info.make = [file, inputs_path, trains = mode.trains](const ModelOptions& options) -> std::shared_ptr<Model> {
    if (options.mode == Mode::inference && !trains.empty())
      throw std::runtime_error(
          fmt::format("{}: saved in train mode: {} has the mode as a constant. Save another file in eval mode for "
                      "inference (model.eval() before torch.jit.trace)",
                      file->path, trains));
    return std::make_shared<ScriptModel>(specialised_script(*file, inputs_path), file);
  };
  info.facts = [file] {
    ModelFacts facts;
    if (const ForeignDevices& foreign = file->foreign; foreign.constants > 0)
      facts.notes["device_constants"] = fmt::format("{} instead of {} ({} of the file)", file->device,
                                                    fmt::join(foreign.devices, ", "), foreign.constants);
    return facts;
  };
  return info;
}

}  // namespace torchstone::formats
