#pragma once
#include "models/formats/exported/program.h"

namespace torchstone::formats::exported {

/// An input of the graph as the program's signature describes it.
struct InputDescription {
  ProgramInput input{};
  std::string graph_name{};  ///< empty for a constant, which the graph has within itself
  bool tensor = false;
  JsonPlace place;
};

/// Throws std::invalid_argument for custom objects and tokens.
std::vector<InputDescription> read_inputs(const JsonPlace& specs);

/// Sorts what the graph returns into the program's outputs and mutations. Throws std::invalid_argument for a graph that
/// returns gradients or tokens, and for numbers and targets that do not fit.
void read_outputs(const JsonPlace& specs, const std::vector<Argument>& values, Program& program);

}  // namespace torchstone::formats::exported
