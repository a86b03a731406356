// A custom backend: the captured program with its weights folded into the graph, run by TorchScript's interpreter.
#include <torchstone/backend.h>

using namespace torchstone;

TORCHSTONE_BACKEND(folded, [](const Program& program, const CompileOptions&) -> CompiledFunction {
  return [module = torch::jit::freeze(program.module)](const Tensors& inputs) mutable {
    return module.forward({inputs.begin(), inputs.end()});
  };
});
