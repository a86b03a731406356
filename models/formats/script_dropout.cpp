#include "models/formats/script_dropout.h"

#include <optional>

#include <torch/csrc/jit/ir/constants.h>

#include "models/core/dropout_rates.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;

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

}  // namespace torchstone::formats
