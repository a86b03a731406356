#include "models/operators/operator_log.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

namespace torchstone::operators {
namespace {

constexpr std::string_view operator_mark = "Operator: ", count_mark = "cnt: ";

struct At {
  const std::string& file;
  int line;
};

[[noreturn]] void fail(const At& at, size_t column, const std::string& what) {
  throw LogError(fmt::format("{}:{}:{}: {}", at.file, at.line, column, what));
}

std::string read_name(std::string_view line, const At& at) {
  std::string name(line.substr(operator_mark.size()));
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  const auto dots = std::count(name.begin(), name.end(), '.');
  const bool whole = dots == 2 && name.front() != '.' && name.back() != '.' && name.find("..") == std::string::npos;
  if (!whole || name.size() > 150 || !std::all_of(name.begin(), name.end(), is_allowed))
    fail(at, operator_mark.size() + 1,
         fmt::format("'{}' is not an operator (expected one like aten.add.Tensor)", name.substr(0, 150)));
  return name == "aten.sum.SymInt" ? "aten.sum.dim_IntList" : name;
}

/// Removes the quotes that some logs put around the arguments.
std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

LoggedInput read_input(std::string_view line, const At& at) {
  LoggedInput input;
  input.file = at.file;
  input.line = at.line;
  const char* end = line.data() + line.size();
  const auto count = std::from_chars(line.data() + count_mark.size(), end, input.count);
  const size_t behind = static_cast<size_t>(count.ptr - line.data());
  if (count.ec != std::errc{} || input.count < 1) fail(at, count_mark.size() + 1, "no count (expected an integer ≥ 1)");
  if (!line.substr(behind).starts_with(", "))
    fail(at, behind + 1, "unexpected text after the count (expected a comma and a space)");
  const std::string_view rest = line.substr(behind + 2);
  const std::string_view arguments = unquoted(rest);
  const size_t offset = static_cast<size_t>(arguments.data() - line.data());
  Literal pair;
  try {
    pair = parse_literal(arguments);
  } catch (const LiteralError& error) {
    fail(at, offset + error.column, error.what());
  }
  const bool right = pair.kind == Literal::Kind::tuple && pair.items.size() == 2 &&
                     pair.items[0].kind == Literal::Kind::tuple && pair.items[1].kind == Literal::Kind::dict;
  if (!right) fail(at, offset + 1, "no arguments (expected ((positional…), {named…}))");
  input.positional = std::move(pair.items[0]);
  input.named = std::move(pair.items[1]);
  return input;
}

std::string key_of(const LoggedInput& input) { return to_text(input.positional) + to_text(input.named); }

/// Adds inputs to operators in the order of their first appearance.
class Collector {
 public:
  explicit Collector(std::vector<LoggedOperator>& log) : log_(log) {
    for (size_t i = 0; i < log.size(); ++i) {
      operators_[log[i].name] = i;
      for (size_t k = 0; k < log[i].inputs.size(); ++k) inputs_[log[i].name + key_of(log[i].inputs[k])] = k;
    }
  }

  void add(const std::string& name) {
    if (operators_.try_emplace(name, log_.size()).second) log_.push_back({name, {}});
  }

  void add(const std::string& name, LoggedInput input) {
    add(name);
    auto& inputs = log_[operators_.at(name)].inputs;
    const auto [known, fresh] = inputs_.try_emplace(name + key_of(input), inputs.size());
    if (fresh)
      inputs.push_back(std::move(input));
    else
      inputs[known->second].count += input.count;
  }

 private:
  std::vector<LoggedOperator>& log_;
  std::map<std::string, size_t> operators_, inputs_;
};

struct Rule {
  std::vector<std::string> parts;  ///< of the name
  const char* reason;
};

const std::vector<Rule> rules{
    {{"embedding", "pool2d_with_indices_backward", "pool3d_with_indices_backward", "max_unpool", "aten._index_put",
      "aten.scatter."},
     "its indices cannot be drawn at random"},
    {{"aten.gather.default", "nll_loss", "aten.index", "aten.scatter_", "masked_fill_.Scalar"},
     "upstream has no inputs for it"},
    {{"_unsafe_view"}, "it computes nothing"},
    {{"convolution"}, "upstream leaves convolutions out"},
    {{"aten.native_dropout.", "aten.dropout", "aten.bernoulli", "aten.rand", "aten.normal", "aten.uniform",
      "aten.exponential", "aten.multinomial", "aten.rrelu_with_noise."},
     "it generates random numbers, which differ between compilers"},
    {{"aten.empty", "aten.new_empty"}, "it returns uninitialised memory"}};

}  // namespace

std::vector<LoggedOperator> parse_operator_log(const std::string& text, const std::string& file) {
  std::vector<LoggedOperator> log;
  Collector collector(log);
  std::istringstream lines(text);
  std::string line, name;
  for (int number = 1; std::getline(lines, line); ++number) {
    const At at{file, number};
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) continue;
    if (line.starts_with(operator_mark)) {
      name = read_name(line, at);
      collector.add(name);
    } else if (!line.starts_with(count_mark)) {
      fail(at, 1, fmt::format("'{}' (expected 'Operator: ' or 'cnt: ')", line.substr(0, 20)));
    } else if (name.empty()) {
      fail(at, 1, "an input before the first operator (expected 'Operator: ')");
    } else {
      collector.add(name, read_input(line, at));
    }
  }
  if (log.empty()) throw LogError(fmt::format("{}: holds no operator (expected lines 'Operator: …')", file));
  return log;
}

std::vector<LoggedOperator> read_operator_log(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) throw LogError(fmt::format("{}: cannot be read, or is empty", file));
  return parse_operator_log(text.str(), file);
}

void merge_logs(std::vector<LoggedOperator>& log, const std::vector<LoggedOperator>& other) {
  Collector collector(log);
  for (const auto& logged : other) {
    collector.add(logged.name);
    for (const auto& input : logged.inputs) collector.add(logged.name, input);
  }
}

std::string write_operator_log(std::vector<LoggedOperator> log) {
  std::sort(log.begin(), log.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string text;
  for (const auto& logged : log) {
    text += fmt::format("{}{}\n", operator_mark, logged.name);
    for (const auto& input : logged.inputs)
      text += fmt::format("{}{}, ({}, {})\n", count_mark, input.count, to_text(input.positional), to_text(input.named));
  }
  return text;
}

std::optional<std::string> operator_skip_reason(const std::string& name) {
  for (const auto& rule : rules)
    for (const auto& part : rule.parts)
      if (name.find(part) != std::string::npos) return rule.reason;
  return std::nullopt;
}

}  // namespace torchstone::operators
