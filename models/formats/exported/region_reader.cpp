#include <fmt/format.h>

#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/source_place.h"

namespace torchstone::formats::exported {

/// A region is a graph of its own, whose inputs are what follows it among the node's inputs.
void GraphReader::read_region(const JsonPlace& node, Scope& scope, Step enter, size_t graph_index, bool detach) {
  const auto [kind, graph_argument] = argument_at(node, graph_index).only();
  if (kind != "as_graph") argument_at(node, graph_index).fail(fmt::format("{}, expected as_graph", kind));
  const auto graph = graph_argument.at("graph");
  const auto inputs = graph.at("inputs").items();
  const auto given = node.at("inputs").items();
  if (given.size() != graph_index + 1 + inputs.size())
    node.fail(fmt::format("{} values for a region of {}", given.size() - graph_index - 1, inputs.size()));
  Scope inner;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [input_kind, input] = inputs[i].only();
    const bool symbolic = input_kind.starts_with("as_sym_");
    if (!symbolic && input_kind != "as_tensor") continue;  // a constant, which the region holds itself
    inner.define(input.at(symbolic ? "as_name" : "name").text(),
                 read_argument(given[graph_index + 1 + i].at("arg"), nullptr, scope, exported_), inputs[i]);
  }
  enter.place = node_name(node);
  program_.steps.push_back(std::move(enter));
  const int first = program_.slots;
  read(graph, inner);
  const auto outputs = this->outputs(graph, inner);
  Step leave;
  leave.action = Step::Action::leave;
  program_.steps.push_back(leave);
  std::vector<JsonPlace> names;
  for (const auto& output : node.at("outputs").items()) {
    const auto [output_kind, value] = output.only();
    for (const auto& item : output_kind == "as_tensors" ? value.items() : std::vector{output}) names.push_back(item);
  }
  if (names.size() != outputs.size())
    node.at("outputs").fail(fmt::format("{} outputs, the region has {}", names.size(), outputs.size()));
  for (size_t i = 0; i < names.size(); ++i) {
    Argument value = outputs[i];
    if (detach && value.kind == Argument::Kind::slot && value.slot >= first) {
      Step detached;
      detached.action = Step::Action::detach;
      detached.arguments = {value};
      value = fresh();
      detached.results = {Result{value.slot}};
      program_.steps.push_back(std::move(detached));
    }
    const bool bare = names[i].has("name");
    const auto [output_kind, output] = bare ? std::pair(std::string("as_tensor"), names[i]) : names[i].only();
    if (output_kind == "as_none") continue;
    scope.define(output.at(output_kind.starts_with("as_sym_") ? "as_name" : "name").text(), value, names[i]);
  }
}

}  // namespace torchstone::formats::exported
