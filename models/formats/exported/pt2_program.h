#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/formats/exported/json_place.h"
#include "models/formats/exported/pt2_archive.h"

namespace torchstone::formats::exported {

/// Structure of the arguments or the result of forward (a TreeSpec of torch.utils._pytree).
struct TreeSpec {
  enum class Kind { leaf, tuple, list, dict };
  Kind kind = Kind::leaf;
  std::string type{};               ///< its name in Python: builtins.dict, transformers.….ModelOutput
  std::vector<c10::IValue> keys{};  ///< of a dict: distinct texts or distinct integers
  std::vector<TreeSpec> children{};

  size_t leaves() const;
};

/// Reads the text of a TreeSpec. Named tuples, dataclasses and other classes that were registered with the names of
/// their fields become dicts; other classes become tuples. `fields` holds the names for named
/// tuples (`treespec_namedtuple_fields`).
TreeSpec read_tree_spec(const JsonPlace& text, const std::optional<JsonPlace>& fields);

/// Returns the leaves of `value` in the order of the spec. Throws std::invalid_argument if their structures differ.
std::vector<c10::IValue> leaves_of(const c10::IValue& value, const TreeSpec& spec);
/// Returns the tree with these leaves. Throws std::invalid_argument if the spec has another number of leaves.
c10::IValue tree_of(const TreeSpec& spec, const std::vector<c10::IValue>& leaves);

/// An argument of an operator. The values of a program have numbers ("slots") instead of names.
struct Argument {
  /// `device` and `dtype` are the model's current ones instead of the export's. `dropout_rate` is the constant, or the
  /// rate that replaces it.
  enum class Kind { constant, slot, list, device, dtype, dropout_rate };
  /// The type that a value is converted to for the operator. Python converts implicitly.
  enum class As { unchanged, number, tensor };
  Kind kind = Kind::constant;
  c10::IValue constant{};
  int slot = -1;
  std::vector<Argument> items{};
  c10::TypePtr element{};  ///< of a list
  As as = As::unchanged;
};

/// Slots of a value that an operator returns, or of the elements of a list.
struct Result {
  int slot = -1;  ///< -1: unused
  bool list = false;
  std::vector<int> elements{};
};

using NumberFunction = c10::IValue (*)(const std::vector<c10::IValue>& arguments);

/// One step of a program. `wrap_with_set_grad_enabled` and `wrap_with_autocast` of torch.export are inlined between a
/// step that enters the region and one that leaves it. Results of a region without gradients are detached, because a
/// tracer records no regions.
struct Step {
  enum class Action { call, number, enter_grad_mode, enter_autocast, leave, detach };
  Action action = Action::call;
  std::optional<c10::OperatorHandle> op{};
  NumberFunction number = nullptr;
  std::vector<Argument> arguments{};
  std::vector<Result> results{};
  std::vector<int> last_uses{};  ///< slots that are emptied after the step
  std::string place{};           ///< operator and place in the user's source, for errors
  std::string module{};          ///< whose forward calls it: "layers.0.conv"
  std::string source{};          ///< "model.py:12"
};

/// An input of the graph.
struct ProgramInput {
  enum class Source { parameter, buffer, constant, user };
  Source source = Source::user;
  std::string name{};  ///< dotted name of a parameter, a buffer or a constant; name in the graph of a user's tensor
  int slot = -1;       ///< -1: an unused input of the user
};

/// A value that is written back into `target` after the program has run.
struct Mutation {
  int target = -1;
  Argument value{};
};

/// A size of a user's tensor, as it was exported: a number, or a symbol by name.
struct InputSize {
  int64_t hint = 0;
  std::string symbol{};     ///< empty for a number
  bool expression = false;  ///< of symbols, rather than one symbol
};

struct Range {
  int64_t least = 0, most = INT64_MAX;
};

/// An exported program that was checked: each value is defined before it is used, and each operator exists.
struct Program {
  std::vector<Step> steps{};
  std::vector<ProgramInput> inputs{};
  std::vector<Mutation> mutations{};
  std::vector<Argument> outputs{};
  TreeSpec in_spec{}, out_spec{};
  int slots = 0;
  std::vector<std::vector<InputSize>> user_sizes{};  ///< of each user input; empty for a number
  std::map<std::string, Range> ranges{};             ///< by symbol
  std::optional<size_t> loss{};                      ///< index of the output that the signature marks as the loss
  c10::ScalarType dtype = c10::kFloat;               ///< floating-point dtype of the export
  at::DeviceType device = at::kCPU;                  ///< of the export
  std::string torch_version{};
  std::string location{};   ///< path of the archive and name within it; empty path: a stream
  size_t dropouts = 0;      ///< steps with a rate between 0 and 1
  size_t dtypes = 0;        ///< arguments of Kind::dtype
  std::string trains{};     ///< a step that was exported in train mode; empty: none
  std::string evaluates{};  ///< a step that was exported in eval mode; empty: none
  std::string text{};       ///< graph, signature and ranges of the record, without source locations
};

/// Reads and checks models/NAME.json. Throws std::invalid_argument with the place in it and what was expected. Refuses
/// other major versions of the schema, values that are used before they are defined, operators and higher-order
/// operators that cannot run, sizes that depend on values, and custom objects.
Program read_program(Archive& archive, const std::string& name);
/// Reads the program in a parsed record.
Program read_program(const JsonPlace& root);

/// Settings of a run that replace the export's.
struct Placement {
  c10::Device device = c10::kCPU;
  c10::ScalarType dtype = c10::kFloat;
  std::optional<double> dropout_rate{};  ///< replaces the rates of the program
  bool training = false;                 ///< gradients are computed, now or later from a trace
};

/// Start of a run's name, before the program's location, for LibTorch's observers (RecordFunction, USER_SCOPE).
inline constexpr std::string_view scope_of_run = "torchstone.exported_program ";

/// Runs the steps of a program through LibTorch's dispatcher, so that tracers and autocast apply to them as to any
/// model. `inputs` are the values of program.inputs. Returns the values of the outputs. Throws std::runtime_error with
/// operator and place in the user's source. Out-of-memory errors keep their type.
std::vector<c10::IValue> run_program(const Program& program, const std::vector<c10::IValue>& inputs,
                                     const Placement& placement);

}  // namespace torchstone::formats::exported
