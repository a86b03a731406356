#pragma once
#include "models/formats/exported/argument_reader.h"

namespace torchstone::formats::exported {

/// The Argument of a node's input.
JsonPlace argument_at(const JsonPlace& node, size_t index);

/// Reads the nodes of a graph into steps.
class GraphReader {
 public:
  explicit GraphReader(Program& program) : program_(program), exported_{program.dtype, program.device} {}

  /// A new slot as a value.
  Argument fresh();
  /// Appends the steps of the graph's nodes. `scope` holds its inputs and receives its values. Throws
  /// std::invalid_argument with place and name for what cannot be run.
  void read(const JsonPlace& graph, Scope& scope);
  /// What the graph returns.
  std::vector<Argument> outputs(const JsonPlace& graph, const Scope& scope) const;
  const Exported& exported() const { return exported_; }

 private:
  void read_node(const JsonPlace& node, const JsonPlace& graph, Scope& scope);
  void read_call(const JsonPlace& node, const JsonPlace& graph, Scope& scope);
  void read_region(const JsonPlace& node, Scope& scope, Step enter, size_t graph_index, bool detach);
  std::vector<Result> results(const JsonPlace& node, Scope& scope);
  int defined(const JsonPlace& output, Scope& scope);

  Program& program_;
  Exported exported_;
};

}  // namespace torchstone::formats::exported
