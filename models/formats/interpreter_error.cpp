#include "models/formats/interpreter_error.h"

#include <cctype>
#include <filesystem>
#include <optional>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace torchstone::formats {
namespace {

constexpr std::string_view opening = "The following operation failed in the TorchScript interpreter.";
constexpr std::string_view original_code = "Traceback of TorchScript, original code";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// `torch.add(…` is aten::add, `ops.torchvision.nms(…` torchvision::nms; empty for anything else.
std::string operator_at(const std::string& code) {
  static const std::regex pattern(R"(^(?:torch|ops\.(\w+))\.(\w+)\()");
  std::smatch found;
  if (!std::regex_search(code, found, pattern)) return "";
  return fmt::format("{}::{}", found[1].matched ? found[1].str() : "aten", found[2].str());
}

/// The innermost call of the serialised code, which LibTorch underlines: "   ~~~~~ <--- HERE".
std::string operator_of(const std::vector<std::string>& lines) {
  std::string found;
  for (size_t i = 1; i < lines.size() && !lines[i].starts_with(original_code); ++i) {
    const size_t column = lines[i].find('~');
    if (column == std::string::npos || !lines[i].ends_with("<--- HERE") || column >= lines[i - 1].size()) continue;
    found = operator_at(lines[i - 1].substr(column));
  }
  return found;
}

bool of_torch(const std::string& file) { return file.find("/torch/") != std::string::npos; }

/// The innermost line of the user's Python: of a scripted function (`File "net.py", line 5, in forward`, the innermost
/// comes last), or of a traced one (`net.py(5): forward`, the innermost comes first, and `<module>` ends a stack).
std::string place_in_python(const std::vector<std::string>& lines) {
  static const std::regex scripted(R"rx(^  File "([^"]+)", line (\d+)(?:, in |$))rx"),
      traced(R"rx(^(\S.*)\((\d+)\): (\S+)$)rx");
  std::string found;
  bool in_stack = false, in_original = false;
  for (const auto& line : lines) {
    in_original = in_original || line.starts_with(original_code);
    std::smatch part;
    const bool script = std::regex_search(line, part, scripted);
    if (!script && !std::regex_match(line, part, traced)) continue;
    const std::string file = part[1].str();
    if (script && !in_original && file.starts_with("code/")) continue;  // within the archive
    const bool first_of_stack = !in_stack;
    if (!of_torch(file) && (script || first_of_stack)) {
      found = fmt::format("{}:{}", std::filesystem::path(file).filename().string(), part[2].str());
      in_stack = !script;
    }
    if (!script && part[3] == "<module>") in_stack = false;
  }
  return found;
}

/// "RuntimeError: what the operator says" is the last part, of any number of lines.
std::string cause_of(const std::string& text, const std::vector<std::string>& lines) {
  static const std::regex kind(R"(^[A-Za-z_][\w.]*: )");
  size_t offset = 0, found = std::string::npos;
  for (const auto& line : lines) {
    std::smatch part;
    const bool names_error =
        std::regex_search(line, part, kind) && line.find("(most recent call last)") == std::string::npos;
    if (names_error && found == std::string::npos) {
      const std::string name = part.str();
      found = offset + (name.starts_with("RuntimeError") ? name.size() : 0);
    }
    offset += line.size() + 1;
  }
  if (found == std::string::npos) return "";
  const std::string cause = text.substr(found);
  return cause.substr(0, cause.find('\n'));
}

}  // namespace

std::string innermost_python_place(const std::string& stack) { return place_in_python(lines_of(stack)); }

std::string with_cause_first(const std::string& message) {
  const size_t begin = message.find(opening);
  if (begin == std::string::npos) return message;
  const std::string text = message.substr(begin);
  const auto lines = lines_of(text);
  const std::string cause = cause_of(text, lines), name = operator_of(lines), place = place_in_python(lines);
  if (cause.empty()) return message;
  return fmt::format("{}{}{}{}{}\n{}", message.substr(0, begin), name, name.empty() ? "" : ": ", cause,
                     place.empty() ? "" : fmt::format(" ({})", place), text);
}

}  // namespace torchstone::formats
