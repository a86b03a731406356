#pragma once
#include <torch/csrc/jit/ir/ir.h>

namespace torchstone::formats {

/// Replaces the rate of each dropout in the graph that is a constant between 0 and 1, unless the graph says that it
/// drops nothing. Returns how many there are.
size_t set_dropout_rate(torch::jit::Graph& graph, double rate);

}  // namespace torchstone::formats
