#pragma once
#include <torch/script.h>

namespace torchstone::fastrnns {

/// The TorchScript functions of the runners, compiled once a process. Each `NAME(x, h, c, weights)` of the runners of
/// fixed length returns (output, h, c), `jit_simple` (h, c); see models/fastrnns/scripts.cpp.
const torch::jit::CompilationUnit& lstm_scripts();

}  // namespace torchstone::fastrnns
