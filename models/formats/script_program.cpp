#include "models/formats/script_program.h"

#include <stdexcept>
#include <utility>

#include <c10/util/Exception.h>

#include "models/formats/interpreter_error.h"
#include "models/formats/script_dropout.h"
#include "models/formats/traced_place.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

jit::Module with_public_convolutions(jit::Module module) {
  use_public_convolutions(module);
  return module;
}

[[noreturn]] void throw_with_cause(const std::string& text) {
  const std::string message = with_cause_first(text);
  // The interpreter makes a plain error of each: only the text tells that there was no memory.
  const bool no_memory = message.substr(0, message.find('\n')).find("out of memory") != std::string::npos;
  TORCH_CHECK_WITH(OutOfMemoryError, !no_memory, message);
  throw std::runtime_error(message);
}

}  // namespace

ScriptProgram::ScriptProgram(jit::Module module)
    : module_(with_public_convolutions(std::move(module))),
      own_dtype_(floating_dtype_of(module_)),
      code_(inlined_forward(module_), "forward") {}

ForeignDevices ScriptProgram::place(std::optional<torch::Device> device, std::optional<torch::Dtype> dtype) {
  if (device) device_ = *device;
  if (dtype) dtype_ = dtype;
  ForeignDevices foreign = move_constants(module_, device_, dtype_, own_dtype_);
  prepare();
  return foreign;
}

/// Returns the number of dropouts whose rate was changed.
size_t ScriptProgram::prepare() {
  const auto graph = inlined_forward(module_);
  const size_t count = dropout_rate_ ? formats::set_dropout_rate(*graph, *dropout_rate_) : 0;
  code_ = jit::Code(graph, "forward");
  return count;
}

size_t ScriptProgram::set_dropout_rate(double rate) {
  dropout_rate_ = rate;
  return prepare();
}

c10::IValue ScriptProgram::run(const Tensors& inputs) const {
  jit::Stack stack{module_._ivalue()};
  stack.insert(stack.end(), inputs.begin(), inputs.end());
  module_.get_method("forward").function().getSchema().checkAndNormalizeInputs(stack, {});
  const TracedScript places(module_);
  try {
    jit::InterpreterState(code_).run(stack);
  } catch (const c10::Error& error) {
    throw_with_cause(error.what_without_backtrace());
  } catch (const std::exception& error) {
    throw_with_cause(error.what());
  }
  return stack.at(0);
}

SavedMode ScriptProgram::mode() const { return saved_mode(*code_.graph()); }

}  // namespace torchstone::formats
