// Parser of the notation of operator logs.
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "models/operators/literal.h"

namespace torchstone::operators {
namespace {

constexpr int deepest = 64;

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Literal whole() {
    Literal value = parse(0);
    skip_blanks();
    if (at_ < text_.size()) refuse("the end of the line");
    return value;
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    const auto found = at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 20)) : "the end of the line";
    throw LiteralError(at_ + 1, fmt::format("{} (expected {})", found, expected));
  }

  char peek() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  Literal parse(int depth) {
    if (depth > deepest) refuse(fmt::format("at most {} nested brackets", deepest));
    const char c = peek();
    if (c == '(') return sequence(Literal::Kind::tuple, ')', depth);
    if (c == '[') return sequence(Literal::Kind::list, ']', depth);
    if (c == '{') return dict(depth);
    if (c == '\'' || c == '"') return quoted();
    if (starts_name(c)) return name(depth);
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return number();
    refuse("a value");
  }

  // Parses what follows the opening bracket: values separated by commas, with an optional comma after the last.
  template <typename Item>
  void separated(char close, Item item) {
    ++at_;
    while (!take(close)) {
      item();
      if (take(',')) continue;
      if (peek() != close) refuse(fmt::format("a comma or {}", close));
    }
  }

  Literal sequence(Literal::Kind kind, char close, int depth) {
    Literal value{kind};
    const size_t open = at_;
    separated(close, [&] { value.items.push_back(parse(depth + 1)); });
    // As in Python, parentheses around one value without a comma are not a tuple.
    if (kind == Literal::Kind::tuple && value.items.size() == 1 && !comma_before_close(open)) {
      Literal inner = std::move(value.items.front());
      return inner;
    }
    return value;
  }

  bool comma_before_close(size_t open) const {
    const size_t last = text_.find_last_not_of(" \t", at_ - 2);
    return last != std::string_view::npos && last > open && text_[last] == ',';
  }

  Literal dict(int depth) {
    Literal value{Literal::Kind::dict};
    separated('}', [&] {
      if (peek() != '\'' && peek() != '"') refuse("a quoted key");
      std::string key = quoted().text;
      if (!take(':')) refuse("a colon");
      value.entries.emplace_back(std::move(key), parse(depth + 1));
    });
    return value;
  }

  Literal quoted() {
    Literal value{Literal::Kind::text};
    const char quote = text_[at_++];
    for (;;) {
      if (at_ >= text_.size()) refuse(fmt::format("a closing {}", quote));
      const char c = text_[at_++];
      if (c == quote) return value;
      if (c == '\\') {
        if (at_ >= text_.size()) refuse("a character after the backslash");
        const char escaped = text_[at_++];
        value.text += escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
      } else {
        value.text += c;
      }
    }
  }

  std::string word() {
    const size_t begin = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Literal name(int depth) {
    const size_t begin = at_;
    Literal value{Literal::Kind::name};
    value.text = word();
    if (peek() == '(') return call(std::move(value.text), depth);
    if (value.text == "None") return {};
    if (value.text == "True" || value.text == "False") return {Literal::Kind::boolean, value.text == "True"};
    if (value.text == "inf" || value.text == "nan" || value.text == "math.inf") return infinite(value.text, 1);
    const bool dotted = value.text.starts_with("torch.") || value.text.starts_with("th.");
    if (!dotted && !find_dtype(value.text)) {
      at_ = begin;
      refuse("a dtype (f32, i64, …), None, True, False, inf, torch.…, T(…) or ST(…)");
    }
    return value;
  }

  Literal call(std::string function, int depth) {
    if (function != "T" && function != "ST" && function != "torch.device" && function != "th.device")
      refuse("T(…), ST(…) or torch.device(…)");
    Literal value{Literal::Kind::call};
    value.text = std::move(function);
    const size_t begin = at_;
    separated(')', [&] {
      peek();
      const size_t before = at_;
      const std::string key = starts_name(peek()) ? word() : "";
      if (!key.empty() && take('=')) {
        value.entries.emplace_back(key, parse(depth + 1));
      } else {
        at_ = before;
        value.items.push_back(parse(depth + 1));
      }
    });
    if (value.text.ends_with("device")) {  // only the type of a device matters
      if (value.items.size() + value.entries.size() == 0) refuse("the type of the device");
      Literal type = value.items.empty() ? value.entries.front().second : value.items.front();
      if (type.kind != Literal::Kind::text) refuse("the type of the device as text");
      return type;
    }
    try {
      tensor_spec_of(value);
    } catch (const std::invalid_argument& error) {
      throw LiteralError(begin, error.what());
    }
    return value;
  }

  static Literal infinite(const std::string& word, double sign) {
    Literal value{Literal::Kind::number};
    value.number =
        sign * (word == "nan" ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity());
    return value;
  }

  Literal number() {
    const size_t begin = at_;
    const double sign = text_[at_] == '-' ? -1 : 1;
    if (text_[at_] == '-' || text_[at_] == '+') ++at_;
    if (at_ < text_.size() && starts_name(text_[at_])) {
      const size_t name_begin = at_;
      const std::string rest = word();
      if (rest == "inf" || rest == "nan") return infinite(rest, sign);
      at_ = name_begin;
      refuse("a number");
    }
    const char* digits = text_.data() + at_;  // from_chars knows no plus
    const char* end = text_.data() + text_.size();
    Literal value{Literal::Kind::integer};
    const char* start = sign < 0 ? digits - 1 : digits;
    const auto whole = std::from_chars(start, end, value.integer);
    const bool fraction = whole.ptr < end && (*whole.ptr == '.' || *whole.ptr == 'e' || *whole.ptr == 'E');
    if (whole.ec == std::errc{} && !fraction) {
      at_ = static_cast<size_t>(whole.ptr - text_.data());
      return value;
    }
    value = Literal{Literal::Kind::number};
    const auto real = std::from_chars(start, end, value.number);
    if (real.ec != std::errc{}) {
      at_ = begin;
      refuse("a number that fits");
    }
    at_ = static_cast<size_t>(real.ptr - text_.data());
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Literal parse_literal(std::string_view text) { return Parser(text).whole(); }

}  // namespace torchstone::operators
