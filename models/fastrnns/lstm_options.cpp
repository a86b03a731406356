#include "models/fastrnns/lstm_options.h"

#include <fmt/format.h>
#include <torch/csrc/jit/codegen/fuser/interface.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

namespace torchstone::fastrnns {

namespace {

namespace jit = torch::jit;

void set_profiling(bool executor, bool mode) {
  jit::getExecutorMode() = executor;
  jit::getProfilingMode() = mode;
}

void set_fuser(Fuser fuser) {
  if (fuser == Fuser::untouched) return;
  const bool te = fuser == Fuser::te;
  set_profiling(te, te);
  if (fuser != Fuser::old) jit::overrideCanFuseOnCPU(false);
  jit::overrideCanFuseOnGPU(fuser != Fuser::none);
  jit::setTensorExprFuserEnabled(te);
}

}  // namespace

RecurrentFlags& recurrent_flags() {
  static RecurrentFlags flags;
  return flags;
}

RecurrentSizes recurrent_sizes(Preset preset) {
  const RecurrentSizes of_preset =
      preset == Preset::full ? RecurrentSizes{100, 1, 512, 512} : RecurrentSizes{5, 1, 16, 16};
  const RecurrentFlags& flags = recurrent_flags();
  return {flags.steps.value_or(of_preset.steps), flags.layers.value_or(of_preset.layers),
          flags.input.value_or(of_preset.input), flags.hidden.value_or(of_preset.hidden)};
}

void set_executor(Fuser fuser, Executor executor) {
  set_fuser(fuser);
  if (executor != Executor::untouched) set_profiling(executor != Executor::legacy, executor == Executor::profiling);
}

std::string executor_in_force() {
  const auto text = [](bool on) { return on ? "on" : "off"; };
  return fmt::format("profiling executor {}, profiling mode {}, fuse on CPU {}, fuse on GPU {}, TensorExpr fuser {}",
                     text(jit::getExecutorMode()), text(jit::getProfilingMode()), text(jit::canFuseOnCPU()),
                     text(jit::canFuseOnGPU()), text(jit::tensorExprFuserEnabled()));
}

}  // namespace torchstone::fastrnns
