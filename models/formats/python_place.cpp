#include "models/formats/python_place.h"

#include <filesystem>
#include <memory>
#include <ranges>
#include <regex>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

constexpr std::string_view opening = "The following operation failed in the TorchScript interpreter.";
constexpr std::string_view original_code = "Traceback of TorchScript, original code";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto line : std::views::split(text, '\n')) lines.emplace_back(line.begin(), line.end());
  return lines;
}

/// Returns aten::add for `torch.add(…` and torchvision::nms for `ops.torchvision.nms(…`; empty for anything else.
std::string operator_at(const std::string& code) {
  static const std::regex pattern(R"(^(?:torch|ops\.(\w+))\.(\w+)\()");
  std::smatch found;
  if (!std::regex_search(code, found, pattern)) return "";
  return fmt::format("{}::{}", found[1].matched ? found[1].str() : "aten", found[2].str());
}

/// Returns the innermost call of the serialised code, which LibTorch underlines: "   ~~~~~ <--- HERE".
std::string operator_of(const std::vector<std::string>& lines) {
  std::string found;
  for (size_t i = 1; i < lines.size() && !lines[i].starts_with(original_code); ++i) {
    const size_t column = lines[i].find('~');
    if (column == std::string::npos || !lines[i].ends_with("<--- HERE") || column >= lines[i - 1].size()) continue;
    found = operator_at(lines[i - 1].substr(column));
  }
  return found;
}

/// Returns the innermost line of the user's Python. Stacks of scripted functions list it last (`File "net.py", line 5,
/// in forward`). Stacks of traced functions list it first (`net.py(5): forward`) and end with `<module>`.
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
    if (file.find("/torch/") == std::string::npos && (script || first_of_stack)) {
      found = fmt::format("{}:{}", std::filesystem::path(file).filename().string(), part[2].str());
      in_stack = !script;
    }
    if (!script && part[3] == "<module>") in_stack = false;
  }
  return found;
}

/// Returns the first line of the error that ends the text: "RuntimeError: message of the operator".
std::string cause_of(const std::vector<std::string>& lines) {
  static const std::regex kind(R"(^[A-Za-z_][\w.]*: )");
  for (const auto& line : lines) {
    std::smatch part;
    if (!std::regex_search(line, part, kind) || line.find("(most recent call last)") != std::string::npos) continue;
    return line.starts_with("RuntimeError") ? part.suffix().str() : line;
  }
  return "";
}

void set_scope(jit::Node& node, const std::string& module) {
  node.setScope(c10::make_intrusive<jit::Scope>()->push(c10::Symbol::fromQualString("scope::" + module)));
}

/// Returns a range in the form of a trace by Python, which innermost_python_place() reads.
jit::SourceRange range_of(const std::string& source) {
  const auto colon = source.rfind(':');
  const std::string text = fmt::format("{}({}): forward\n", source.substr(0, colon),
                                       colon == std::string::npos ? "" : source.substr(colon + 1));
  return {std::make_shared<jit::Source>(text), 0, text.size()};
}

/// Returns the path of the submodule `name` below `path`: a direct child, or else the only descendant of that name.
std::string step_down(const jit::Module& module, const std::string& path, const std::string& name) {
  std::string found;
  const std::string above = path.empty() ? "" : path + ".";
  for (const auto& part : module.named_modules()) {
    if (part.name == above + name) return part.name;
    if (!part.name.starts_with(above) || !part.name.ends_with("." + name)) continue;
    if (!found.empty()) return "";
    found = part.name;
  }
  return found;
}

/// Returns whether `forward` calls submodules, as scripts do. The trace of a C++ model has no calls.
bool calls_modules(const jit::Module& module) {
  const auto method = module.find_method("forward");
  if (!method) return false;
  for (const jit::Node* node : jit::toGraphFunction(method->function()).graph()->nodes())
    if (node->kind() == c10::prim::CallMethod) return true;
  return false;
}

/// Returns the module that a chain of calls reaches. Stops at the first unknown instance.
std::string module_of_calls(const std::vector<std::string>& instances, const jit::Module& module) {
  std::string path;
  for (const auto& name : instances) {
    if (name == "TOP" || name == "SELF") continue;  // the model, or another method of the same module
    const std::string below = step_down(module, path, name);
    if (below.empty()) return path;
    path = below;
  }
  return path.empty() ? own_forward : path;
}

/// The script that the interpreter runs under a tracer. A global, because the tracer calls a plain function per node.
thread_local const jit::Module* script_under_tracer = nullptr;

void record_place(jit::Node* node) {
  const auto stack = jit::currentCallstack();
  if (stack.empty() || script_under_tracer == nullptr) return;
  node->setSourceRange(stack.front().range);  // the innermost
  std::vector<std::string> instances;
  // "conv(Conv2d)::forward" (torch/csrc/jit/runtime/interpreter.cpp, moduleHierarchy)
  for (const auto& call : jit::currentModuleHierarchy()) instances.push_back(call.substr(0, call.find('(')));
  if (const std::string module = module_of_calls(instances, *script_under_tracer); !module.empty())
    set_scope(*node, module);
}

}  // namespace

std::string innermost_python_place(const std::string& stack) { return place_in_python(lines_of(stack)); }

std::string with_cause_first(const std::string& message) {
  const size_t begin = message.find(opening);
  if (begin == std::string::npos) return message;
  const std::string text = message.substr(begin);
  const auto lines = lines_of(text);
  const std::string cause = cause_of(lines), name = operator_of(lines), place = place_in_python(lines);
  if (cause.empty()) return message;
  return fmt::format("{}{}{}{}{}\n{}", message.substr(0, begin), name, name.empty() ? "" : ": ", cause,
                     place.empty() ? "" : fmt::format(" ({})", place), text);
}

TracedPlace::TracedPlace(std::string module, std::string source)
    : module_(std::move(module)), source_(std::move(source)) {
  if (const auto& state = jit::tracer::getTracingState()) last_ = state->graph->return_node()->prev();
}

TracedPlace::~TracedPlace() {
  const auto& state = jit::tracer::getTracingState();
  if (last_ == nullptr || !state) return;
  const jit::Node* end = state->graph->return_node();
  for (jit::Node* node = last_->next(); node != end; node = node->next()) {
    if (!module_.empty()) set_scope(*node, module_);
    if (!source_.empty()) node->setSourceRange(range_of(source_));
  }
}

TracedScript::TracedScript(const jit::Module& script) : before_(script_under_tracer) {
  if (!jit::tracer::isTracing()) return;
  script_under_tracer = &script;
  jit::tracer::setRecordSourceLocation(record_place);
}

TracedScript::~TracedScript() { script_under_tracer = before_; }

std::string module_of_node(const jit::Node& node, const jit::Module& module) {
  if (const std::string scope = node.scopeName(); !scope.empty()) return scope;
  const auto calls = node.callstack();
  if (!calls) return calls_modules(module) ? own_forward : "";
  std::vector<std::string> instances;
  for (const auto& [function, range, instance] : (*calls)->vec())
    if (instance) instances.push_back(instance->instance_name());
  return module_of_calls(instances, module);
}

}  // namespace torchstone::formats
