#include "models/operators/literal.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace torchstone::operators {
namespace {

std::string joined(const std::vector<Literal>& items) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(to_text(item));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
    } else {
      if (c == '\'' || c == '\\') result += '\\';
      result += c;
    }
  }
  return result + "'";
}

// Prints a number as Python does: with the fewest digits that give the same number, and always as a float.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::vector<int64_t> integers_of(const Literal& literal, const char* what) {
  if (literal.kind != Literal::Kind::list && literal.kind != Literal::Kind::tuple)
    throw std::invalid_argument(fmt::format("{} {} (expected a list of integers)", what, to_text(literal)));
  std::vector<int64_t> values;
  for (const auto& item : literal.items) {
    if (item.kind != Literal::Kind::integer || item.integer < 0)
      throw std::invalid_argument(fmt::format("{} {} (expected integers ≥ 0)", what, to_text(literal)));
    values.push_back(item.integer);
  }
  return values;
}

}  // namespace

std::string to_text(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::none:
      return "None";
    case Literal::Kind::boolean:
      return literal.boolean ? "True" : "False";
    case Literal::Kind::integer:
      return std::to_string(literal.integer);
    case Literal::Kind::number:
      return number_text(literal.number);
    case Literal::Kind::text:
      return quoted(literal.text);
    case Literal::Kind::name:
      return literal.text;
    case Literal::Kind::list:
      return "[" + joined(literal.items) + "]";
    case Literal::Kind::tuple:
      return "(" + joined(literal.items) + (literal.items.size() == 1 ? ",)" : ")");
    case Literal::Kind::dict: {
      std::vector<std::string> texts;
      for (const auto& [key, value] : literal.entries) texts.push_back(quoted(key) + ": " + to_text(value));
      return fmt::format("{{{}}}", fmt::join(texts, ", "));
    }
    case Literal::Kind::call: {
      std::vector<std::string> texts;
      for (const auto& item : literal.items) texts.push_back(to_text(item));
      for (const auto& [key, value] : literal.entries) texts.push_back(key + "=" + to_text(value));
      return fmt::format("{}({})", literal.text, fmt::join(texts, ", "));
    }
  }
  return "";
}

bool is_tensor(const Literal& literal) { return literal.kind == Literal::Kind::call; }

TensorSpec tensor_spec_of(const Literal& call) {
  TensorSpec spec;
  spec.sparse = call.text == "ST";
  const size_t most = spec.sparse ? 5 : 3;
  if (call.items.size() < (spec.sparse ? 4U : 2U) || call.items.size() > most)
    throw std::invalid_argument(
        fmt::format("{} (expected {})", to_text(call),
                    spec.sparse ? "ST([sizes], dtype, layout, coalesced[, nnz])" : "T([sizes], dtype[, stride=(…)])"));
  spec.sizes = integers_of(call.items[0], "sizes");
  const DTypeName* dtype = call.items[1].kind == Literal::Kind::name ? find_dtype(call.items[1].text) : nullptr;
  if (!dtype) throw std::invalid_argument(fmt::format("{} (expected a dtype: f32, i64, …)", to_text(call.items[1])));
  spec.dtype = dtype->name;
  const Literal* stride = !spec.sparse && call.items.size() == 3 ? &call.items[2] : nullptr;
  for (const auto& [key, value] : call.entries) {
    if (spec.sparse || key != "stride" || stride)
      throw std::invalid_argument(fmt::format("{}= in {} (expected one stride=(…))", key, to_text(call)));
    stride = &value;
  }
  if (stride && stride->kind != Literal::Kind::none) {
    spec.strides = integers_of(*stride, "stride");
    if (spec.strides.size() != spec.sizes.size())
      throw std::invalid_argument(
          fmt::format("{} strides for {} sizes in {}", spec.strides.size(), spec.sizes.size(), to_text(call)));
  }
  return spec;
}

const std::vector<DTypeName>& dtype_table() {
  static const std::vector<DTypeName> table{
      {"bf16", "bfloat16"}, {"f64", "float64"},     {"f32", "float32"}, {"f16", "float16"}, {"c32", "complex32"},
      {"c64", "complex64"}, {"c128", "complex128"}, {"i8", "int8"},     {"i16", "int16"},   {"i32", "int32"},
      {"i64", "int64"},     {"b8", "bool"},         {"u8", "uint8"}};
  return table;
}

const DTypeName* find_dtype(const std::string& name) {
  static const std::vector<std::pair<std::string, std::string>> alternative_names{
      {"half", "float16"}, {"float", "float32"}, {"double", "float64"}, {"long", "int64"}, {"int", "int32"}};
  std::string wanted = name;
  for (const char* prefix : {"torch.", "th."})
    if (name.starts_with(prefix)) wanted = name.substr(std::string(prefix).size());
  const bool dotted = wanted != name;
  for (const auto& [alternative, name_of_torch] : alternative_names)
    if (dotted && wanted == alternative) wanted = name_of_torch;
  const auto& table = dtype_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const DTypeName& entry) {
    return dotted ? wanted == entry.name : wanted == entry.brief;
  });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace torchstone::operators
