#include "models/formats/traced_place.h"

#include <memory>

#include <fmt/format.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

void set_scope(jit::Node& node, const std::string& module) {
  node.setScope(c10::make_intrusive<jit::Scope>()->push(c10::Symbol::fromQualString("scope::" + module)));
}

/// A range in the form of a trace by Python, which python_place() (script_graph.h) reads.
jit::SourceRange range_of(const std::string& source) {
  const auto colon = source.rfind(':');
  const std::string text = fmt::format("{}({}): forward\n", source.substr(0, colon),
                                       colon == std::string::npos ? "" : source.substr(colon + 1));
  return {std::make_shared<jit::Source>(text), 0, text.size()};
}

/// The module that is called `name` in `module` or, where a script has gone there by attributes, the only one below.
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

/// Whether `forward` is a script that calls those of submodules; the trace of a model in C++ is one list.
bool calls_modules(const jit::Module& module) {
  const auto method = module.find_method("forward");
  if (!method) return false;
  for (const jit::Node* node : jit::toGraphFunction(method->function()).graph()->nodes())
    if (node->kind() == c10::prim::CallMethod) return true;
  return false;
}

/// The module that calls lead to, each by the name of its instance; where one of them is not known, that before it.
std::string module_of_calls(const std::vector<std::string>& instances, const jit::Module& module) {
  std::string path;
  for (const auto& name : instances) {
    if (name == "TOP" || name == "SELF") continue;  // of the model, or another method of the same module
    const std::string below = step_down(module, path, name);
    if (below.empty()) return path;
    path = below;
  }
  return path.empty() ? own_forward : path;
}

/// "conv" of "conv(Conv2d)::forward" (torch/csrc/jit/runtime/interpreter.cpp, moduleHierarchy).
std::string instance_of(const std::string& call) { return call.substr(0, call.find('(')); }

/// The script that the interpreter runs under a tracer: the tracer calls a plain function for each node.
thread_local const jit::Module* script_under_tracer = nullptr;

void record_place(jit::Node* node) {
  const auto stack = jit::currentCallstack();
  if (stack.empty() || script_under_tracer == nullptr) return;
  node->setSourceRange(stack.front().range);  // the innermost
  std::vector<std::string> instances;
  for (const auto& call : jit::currentModuleHierarchy()) instances.push_back(instance_of(call));
  if (const std::string module = module_of_calls(instances, *script_under_tracer); !module.empty())
    set_scope(*node, module);
}

}  // namespace

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
