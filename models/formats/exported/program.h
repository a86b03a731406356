#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include "models/formats/exported/tree_spec.h"

namespace torchstone::formats::exported {

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
  std::string module{};          ///< in whose forward it is called: "layers.0.conv" (module_path.h)
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

}  // namespace torchstone::formats::exported
