#include <algorithm>

#include <fmt/format.h>

#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/json_place.h"

namespace torchstone::formats::exported {
namespace {

Argument constant(c10::IValue value) {
  Argument argument;
  argument.constant = std::move(value);
  return argument;
}

c10::TypePtr without_optional(const c10::TypePtr& type) {
  const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
  return optional ? optional->getElementType() : type;
}

c10::TypePtr element_of(const c10::TypePtr& type) {
  const auto list = type ? type->cast<c10::ListType>() : nullptr;
  return list ? list->getElementType() : nullptr;
}

bool is(const c10::TypePtr& type, c10::TypeKind kind) { return type && type->kind() == kind; }

/// Python takes an integer for a float, and a number for a tensor.
Argument fitted(Argument argument, const c10::TypePtr& type) {
  if (is(type, c10::TypeKind::TensorType)) argument.as = Argument::As::tensor;
  if (is(type, c10::TypeKind::FloatType)) argument.as = Argument::As::number;
  if (argument.kind == Argument::Kind::constant && argument.as == Argument::As::number) {
    if (argument.constant.isInt()) argument.constant = static_cast<double>(argument.constant.toInt());
    argument.as = Argument::As::it_is;
  }
  return argument;
}

Argument list_of(std::vector<Argument> items, c10::TypePtr element) {
  Argument list;
  list.kind = Argument::Kind::list;
  list.element = std::move(element);
  const auto all_constant =
      std::ranges::all_of(items, [](const Argument& item) { return item.kind == Argument::Kind::constant; });
  if (!all_constant) {
    list.items = std::move(items);
    return list;
  }
  c10::impl::GenericList values(list.element);
  for (const auto& item : items) values.push_back(item.constant);
  return constant(values);
}

template <typename Read>
Argument list_at(const JsonPlace& place, const c10::TypePtr& expected, const c10::TypePtr& otherwise, Read read) {
  const auto element = element_of(expected) ? element_of(expected) : otherwise;
  std::vector<Argument> items;
  for (const auto& item : place.items()) items.push_back(fitted(read(item), element));
  return list_of(std::move(items), element);
}

/// A union of a name and a value: SymIntArgument and its like.
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

Argument device_at(const JsonPlace& place, const Exported& exported) {
  const c10::Device device(place.at("type").text());
  Argument argument = constant(device);
  // A program that was exported on an accelerator may keep something on the CPU on purpose.
  if (!device.is_cpu() || exported.device == at::kCPU) argument.kind = Argument::Kind::device;
  return argument;
}

Argument dtype_at(const JsonPlace& place, const Exported& exported) {
  const auto dtype = scalar_type_at(place);
  Argument argument = constant(static_cast<int64_t>(dtype));
  if (dtype == exported.dtype) argument.kind = Argument::Kind::dtype;
  return argument;
}

}  // namespace

void Scope::define(const std::string& name, Argument value, const JsonPlace& place) {
  if (!values_.emplace(name, std::move(value)).second)
    place.fail(fmt::format("\"{}\" is defined twice", name.substr(0, 200)));
}

const Argument& Scope::find(const std::string& name, const JsonPlace& place) const {
  const auto found = values_.find(name);
  if (found == values_.end()) place.fail(fmt::format("\"{}\" is used before it is defined", name.substr(0, 200)));
  return found->second;
}

bool is_number(const JsonPlace& argument) {
  const auto kind = argument.only().first;
  return kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_complex" || kind == "as_sym_int" ||
         kind == "as_sym_float" || kind == "as_sym_bool";
}

Argument read_argument(const JsonPlace& argument, c10::TypePtr expected, const Scope& scope, const Exported& exported) {
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
  if (kind == "as_int") return fitted(constant(value.integer()), expected);
  if (kind == "as_float") return fitted(constant(value.number()), expected);
  if (kind == "as_bool") return fitted(constant(value.boolean()), expected);
  if (kind == "as_complex")
    return fitted(constant(c10::complex<double>(value.at("real").number(), value.at("imag").number())), expected);
  if (kind == "as_string") return constant(value.text());
  if (kind == "as_ints")
    return list_at(value, expected, c10::IntType::get(), [](const auto& item) { return constant(item.integer()); });
  if (kind == "as_floats")
    return list_at(value, expected, c10::FloatType::get(), [](const auto& item) { return constant(item.number()); });
  if (kind == "as_bools")
    return list_at(value, expected, c10::BoolType::get(), [](const auto& item) { return constant(item.boolean()); });
  if (kind == "as_strings")
    return list_at(value, expected, c10::StringType::get(), [](const auto& item) { return constant(item.text()); });
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return fitted(symbol(value), expected);
  if (kind == "as_sym_ints") return list_at(value, expected, c10::IntType::get(), symbol);
  if (kind == "as_sym_floats") return list_at(value, expected, c10::FloatType::get(), symbol);
  if (kind == "as_sym_bools") return list_at(value, expected, c10::BoolType::get(), symbol);
  if (kind == "as_scalar_type") return dtype_at(value, exported);
  if (kind == "as_layout") return constant(static_cast<int64_t>(layout_at(value)));
  if (kind == "as_memory_format") return constant(static_cast<int64_t>(memory_format_at(value)));
  if (kind == "as_device") return device_at(value, exported);
  argument.fail(fmt::format("{}: no argument that an operator of LibTorch takes", kind.substr(0, 200)));
}

}  // namespace torchstone::formats::exported
