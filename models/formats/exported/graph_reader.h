#pragma once
#include <string>
#include <unordered_map>

#include "models/formats/exported/pt2_program.h"

namespace torchstone::formats::exported {

/// The values of a graph by name.
class Scope {
 public:
  /// Throws std::invalid_argument at `place` when the name is taken.
  void define(const std::string& name, Argument value, const JsonPlace& place);
  /// Throws std::invalid_argument at `place` when the name is not defined yet.
  const Argument& find(const std::string& name, const JsonPlace& place) const;

 private:
  std::unordered_map<std::string, Argument> values_;
};

/// Reads an Argument of the schema. `expected` is the type that the operator's parameter has, or nullptr. A dtype or
/// device equal to the program's follows the model. Throws std::invalid_argument for kinds that no operator of LibTorch
/// takes (graphs, custom objects).
Argument read_argument(const JsonPlace& argument, c10::TypePtr expected, const Scope& scope, const Program& program);

/// Returns the call of an operator, with arguments in the order of its schema. Arguments that the node omits have the
/// schema's defaults. A tensor that is made without a device or dtype has the model's. Throws std::invalid_argument for
/// an unknown operator, and for unknown and missing arguments.
Step call_of(const JsonPlace& node, const JsonPlace& graph, const Scope& scope, const Program& program);

/// Returns the function that computes a number from numbers or from the sizes of a tensor (`_operator.mul`,
/// `torch.ops.aten.sym_size.int`), or that checks one (`torch.ops.aten._assert_scalar.default`). Returns nullptr for
/// any other target. Division and remainder round as Python's do. The functions throw std::invalid_argument for values
/// of other kinds, for a division by zero and for an assertion that fails.
NumberFunction number_function(const std::string& target);

/// Reads the nodes of a graph into steps. The program's dtype and device are known.
class GraphReader {
 public:
  explicit GraphReader(Program& program) : program_(program) {}

  /// Returns a new slot as a value.
  Argument fresh();
  /// Appends the steps of the graph's nodes. `scope` holds its inputs and receives its values. Throws
  /// std::invalid_argument with place and name for what cannot be run.
  void read(const JsonPlace& graph, Scope& scope);
  /// Returns the values that the graph returns.
  std::vector<Argument> outputs(const JsonPlace& graph, const Scope& scope) const;

 private:
  void read_node(const JsonPlace& node, const JsonPlace& graph, Scope& scope);
  void read_call(const JsonPlace& node, const JsonPlace& graph, Scope& scope);
  void read_region(const JsonPlace& node, Scope& scope, Step enter, size_t graph_index, bool detach);
  std::vector<Result> results(const JsonPlace& node, Scope& scope);
  int defined(const JsonPlace& output, Scope& scope);

  Program& program_;
};

/// An input of the graph as the program's signature describes it.
struct InputDescription {
  ProgramInput input{};
  std::string graph_name{};  ///< empty for a constant, which is stored in the graph
  bool tensor = false;
  JsonPlace place;
};

/// Reads the inputs of a signature. Throws std::invalid_argument for custom objects and tokens.
std::vector<InputDescription> read_inputs(const JsonPlace& specs);

/// Divides the values that the graph returns into the program's outputs and mutations. Throws std::invalid_argument for
/// a graph that returns gradients or tokens, for another number of values, and for unknown targets.
void read_outputs(const JsonPlace& specs, const std::vector<Argument>& values, Program& program);

}  // namespace torchstone::formats::exported
