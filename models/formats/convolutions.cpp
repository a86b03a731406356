#include "models/formats/convolutions.h"

#include <optional>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/jit/ir/constants.h>

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

}  // namespace torchstone::formats
