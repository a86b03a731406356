#include "models/formats/script_program.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include "models/core/file_program.h"
#include "models/core/model_state.h"
#include "models/formats/python_place.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;
namespace attr = c10::attr;
namespace prim = c10::prim;

/// Calls `action` with each node of a block and its inner blocks. It may destroy the node.
void each_node(jit::Block& block, const std::function<void(jit::Node&)>& action) {
  for (auto it = block.nodes().begin(); it != block.nodes().end();) {
    jit::Node& node = **it++;
    for (jit::Block* inner : node.blocks()) each_node(*inner, action);
    action(node);
  }
}

/// Adds `function` and the functions with graphs that it can reach, each once.
void add_function(jit::Function* function, std::vector<jit::GraphFunction*>& found) {
  auto* with_graph = function == nullptr ? nullptr : jit::tryToGraphFunction(*function);
  if (with_graph == nullptr || std::ranges::find(found, with_graph) != found.end()) return;
  found.push_back(with_graph);
  each_node(*with_graph->graph()->block(), [&](jit::Node& node) {
    if (node.kind() == prim::CallFunction) {
      if (const auto type = node.input(0)->type()->cast<c10::FunctionType>()) add_function(type->function(), found);
    } else if (node.kind() == prim::CallMethod) {
      if (const auto type = node.input(0)->type()->cast<c10::ClassType>())
        add_function(type->findMethod(node.s(attr::name)), found);
    }
  });
}

std::vector<jit::GraphFunction*> functions_of(const jit::Module& module) {
  std::vector<jit::GraphFunction*> found;
  for (const auto& part : module.modules())
    for (jit::Function* method : part.type()->methods()) add_function(method, found);
  return found;
}

/// Calls `action` with the parameter, the index and the value of each constant input of an operator.
void each_constant(const jit::Node& node,
                   const std::function<void(const c10::Argument&, size_t, const c10::IValue&)>& action) {
  const auto* schema = node.maybeSchema();
  for (size_t i = 0; schema != nullptr && i < schema->arguments().size() && i < node.inputs().size(); ++i)
    if (const auto value = jit::toIValue(node.input(i))) action(schema->arguments()[i], i, *value);
}

/// Returns the constant that tells an operator whether it trains.
std::optional<bool> constant_flag(const jit::Node& node) {
  std::optional<bool> flag;
  each_constant(node, [&](const c10::Argument& argument, size_t, const c10::IValue& value) {
    const bool is_flag = argument.name() == "train" || argument.name() == "training";
    if (is_flag && value.isBool() && !flag) flag = value.toBool();
  });
  return flag;
}

/// Returns the number of spatial dimensions, or nothing if unknown. Graphs in files have no sizes, but one stride per
/// dimension.
std::optional<size_t> dimensions_of(const jit::Node& node) {
  const auto type = node.output()->type()->cast<c10::TensorType>();
  if (type && type->dim()) return *type->dim() - 2;
  const jit::Node* strides = node.input(3)->node();
  if (strides->kind() == c10::prim::ListConstruct) return strides->inputs().size();
  const auto constant = jit::toIValue(node.input(3));
  return constant && constant->isIntList() ? std::optional(constant->toIntVector().size()) : std::nullopt;
}

/// Makes the public operator for a node of aten::_convolution, whose arguments are input, weight, bias, stride,
/// padding, dilation, transposed, output_padding, groups and the switches.
jit::Node* public_operator(jit::Graph& graph, jit::Node& node, bool transposed, size_t dimensions) {
  const auto in = node.inputs();
  const auto kind = fmt::format("aten::conv{}{}d", transposed ? "_transpose" : "", dimensions);
  return graph.create(c10::Symbol::fromQualString(kind),
                      transposed ? std::vector<jit::Value*>{in[0], in[1], in[2], in[3], in[4], in[7], in[8], in[5]}
                                 : std::vector<jit::Value*>{in[0], in[1], in[2], in[3], in[4], in[5], in[8]});
}

/// Returns the index of the rate among the inputs of a dropout: a constant between 0 and 1. Returns nothing for any
/// other node, and for a dropout in eval mode.
std::optional<size_t> rate_of(const jit::Node& node) {
  if (constant_flag(node) == false) return std::nullopt;
  std::optional<size_t> rate;
  each_constant(node, [&](const c10::Argument& argument, size_t index, const c10::IValue& value) {
    if (names_dropout_rate(node.schema().name(), argument.name()) && value.isDouble() &&
        is_dropout_rate(value.toDouble()))
      rate = index;
  });
  return rate;
}

