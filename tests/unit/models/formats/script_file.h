#pragma once
#include <fstream>
#include <string>

#include <torch/script.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/formats/model_file.h"
#include "tests/temporary_folder.h"

namespace torchstone::formats {

/// TorchScript file with a weight [4, 3], a `forward` in TorchScript, and a file with its inputs.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& forward, const Tensors& inputs) {
    torch::jit::Module module("net");
    module.register_parameter("weight", torch::ones({4, 3}, torch::requires_grad()), false);
    module.register_attribute("training", c10::BoolType::get(), true);
    module.define(forward);
    save(module, inputs);
  }
  ScriptFile(const torch::jit::Module& module, const Tensors& inputs, const torch::jit::ExtraFilesMap& extra = {}) {
    save(module, inputs, extra);
  }

  ModelInfo info() const { return script_model_info(path("net.pt"), path("inputs.pt")); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  void save(const torch::jit::Module& module, const Tensors& inputs,
            const torch::jit::ExtraFilesMap& extra = {}) const {
    module.save(path("net.pt"), extra);
    const auto bytes = torch::pickle_save(c10::List<torch::Tensor>(inputs));
    std::ofstream(path("inputs.pt"), std::ios::binary) << std::string(bytes.begin(), bytes.end());
  }
  TemporaryFolder folder_;
};

/// Returns the first line of the error of `action`, or an empty string if there is none.
template <typename Action>
std::string first_line_of_error(const Action& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    return text.substr(0, text.find('\n'));
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
  return "";
}

}  // namespace torchstone::formats
