#pragma once
#include <string>
#include <unordered_map>

#include "models/formats/exported/program.h"

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

}  // namespace torchstone::formats::exported