/// Replaces the rate of each dropout in a graph. Returns their number.
size_t set_rates(jit::Graph& graph, double rate) {
  size_t count = 0;
  each_node(*graph.block(), [&](jit::Node& node) {
    const auto index = rate_of(node);
    if (!index) return;
    const jit::WithInsertPoint here(&node);
    node.replaceInput(*index, graph.insertConstant(rate));
    ++count;
  });
  return count;
}

bool is_same_device(torch::Device a, torch::Device b) {
  return a.type() == b.type() && (a.index() == b.index() || !a.has_index() || !b.has_index());
}

/// Replaces `torch.device("cuda")` of a script, which is loaded as a call, by a constant.
void make_device_constant(jit::Node& node) {
  static const auto device_of_text = c10::Symbol::fromQualString("aten::device");
  if (node.kind() != device_of_text || node.inputs().size() != 1) return;
  const auto text = jit::toIValue(node.input(0));
  if (!text || !text->isString()) return;
  const jit::WithInsertPoint here(&node);
  node.output()->replaceAllUsesWith(node.owningGraph()->insertConstant(c10::Device(text->toStringRef())));
}

void move_tensor(jit::Node& node, torch::Device device, std::optional<torch::Dtype> dtype) {
  const torch::Tensor tensor = node.t(attr::value);
  const auto own = tensor.scalar_type();
  node.t_(attr::value, tensor.to(device, dtype ? dtype_after_cast(own, *dtype) : own));
  node.output()->setType(c10::TensorType::get());  // the old one may hold device and dtype
}

bool is_constant(const jit::Node& node) { return node.kind() == prim::Constant && node.hasAttribute(attr::value); }

bool is_constant_tensor(const jit::Node& node) {
  return is_constant(node) && node.kindOf(attr::value) == jit::AttributeKind::t;
}

void move_constant(jit::Node& node, torch::Device device, std::optional<torch::Dtype> dtype, ForeignDevices& foreign) {
  if (is_constant_tensor(node)) return move_tensor(node, device, dtype);
  if (!is_constant(node)) return;
  if (node.output()->type()->kind() != c10::TypeKind::DeviceObjType) return;
  const torch::Device old(node.s(attr::value));
  if (is_same_device(old, device)) return;
  ++foreign.constants;
  foreign.devices.insert(old.str());
  node.s_(attr::value, device.str());
}

bool is_dtype(const c10::Argument& argument) {
  auto type = argument.real_type();
  if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::ScalarTypeType ||
         (argument.name() == "dtype" && type->kind() == c10::TypeKind::IntType);
}

/// Changes dtype arguments from `from` to `to`. Other arguments may use the same constant, which is therefore kept.
void change_dtypes(jit::Node& node, torch::Dtype from, torch::Dtype to) {
  each_constant(node, [&](const c10::Argument& argument, size_t index, const c10::IValue& value) {
    if (!is_dtype(argument) || !value.isInt() || value.toInt() != static_cast<int64_t>(from)) return;
    const jit::WithInsertPoint here(&node);
    node.replaceInput(index, node.owningGraph()->insertConstant(static_cast<int64_t>(to)));
    for (jit::Value* output : node.outputs())
      if (output->type()->cast<c10::TensorType>()) output->setType(c10::TensorType::get());  // it may hold the dtype
  });
}

/// Returns whether the mode has no effect: for a dropout with rate 0, and a batch norm without running statistics.
bool ignores_mode(const jit::Node& node) {
  bool ignored = false;
  each_constant(node, [&](const c10::Argument& argument, size_t, const c10::IValue& value) {
    const auto& name = argument.name();
    if (name == "p" || name == "dropout") ignored = ignored || (value.isDouble() && value.toDouble() == 0);
    if (name == "running_mean") ignored = ignored || value.isNone();
  });
  return ignored;
}

