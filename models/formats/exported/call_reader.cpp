// Calls of operators in an exported graph: their overloads, arguments and defaults.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {
namespace {

Argument constant(c10::IValue value) { return {.constant = std::move(value)}; }

c10::TypePtr without_optional(const c10::TypePtr& type) {
  const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
  return optional ? optional->getElementType() : type;
}

c10::TypePtr element_of(const c10::TypePtr& type) {
  const auto list = type ? type->cast<c10::ListType>() : nullptr;
  return list ? list->getElementType() : nullptr;
}

bool is(const c10::TypePtr& type, c10::TypeKind kind) { return type && type->kind() == kind; }

/// Converts an argument as Python does: an integer to a float, and a number to a tensor.
Argument converted(Argument argument, const c10::TypePtr& type) {
  if (is(type, c10::TypeKind::TensorType)) argument.as = Argument::As::tensor;
  if (is(type, c10::TypeKind::FloatType)) argument.as = Argument::As::number;
  if (argument.kind == Argument::Kind::constant && argument.as == Argument::As::number) {
    if (argument.constant.isInt()) argument.constant = static_cast<double>(argument.constant.toInt());
    argument.as = Argument::As::unchanged;
  }
  return argument;
}

Argument list_of(std::vector<Argument> items, c10::TypePtr element) {
  const auto all_constant =
      std::ranges::all_of(items, [](const Argument& item) { return item.kind == Argument::Kind::constant; });
  if (!all_constant) return {.kind = Argument::Kind::list, .items = std::move(items), .element = std::move(element)};
  c10::impl::GenericList values(element);
  for (const auto& item : items) values.push_back(item.constant);
  return constant(values);
}

template <typename Read>
Argument list_at(const JsonPlace& place, const c10::TypePtr& expected, const c10::TypePtr& otherwise, Read read) {
  const auto element = element_of(expected) ? element_of(expected) : otherwise;
  std::vector<Argument> items;
  for (const auto& item : place.items()) items.push_back(converted(read(item), element));
  return list_of(std::move(items), element);
}

/// Reads a union of a name and a value, such as SymIntArgument.
Argument symbolic(const JsonPlace& place, const Scope& scope) {
  const auto [kind, value] = place.only();
  if (kind == "as_name") return scope.find(value.text(), place);
  if (kind == "as_int") return constant(value.integer());
  if (kind == "as_float") return constant(value.number());
  if (kind == "as_bool") return constant(value.boolean());
  place.fail(fmt::format("{}, expected as_name or a number", kind));
}

Argument optional_tensor(const JsonPlace& place, const Scope& scope) {
  const auto [kind, value] = place.only();
  return kind == "as_none" ? Argument() : scope.find(value.at("name").text(), value);
}

Argument device_at(const JsonPlace& place, const Program& program) {
  const c10::Device device(place.at("type").text());
  Argument argument = constant(device);
  // A program that was exported on an accelerator may keep some tensors on the CPU deliberately.
  if (!device.is_cpu() || program.device == at::kCPU) argument.kind = Argument::Kind::device;
  return argument;
}

Argument dtype_at(const JsonPlace& place, const Program& program) {
  const auto dtype = scalar_type_at(place);
  Argument argument = constant(static_cast<int64_t>(dtype));
  if (dtype == program.dtype) argument.kind = Argument::Kind::dtype;
  return argument;
}

/// Returns whether an argument is a number where a tensor may be given as well.
bool is_number(const JsonPlace& argument) {
  const auto kind = argument.only().first;
  return kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_complex" || kind == "as_sym_int" ||
         kind == "as_sym_float" || kind == "as_sym_bool";
}

using Given = std::map<std::string, JsonPlace>;

std::optional<c10::OperatorHandle> operator_named(const std::string& target) {
  const std::string start = "torch.ops.";
  if (!target.starts_with(start)) return std::nullopt;
  const auto name_end = target.rfind('.'), space_end = target.find('.', start.size());
  if (space_end == std::string::npos || name_end <= space_end) return std::nullopt;
  const std::string space = target.substr(start.size(), space_end - start.size());
  std::string name = target.substr(space_end + 1, name_end - space_end - 1);
  std::string overload = target.substr(name_end + 1);
  if (space == "aten" && name == "lift_fresh_copy") name = "clone";  // equivalent outside torch.compile
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

/// Returns the overload for numbers where the graph passes a number for a tensor: it keeps the number's type out of the
/// result's.
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

/// Returns whether an operator makes tensors without taking any.
bool is_factory(const c10::FunctionSchema& schema) {
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

/// Returns the default of a parameter that the node omits.
Argument default_of(const c10::Argument& parameter, const JsonPlace& node) {
  if (parameter.default_value()) return constant(*parameter.default_value());
  if (parameter.type()->kind() != c10::TypeKind::OptionalType)
    node.fail(fmt::format("{}: the argument {} is missing", node_name(node), parameter.name()));
  return {};
}

}  // namespace

Argument read_argument(const JsonPlace& argument, c10::TypePtr expected, const Scope& scope, const Program& program) {
  expected = without_optional(expected);
  const auto [kind, value] = argument.only();
  const auto name_of = [&](const JsonPlace& item) { return scope.find(item.at("name").text(), item); };
  const auto symbol = [&](const JsonPlace& item) { return symbolic(item, scope); };
  const auto tensor_or_none = [&](const JsonPlace& item) { return optional_tensor(item, scope); };
  if (kind == "as_none") return {};
  if (kind == "as_tensor") return name_of(value);
  if (kind == "as_tensors") return list_at(value, expected, c10::TensorType::get(), name_of);
  if (kind == "as_optional_tensor") return tensor_or_none(value);
  if (kind == "as_optional_tensors") return list_at(value, expected, c10::OptionalType::ofTensor(), tensor_or_none);
  if (kind == "as_int") return converted(constant(value.integer()), expected);
  if (kind == "as_float") return converted(constant(value.number()), expected);
  if (kind == "as_bool") return converted(constant(value.boolean()), expected);
  if (kind == "as_complex")
    return converted(constant(c10::complex<double>(value.at("real").number(), value.at("imag").number())), expected);
  if (kind == "as_string") return constant(value.text());
  if (kind == "as_ints")
    return list_at(value, expected, c10::IntType::get(), [](const auto& item) { return constant(item.integer()); });
  if (kind == "as_floats")
    return list_at(value, expected, c10::FloatType::get(), [](const auto& item) { return constant(item.number()); });
  if (kind == "as_bools")
    return list_at(value, expected, c10::BoolType::get(), [](const auto& item) { return constant(item.boolean()); });
  if (kind == "as_strings")
    return list_at(value, expected, c10::StringType::get(), [](const auto& item) { return constant(item.text()); });
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
    return converted(symbol(value), expected);
  if (kind == "as_sym_ints") return list_at(value, expected, c10::IntType::get(), symbol);
  if (kind == "as_sym_floats") return list_at(value, expected, c10::FloatType::get(), symbol);
  if (kind == "as_sym_bools") return list_at(value, expected, c10::BoolType::get(), symbol);
  if (kind == "as_scalar_type") return dtype_at(value, program);
  if (kind == "as_layout") return constant(static_cast<int64_t>(layout_at(value)));
  if (kind == "as_memory_format") return constant(static_cast<int64_t>(memory_format_at(value)));
  if (kind == "as_device") return device_at(value, program);
  argument.fail(fmt::format("{}: not an argument of an operator of LibTorch", kind.substr(0, 200)));
}

Step call_of(const JsonPlace& node, const JsonPlace& graph, const Scope& scope, const Program& program) {
  const auto found = operator_named(node.at("target").text());
  if (!found) refuse_target(node);
  if (found->schema().name() == "aten::from_file")
    node.fail(fmt::format("{}: programs that open files are not supported", node_name(node)));
  Given given = given_arguments(node);
  Step step;
  step.op = overload_for_numbers(*found, given);
  const auto& schema = step.op->schema();
  const bool factory = is_factory(schema);
  for (const auto& parameter : schema.arguments()) {
    const auto argument = given.find(parameter.name());
    const bool none = argument == given.end() || argument->second.has("as_none");
    if (argument == given.end())
      step.arguments.push_back(default_of(parameter, node));
    else
      step.arguments.push_back(read_argument(argument->second, parameter.type(), scope, program));
    // As Python does, such as for the mask in the gradient of attention.
    if (none && is(parameter.type(), c10::TypeKind::TensorType)) step.arguments.back() = constant(at::Tensor());
    if (none && factory && parameter.name() == "device") step.arguments.back().kind = Argument::Kind::device;
    if (none && factory && parameter.name() == "dtype" && returns_dtype(node, graph, program.dtype))
      step.arguments.back().kind = Argument::Kind::dtype;
    // The dtype of a view tells how to interpret bits. It is not the dtype that the model computes in.
    if (schema.name() == "aten::view" && step.arguments.back().kind == Argument::Kind::dtype)
      step.arguments.back().kind = Argument::Kind::constant;
    if (argument != given.end()) given.erase(argument);
  }
  if (!given.empty())
    given.begin()->second.fail(
        fmt::format("{} has no argument {}", node_name(node), given.begin()->first.substr(0, 200)));
  return step;
}

}  // namespace torchstone::formats::exported
