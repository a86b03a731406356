#include "models/operators/literal.h"

#include <cmath>

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

// As Python prints it: the fewest digits that give the same number, and always a mark that it is no integer.
std::string number_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
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

}  // namespace torchstone::operators