/// Adapts the constants in the graphs of all of the module's functions to `device`. Constants of type Device (`device=`
/// of a trace) become it, and tensors are moved to it. With `dtype` floating-point tensors are cast, as buffers are. If
/// `dtype` is float64, the dtype of references, `dtype=` arguments of a trace change from `own` to float64.
ForeignDevices move_constants(const jit::Module& module, torch::Device device, std::optional<torch::Dtype> dtype,
                              torch::Dtype own) {
  ForeignDevices foreign;
  for (jit::GraphFunction* function : functions_of(module)) {
    auto& block = *function->graph()->block();
    each_node(block, make_device_constant);
    each_node(block, [&](jit::Node& node) { move_constant(node, device, dtype, foreign); });
    if (dtype == torch::kFloat64) each_node(block, [&](jit::Node& node) { change_dtypes(node, own, torch::kFloat64); });
    function->clear_optimized_graphs();  // inlining would use them, with the old constants
  }
  return foreign;
}

/// Returns the dtype of the first floating-point parameter, buffer or attribute; float32 without any.
torch::Dtype floating_dtype_of(const jit::Module& module) {
  for (const auto& parameter : module.parameters())
    if (parameter.is_floating_point()) return parameter.scalar_type();
  for (const auto& attribute : module.attributes())
    if (attribute.isTensor() && attribute.toTensor().defined() && attribute.toTensor().is_floating_point())
      return attribute.toTensor().scalar_type();
  return torch::kFloat;
}

/// Replaces at::_convolution by the public convolutions in all functions of the module. These use the cuDNN and
/// determinism settings of this process. The recorded call has those of the process that traced it.
jit::Module with_public_convolutions(jit::Module module) {
  for (jit::GraphFunction* function : functions_of(module)) {
    replace_internal_convolutions(*function->graph());
    function->clear_optimized_graphs();
  }
  return module;
}

[[noreturn]] void throw_with_cause(const std::string& text) {
  const std::string message = with_cause_first(text);
  // The interpreter turns each error into a plain one, so only the text shows that memory ran out.
  const bool no_memory = message.substr(0, message.find('\n')).find("out of memory") != std::string::npos;
  TORCH_CHECK_WITH(OutOfMemoryError, !no_memory, message);
  throw std::runtime_error(message);
}

}  // namespace

void replace_internal_convolutions(jit::Graph& traced) {
  each_node(*traced.block(), [&](jit::Node& node) {
    if (node.kind() != jit::aten::_convolution) return;
    const auto transposed = jit::toIValue(node.input(6));
    const auto dimensions = dimensions_of(node);
    if (!transposed || !dimensions || *dimensions < 1 || *dimensions > 3) return;
    jit::Node* other = public_operator(traced, node, transposed->toBool(), *dimensions);
    other->copyMetadata(&node);
    other->output()->copyMetadata(node.output());
    other->insertBefore(&node);
    node.output()->replaceAllUsesWith(other->output());
    node.destroy();
  });
}

std::shared_ptr<jit::Graph> inlined_forward(const jit::Module& module) {
  const auto method = module.get_method("forward");
  auto graph = jit::toGraphFunction(method.function()).graph()->copy();
  jit::Inline(*graph);
  return graph;
}

std::vector<torch::Tensor> constant_tensors(jit::Graph& graph) {
  std::vector<torch::Tensor> tensors;
  each_node(*graph.block(), [&](const jit::Node& node) {
    if (is_constant_tensor(node)) tensors.push_back(node.t(attr::value));
  });
  return tensors;
}

std::string python_place(const jit::Node& node) {
  const auto& range = node.sourceRange();
  if (!range.source()) return "";
  const auto original = range.source()->findSourceRangeThatGenerated(range);
  return innermost_python_place(original ? original->str() : range.str());
}

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

size_t ScriptProgram::prepare() {
  const auto graph = inlined_forward(module_);
  const size_t count = dropout_rate_ ? set_rates(*graph, *dropout_rate_) : 0;
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

SavedMode ScriptProgram::mode() const {
  SavedMode mode;
  bool reads_training = false;
  each_node(*code_.graph()->block(), [&](jit::Node& node) {
    reads_training = reads_training || (node.kind() == prim::GetAttr && node.s(attr::name) == "training");
    const auto flag = constant_flag(node);
    if (!flag || ignores_mode(node)) return;
    std::string& found = *flag ? mode.trains : mode.evaluates;
    if (!found.empty()) return;
    const std::string place = python_place(node);
    found = fmt::format("{}{}", node.kind().toQualString(), place.empty() ? "" : fmt::format(" ({})", place));
  });
  return reads_training ? SavedMode{} : mode;
}

}  // namespace torchstone::formats
