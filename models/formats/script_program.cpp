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

/// Returns the index of the rate among the inputs of a dropout: a constant between 0 and 1. Returns nothing for any
/// other node, and for a dropout in eval mode.
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

/// Replaces the rate of each dropout in a block. Returns their number.
size_t set_rates(jit::Graph& graph, jit::Block& block, double rate) {
  size_t count = 0;
  for (jit::Node* node : block.nodes()) {
    for (jit::Block* inner : node->blocks()) count += set_rates(graph, *inner, rate);
    const auto index = rate_of(*node);
    if (!index) continue;
    const jit::WithInsertPoint here(node);
    node->replaceInput(*index, graph.insertConstant(rate));
    ++count;
  }
  return count;
}

jit::Module with_public_convolutions(jit::Module module) {
  use_public_convolutions(module);
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

void replace_internal_convolutions(jit::Graph& traced) { replace_in(traced, *traced.block()); }

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
  const size_t count = dropout_rate_ ? set_rates(*graph, *graph->block(), *dropout_rate_) : 0;
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
