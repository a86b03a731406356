#include <map>

#include <fmt/format.h>

#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {
namespace {

using Given = std::map<std::string, JsonPlace>;

std::optional<c10::OperatorHandle> operator_named(const std::string& target) {
  const std::string start = "torch.ops.";
  if (!target.starts_with(start)) return std::nullopt;
  const auto name_end = target.rfind('.'), space_end = target.find('.', start.size());
  if (space_end == std::string::npos || name_end <= space_end) return std::nullopt;
  const std::string space = target.substr(start.size(), space_end - start.size());
  std::string name = target.substr(space_end + 1, name_end - space_end - 1);
  std::string overload = target.substr(name_end + 1);
  if (space == "aten" && name == "lift_fresh_copy") name = "clone";  // the same outside of torch.compile
  if (overload == "default") overload.clear();
  return c10::Dispatcher::singleton().findSchema({space + "::" + name, overload});
}

Given given_arguments(const JsonPlace& node) {
  Given given;
  for (const auto& input : node.at("inputs").items()) {
    const auto name = input.at("name").text();
    if (!given.emplace(name, input.at("arg")).second) input.fail(fmt::format("{} is given twice", name));
  }
  return given;
}

bool takes_tensor(const c10::Argument& parameter) {
  return parameter.type()->isSubtypeOf(*c10::OptionalType::ofTensor());
}

/// Python has a number for a tensor; the overload for numbers keeps its type out of the result's.
c10::OperatorHandle overload_for_numbers(const c10::OperatorHandle& op, const Given& given) {
  bool numbers = false;
  for (const auto& parameter : op.schema().arguments()) {
    const auto found = given.find(parameter.name());
    numbers |= found != given.end() && takes_tensor(parameter) && is_number(found->second);
  }
  std::string overload = op.schema().overload_name();
  if (!numbers || !overload.starts_with("Tensor")) return op;
  overload.replace(0, 6, "Scalar");
  const auto other = c10::Dispatcher::singleton().findSchema({op.schema().name(), overload});
  if (!other) return op;
  for (const auto& [name, argument] : given) {
    const auto index = other->schema().argumentIndexWithName(name);
    if (!index || (takes_tensor(other->schema().arguments()[static_cast<size_t>(*index)]) && is_number(argument)))
      return op;
  }
  return *other;
}

bool makes_tensor_from_nothing(const c10::FunctionSchema& schema) {
  for (const auto& parameter : schema.arguments()) {
    if (takes_tensor(parameter) || parameter.type()->isSubtypeOf(*c10::ListType::ofTensors())) return false;
  }
  return true;
}

bool returns_dtype(const JsonPlace& node, const JsonPlace& graph, c10::ScalarType dtype) {
  const auto outputs = node.at("outputs").items();
  if (outputs.size() != 1 || !outputs[0].has("as_tensor")) return false;
  const auto name = outputs[0].at("as_tensor").at("name").text();
  const auto values = graph.at("tensor_values");
  return values.has(name) && scalar_type_at(values.at(name).at("dtype")) == dtype;
}

Argument left_out(const c10::Argument& parameter, const JsonPlace& node) {
  Argument argument;
  if (parameter.default_value())
    argument.constant = *parameter.default_value();
  else if (parameter.type()->kind() != c10::TypeKind::OptionalType)
    node.fail(fmt::format("{}: its argument {} is missing", node_name(node), parameter.name()));
  return argument;
}

}  // namespace

Step call_of(const JsonPlace& node, const JsonPlace& graph, const Scope& scope, const Exported& exported) {
  const auto found = operator_named(node.at("target").text());
  if (!found) refuse_target(node);
  if (found->schema().name() == "aten::from_file")
    node.fail(fmt::format("{}: a program that opens files is not run", node_name(node)));
  Given given = given_arguments(node);
  Step step;
  step.op = overload_for_numbers(*found, given);
  const auto& schema = step.op->schema();
  const bool factory = makes_tensor_from_nothing(schema);
  for (const auto& parameter : schema.arguments()) {
    const auto argument = given.find(parameter.name());
    const bool none = argument == given.end() || argument->second.has("as_none");
    if (argument == given.end())
      step.arguments.push_back(left_out(parameter, node));
    else
      step.arguments.push_back(read_argument(argument->second, parameter.type(), scope, exported));
    if (none && factory && parameter.name() == "device") step.arguments.back().kind = Argument::Kind::device;
    if (none && factory && parameter.name() == "dtype" && returns_dtype(node, graph, exported.dtype))
      step.arguments.back().kind = Argument::Kind::dtype;
    // The dtype of a view says how bits are read: it is no dtype that the model computes in.
    if (schema.name() == "aten::view" && step.arguments.back().kind == Argument::Kind::dtype)
      step.arguments.back().kind = Argument::Kind::constant;
    if (argument != given.end()) given.erase(argument);
  }
  if (!given.empty())
    given.begin()->second.fail(
        fmt::format("{} has no argument {}", node_name(node), given.begin()->first.substr(0, 200)));
  return step;
}

void note_mode(const Step& step, Program& program) {
  const auto& parameters = step.op->schema().arguments();
  const auto constant = [&](const char* name) -> const c10::IValue* {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].name() == name && step.arguments[i].kind == Argument::Kind::constant)
        return &step.arguments[i].constant;
    }
    return nullptr;
  };
  const auto* flag = constant("train") ? constant("train") : constant("training");
  if (!flag || !flag->isBool()) return;
  const auto* rate = constant("p");
  if (rate && rate->isDouble() && rate->toDouble() == 0) return;
  // Batch norm without running statistics has the batch's in both modes.
  const auto* statistics = constant("running_mean");
  if (statistics && statistics->isNone()) return;
  auto& noted = flag->toBool() ? program.trains : program.evaluates;
  if (noted.empty()) noted = step.place;
}

}  // namespace torchstone::formats::exported
