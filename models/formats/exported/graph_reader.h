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
  /// Throws std::invalid_argument at `place` when there is none: it is defined later, or nowhere.
  const Argument& find(const std::string& name, const JsonPlace& place) const;

 private:
  std::unordered_map<std::string, Argument> values_;
};

/// What the arguments of a program's export are compared with to make them follow the model.
struct Exported {
  c10::ScalarType dtype = c10::kFloat;
  at::DeviceType device = at::kCPU;
};

/// Whether an argument is a number where a tensor may stand as well.
bool is_number(const JsonPlace& argument);

/// Reads an Argument of the schema. `expected` is the type that the operator's parameter has, or nullptr. Throws
/// std::invalid_argument for kinds that no operator of LibTorch takes (graphs, custom objects).
Argument read_argument(const JsonPlace& argument, c10::TypePtr expected, const Scope& scope, const Exported& exported);

/// The call of an operator, its arguments in the order of its schema: those that the node leaves out have the schema's
/// defaults, and a tensor that is made without a device or dtype has those of the model. Throws std::invalid_argument
/// for an operator that is not there, for arguments that it does not have, and for those that it lacks.
Step call_of(const JsonPlace& node, const JsonPlace& graph, const Scope& scope, const Exported& exported);

/// Remembers in `program` a step that says by its arguments that the program was exported in train or eval mode.
void note_mode(const Step& step, Program& program);

/// The function that computes a number from numbers or from the sizes of a tensor (`_operator.mul`,
/// `torch.ops.aten.sym_size.int`), or that checks one (`torch.ops.aten._assert_scalar.default`); nullptr for any other
/// target. Division and remainder round as Python's do. The functions throw std::invalid_argument for values of other
/// kinds, for a division by zero and for an assertion that fails.
NumberFunction number_function(const std::string& target);

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
