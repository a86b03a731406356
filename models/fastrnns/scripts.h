#pragma once
#include <torch/script.h>

namespace torchstone::fastrnns {

/// The TorchScript functions of the runners, compiled once in each process. A function `NAME(x, h, c, weights)` returns
/// (output, h, c), `jit_simple` returns (h, c); see models/fastrnns/scripts.cpp.
const torch::jit::CompilationUnit& lstm_scripts();

}  // namespace torchstone::fastrnns
