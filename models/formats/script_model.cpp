#include "models/formats/script_model.h"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <caffe2/serialize/inline_container.h>
#include <fmt/format.h>
#include <torch/script.h>
#include <torchstone/model.h>

#include "models/core/tree.h"
#include "models/formats/first_line.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"
#include "models/formats/record_sizes.h"

namespace torchstone::formats {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& text) {
  throw std::runtime_error(fmt::format("{}: {}", path, text));
}

void require_zip(const std::string& path, const std::string& expected) {
  if (!std::filesystem::is_regular_file(path)) refuse(path, "no such file");
  std::ifstream stream(path, std::ios::binary);
  std::string start(4, '\0');
  if (!stream.read(start.data(), 4) || start != "PK\3\4") refuse(path, "no zip archive; expected " + expected);
}

torch::jit::Module load_script(const std::string& path) {
  const std::string expected = "a TorchScript module as torch.jit.save writes it";
  require_zip(path, expected);
  try {
    caffe2::serialize::PyTorchStreamReader archive(path);
    require_possible_sizes(archive, std::filesystem::file_size(path));
    return torch::jit::load(path, torch::kCPU);
  } catch (const std::invalid_argument& error) {
    refuse(path, error.what());
  } catch (const std::exception& error) {
    refuse(path, fmt::format("expected {}, not a state_dict, a pickled model or a truncated file ({})", expected,
                             first_line(error)));
  }
}

Tensors load_inputs(const std::string& path) {
  const auto value = read_pt(path);
  if (!value.isTensor() && !value.isTuple() && !value.isList())
    refuse(path, fmt::format("holds a {}, expected a list or tuple of tensors", describe(value)));
  Tensors inputs;
  for (const auto& element : value.isTensor() ? std::vector<Child>{{"", value}} : children_of(value)) {
    if (!element.value.isTensor())
      refuse(path, fmt::format("element {} is {}, expected a tensor", element.step, describe(element.value)));
    inputs.push_back(element.value.toTensor());
  }
  if (inputs.empty()) refuse(path, "holds no tensor");
  return inputs;
}

/// Children, parameters and buffers of a script module under their names, the same tensors: what casts or moves one
/// casts or moves the other.
void mirror(const torch::jit::Module& script, torch::nn::Module& target) {
  for (const auto& item : script.named_parameters(/*recurse=*/false)) {
    target.register_parameter(item.name, item.value, item.value.requires_grad());
  }
  for (const auto& item : script.named_buffers(/*recurse=*/false)) target.register_buffer(item.name, item.value);
  for (const auto& item : script.named_children()) {
    const auto child = std::make_shared<torch::nn::Module>(item.name);
    mirror(item.value, *child);
    target.register_module(item.name, child);
  }
}

torch::Tensor another(const torch::Tensor& example) {
  if (example.is_floating_point()) {
    const auto mean = example.mean();
    return mean + torch::randn_like(example) * (example - mean).square().mean().sqrt();
  }
  return example.flatten().index_select(0, torch::randperm(example.numel())).view(example.sizes());
}

class ScriptModel : public Model {
 public:
  ScriptModel(torch::jit::Module script, Tensors inputs) : script_(std::move(script)), inputs_(std::move(inputs)) {
    mirror(script_, *this);
  }

  c10::IValue forward(const Tensors& inputs) override {
    return script_.forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  }

  Tensors example_inputs(const ModelOptions&) const override {
    Tensors inputs;
    for (const auto& input : inputs_) inputs.push_back(asked_ ? another(input) : input.clone());
    asked_ = true;
    return inputs;
  }

  const torch::jit::Module* script() const override { return &script_; }

  void train(bool on = true) override {
    Model::train(on);
    script_.train(on);
  }

 private:
  torch::jit::Module script_;
  Tensors inputs_;
  mutable bool asked_ = false;
};

}  // namespace

ModelInfo script_model_info(const std::string& path, const std::string& inputs_path) {
  const auto inputs = load_inputs(inputs_path);
  load_script(path);  // the factory reads it again for every model; a bad file is reported here
  const auto batch = inputs[0].dim() > 0 ? inputs[0].size(0) : 1;
  ModelInfo info;
  info.name = model_name_of(path);
  info.family = "script";
  info.suites = {"own"};
  info.train_batch = batch;
  info.eval_batch = batch;
  info.fixed_batch = true;
  info.file = path;
  info.make = [path, inputs](const ModelOptions&) -> std::shared_ptr<Model> {
    return std::make_shared<ScriptModel>(load_script(path), inputs);
  };
  return info;
}

}  // namespace torchstone::formats
