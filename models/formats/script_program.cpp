#include "models/formats/script_program.h"

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include "models/core/file_program.h"
#include "models/formats/python_place.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

/// Of length, area or volume; empty where it is not known. A graph of a file knows no sizes, but its strides are one
/// for each dimension as Python writes them.
std::optional<size_t> dimensions_of(const jit::Node& node) {
  const auto type = node.output()->type()->cast<c10::TensorType>();
  if (type && type->dim()) return *type->dim() - 2;
  const jit::Node* strides = node.input(3)->node();
  if (strides->kind() == c10::prim::ListConstruct) return strides->inputs().size();
  const auto constant = jit::toIValue(node.input(3));
  return constant && constant->isIntList() ? std::optional(constant->toIntVector().size()) : std::nullopt;
}

/// The arguments of aten::_convolution are input, weight, bias, stride, padding, dilation, transposed, output_padding,
/// groups and the switches.
jit::Node* public_operator(jit::Graph& graph, jit::Node& node, bool transposed, size_t dimensions) {
  const auto in = node.inputs();
  const auto kind = fmt::format("aten::conv{}{}d", transposed ? "_transpose" : "", dimensions);
  return graph.create(c10::Symbol::fromQualString(kind),
                      transposed ? std::vector<jit::Value*>{in[0], in[1], in[2], in[3], in[4], in[7], in[8], in[5]}
                                 : std::vector<jit::Value*>{in[0], in[1], in[2], in[3], in[4], in[5], in[8]});
}

void replace_in(jit::Graph& graph, jit::Block& block) {
  for (auto node = block.nodes().begin(); node != block.nodes().end(); ++node) {
    for (jit::Block* inner : node->blocks()) replace_in(graph, *inner);
    if (node->kind() != jit::aten::_convolution) continue;
    const auto transposed = jit::toIValue(node->input(6));
    const auto dimensions = dimensions_of(**node);
    if (!transposed || !dimensions || *dimensions < 1 || *dimensions > 3) continue;
    jit::Node* other = public_operator(graph, **node, transposed->toBool(), *dimensions);
    other->copyMetadata(*node);
    other->output()->copyMetadata(node->output());
    other->insertBefore(*node);
    node->output()->replaceAllUsesWith(other->output());
    node.destroyCurrent();
  }
}

}  // namespace

void replace_internal_convolutions(jit::Graph& traced) { replace_in(traced, *traced.block()); }

/// Replaces the rate of each dropout in the graph that is a constant between 0 and 1, unless the graph says that it
/// drops nothing. Returns how many there are.
size_t set_dropout_rate(torch::jit::Graph& graph, double rate);

namespace {

/// The place of the rate among the inputs of a node that drops.
std::optional<size_t> rate_of(const jit::Node& node) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return std::nullopt;
  std::optional<size_t> rate;
  for (size_t i = 0; i < schema->arguments().size() && i < node.inputs().size(); ++i) {
    const auto& name = schema->arguments()[i].name();
    const auto value = jit::toIValue(node.input(i));
    if (!value) continue;
    if ((name == "train" || name == "training") && value->isBool() && !value->toBool()) return std::nullopt;
    if (names_dropout_rate(schema->name(), name) && value->isDouble() && is_dropout_rate(value->toDouble())) rate = i;
  }
  return rate;
}

size_t set_in(jit::Graph& graph, jit::Block& block, double rate) {
  size_t count = 0;
  for (jit::Node* node : block.nodes()) {
    for (jit::Block* inner : node->blocks()) count += set_in(graph, *inner, rate);
    const auto index = rate_of(*node);
    if (!index) continue;
    const jit::WithInsertPoint here(node);
    node->replaceInput(*index, graph.insertConstant(rate));
    ++count;
  }
  return count;
}

}  // namespace

size_t set_dropout_rate(jit::Graph& graph, double rate) { return set_in(graph, *graph.block(), rate); }

namespace {

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
