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

/// The structure of what forward takes or returns (a TreeSpec of torch.utils._pytree).
struct TreeSpec {
  enum class Kind { leaf, tuple, list, dict };
  Kind kind = Kind::leaf;
  std::string type{};               ///< Python's name of it: builtins.dict, transformers.….ModelOutput
  std::vector<c10::IValue> keys{};  ///< of a dict: text or integers, all of one kind, each once
  std::vector<TreeSpec> children{};

  size_t leaves() const;
};

/// Reads the text of a TreeSpec. A named tuple, a dataclass and any other class that was registered with the names of
/// its fields is a dict; one without them is a tuple. `fields` holds those of named tuples
/// (`treespec_namedtuple_fields`).
TreeSpec read_tree_spec(const JsonPlace& text, const std::optional<JsonPlace>& fields);

/// The leaves of `value`, in the order of the spec. Throws std::invalid_argument where `value` is built otherwise.
std::vector<c10::IValue> leaves_of(const c10::IValue& value, const TreeSpec& spec);
/// The tree with these leaves; as many as the spec has.
c10::IValue tree_of(const TreeSpec& spec, const std::vector<c10::IValue>& leaves);

/// What an operator takes. The values of a program have numbers ("slots") instead of names.
struct Argument {
  /// `device` and `dtype` are those that the model was moved to: a program holds those of its export. `dropout_rate` is
  /// the constant, or what the model was given instead.
  enum class Kind { constant, slot, list, device, dtype, dropout_rate };
  /// What a value is changed to that the operator takes otherwise: Python does so by itself.
  enum class As { it_is, number, tensor };
  Kind kind = Kind::constant;
  c10::IValue constant{};
  int slot = -1;
  std::vector<Argument> items{};
  c10::TypePtr element{};  ///< of a list
  As as = As::it_is;
};

/// Slots of what an operator returns: one value, or the elements of a list.
struct Result {
  int slot = -1;  ///< -1: nobody uses it
  bool list = false;
  std::vector<int> elements{};
};

using NumberFunction = c10::IValue (*)(const std::vector<c10::IValue>& arguments);

/// One step of a program. `wrap_with_set_grad_enabled` and `wrap_with_autocast` of torch.export are inlined: a step
/// enters them, and one leaves. Values that leave a region without gradients are detached, because a tracer records no
/// regions.
struct Step {
  enum class Action { call, number, enter_grad_mode, enter_autocast, leave, detach };
  Action action = Action::call;
  std::optional<c10::OperatorHandle> op{};
  NumberFunction number = nullptr;
  std::vector<Argument> arguments{};
  std::vector<Result> results{};
  std::vector<int> last_uses{};  ///< slots that are emptied after the step
  std::string place{};           ///< operator and place in the user's source, for errors
  std::string module{};          ///< in whose forward it is called: "layers.0.conv"
  std::string source{};          ///< "model.py:12"
};

/// Where an input of the graph comes from.
struct ProgramInput {
  enum class Source { parameter, buffer, constant, user };
  Source source = Source::user;
  std::string name{};  ///< dotted name of a parameter, a buffer or a constant; the graph's of a user's tensor
  int slot = -1;       ///< -1: a user's input that the graph does not use
  bool persistent = true;
};

/// A value that is written back into `target` when the program has run.
struct Mutation {
  int target = -1;
  Argument value{};
};

/// A tensor that the user gives, as it was exported: a size is a number, or a symbol by name.
struct InputSize {
  int64_t hint = 0;
  std::string symbol{};     ///< empty for a number
  bool expression = false;  ///< of symbols, rather than one symbol
};

struct Range {
  int64_t least = 0, most = INT64_MAX;
};

/// An exported program, checked: each value is defined before it is used, each operator is there.
struct Program {
  std::vector<Step> steps{};
  std::vector<ProgramInput> inputs{};
  std::vector<Mutation> mutations{};
  std::vector<Argument> outputs{};
  TreeSpec in_spec{}, out_spec{};
  int slots = 0;
  std::vector<std::vector<InputSize>> user_sizes{};  ///< of each user input; empty for what is no tensor
  std::map<std::string, Range> ranges{};             ///< of the symbols
  std::optional<size_t> loss{};                      ///< the output that the program's signature calls the loss
  c10::ScalarType dtype = c10::kFloat;               ///< the floating-point dtype that it was exported in
  at::DeviceType device = at::kCPU;                  ///< on which it was exported
  std::string torch_version{};
  std::string origin{};     ///< path of the archive and name within it; empty path: a stream
  size_t dropouts = 0;      ///< steps that drop in training
  size_t dtypes = 0;        ///< arguments of Kind::dtype
  std::string trains{};     ///< a step of which the export says that it trains; empty: none
  std::string evaluates{};  ///< one that evaluates
  std::string text{};       ///< graph, signature and ranges of the record, without places in the source
};

/// Reads and checks models/NAME.json. Throws std::invalid_argument with the place in it and what was expected: another
/// major version of the schema, values that are used before they are defined, operators and higher-order operators that
/// cannot be run, sizes that depend on values, custom objects.
Program read_program(Archive& archive, const std::string& name);
/// The same from the parsed record.
Program read_program(const JsonPlace& root);

/// Where and in what a program runs instead of where and in what it was exported.
struct Placement {
  c10::Device device = c10::kCPU;
  c10::ScalarType dtype = c10::kFloat;
  std::optional<double> dropout_rate{};  ///< instead of the rates of the program
  bool training = false;  ///< gradients are computed now, or later from what a tracer records without them
};

/// What the name of a run begins with, before the program's origin, for LibTorch's observers (RecordFunction,
/// USER_SCOPE).
inline constexpr std::string_view scope_of_run = "torchstone.exported_program ";

/// Runs the steps of a program by LibTorch's dispatcher, so that a tracer or autocast sees them as they see any
/// model's. `inputs` are the values of program.inputs. Returns the values of the outputs. Throws std::runtime_error
/// with operator and place in the user's source; a lack of memory stays one.
std::vector<c10::IValue> run_program(const Program& program, const std::vector<c10::IValue>& inputs,
                                     const Placement& placement);

}  // namespace torchstone::formats::exported
