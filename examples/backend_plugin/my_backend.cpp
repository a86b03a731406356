// A backend of one's own: the captured program with its weights folded into the graph, run by TorchScript's
// interpreter.
#include <torchstone/backend.h>

using namespace torchstone;

struct Folded : Compiled {
  explicit Folded(Captured captured) : program(std::move(captured)), module(torch::jit::freeze(program.module)) {}

  c10::IValue execute(const Tensors& inputs) override {
    const torch::NoGradGuard no_grad;
    if (checked()) check_inputs(inputs, program.example);
    const Autocast autocast(program.mode, inputs);
    return program.rebuilt(module.forward({inputs.begin(), inputs.end()}));
  }

  Captured program;
  torch::jit::Module module;
};

struct FoldedBackend : Backend {
  std::optional<std::string> wrong_option(const std::string& /*key*/, const std::string& /*value*/) const override {
    return "folded takes no option";
  }
  std::optional<std::string> unsupported(const Case& c) const override {
    if (c.mode == Mode::training) return "folded: the weights are constants, which cannot be trained";
    return device_unsupported(c);
  }
  std::unique_ptr<Compiled> compile(Captured program, const Case&) const override {
    try {
      return std::make_unique<Folded>(std::move(program));
    } catch (const c10::Error& error) {
      throw CompileError(error.what_without_backtrace());
    }
  }
};

TORCHSTONE_BACKEND(folded, FoldedBackend);
