#include "models/formats/exported/graph_reader.h"

#include <array>

#include <fmt/format.h>

#include "models/formats/exported/changeable_arguments.h"
#include "models/formats/exported/module_path.h"
#include "models/formats/exported/numbers.h"
#include "models/formats/exported/operators.h"
#include "models/formats/exported/schema_types.h"
#include "models/formats/exported/source_place.h"

namespace torchstone::formats::exported {
namespace {

constexpr const char* grad_mode = "torch.ops.higher_order.wrap_with_set_grad_enabled";
constexpr const char* autocast = "torch.ops.higher_order.wrap_with_autocast";

c10::IValue plain(const JsonPlace& argument, const char* expected) {
  const auto [kind, value] = argument.only();
  if (kind != expected && kind != "as_none") argument.fail(fmt::format("{}, expected {}", kind, expected));
  if (kind == "as_none") return {};
  if (kind == "as_bool") return value.boolean();
  if (kind == "as_scalar_type") return static_cast<int64_t>(scalar_type_at(value));
  return value.text();
}

void note_place(const JsonPlace& node, Step& step) {
  step.place = node_name(node);
  step.module = module_path(node);
  const auto source = source_place(node);
  step.source = source.substr(0, source.find(": "));
}

}  // namespace

JsonPlace argument_at(const JsonPlace& node, size_t index) {
  const auto inputs = node.at("inputs").items();
  if (index >= inputs.size()) node.fail(fmt::format("{} inputs, expected more than {}", inputs.size(), index));
  return inputs[index].at("arg");
}

Argument GraphReader::fresh() {
  Argument argument;
  argument.kind = Argument::Kind::slot;
  argument.slot = program_.slots++;
  return argument;
}

int GraphReader::defined(const JsonPlace& output, Scope& scope) {
  const auto [kind, value] = output.only();
  if (kind == "as_none") return -1;
  const bool optional = kind == "as_optional_tensor";
  const auto [inner, inner_value] = optional ? value.only() : std::pair(std::string("as_tensor"), value);
  if (inner == "as_none") return -1;
  if (inner != "as_tensor" || (!optional && kind != "as_tensor" && !kind.starts_with("as_sym_")))
    output.fail(fmt::format("{}, expected a tensor or a number", kind.substr(0, 200)));
  const bool symbolic = kind.starts_with("as_sym_");
  const auto name = inner_value.at(symbolic ? "as_name" : "name").text();
  const Argument value_of = fresh();
  scope.define(name, value_of, output);
  return value_of.slot;
}

std::vector<Result> GraphReader::results(const JsonPlace& node, Scope& scope) {
  std::vector<Result> results;
  for (const auto& output : node.at("outputs").items()) {
    const auto [kind, value] = output.only();
    Result result;
    if (kind == "as_tensors") {
      result.list = true;
      for (const auto& item : value.items()) {
        const Argument element = fresh();
        scope.define(item.at("name").text(), element, item);
        result.elements.push_back(element.slot);
      }
    } else {
      result.slot = defined(output, scope);
    }
    results.push_back(std::move(result));
  }
  return results;
}

void GraphReader::read_call(const JsonPlace& node, const JsonPlace& graph, Scope& scope) {
  Step step = call_of(node, graph, scope, exported_);
  note_place(node, step);
  note_mode(step, program_);
  mark_changeable(step, program_);
  step.results = results(node, scope);
  const auto returned = step.op->schema().returns().size();
  if (step.results.size() != returned)
    node.at("outputs").fail(fmt::format("{} outputs, the operator has {}", step.results.size(), returned));
  program_.steps.push_back(std::move(step));
}

void GraphReader::read_node(const JsonPlace& node, const JsonPlace& graph, Scope& scope) {
  const auto target = node.at("target").text();
  refuse_unbacked(node, graph);
  Step step;
  if (target == grad_mode) {
    step.action = Step::Action::enter_grad_mode;
    const auto on = plain(argument_at(node, 0), "as_bool");
    if (!on.isBool()) node.fail("expected as_bool");
    step.arguments.emplace_back().constant = on;
    return read_region(node, scope, std::move(step), 1, !on.toBool());
  }
  if (target == autocast) {  // device type, dtype, enabled, cache enabled
    step.action = Step::Action::enter_autocast;
    const std::array<const char*, 4> kinds = {"as_string", "as_scalar_type", "as_bool", "as_bool"};
    for (size_t i = 0; i < kinds.size(); ++i)
      step.arguments.emplace_back().constant = plain(argument_at(node, i), kinds[i]);
    if (!step.arguments[2].constant.isBool()) node.fail("expected as_bool for enabled");
    return read_region(node, scope, std::move(step), kinds.size(), false);
  }
  step.number = number_function(target);
  if (!step.number) return read_call(node, graph, scope);
  step.action = Step::Action::number;
  note_place(node, step);
  for (const auto& input : node.at("inputs").items())
    step.arguments.push_back(read_argument(input.at("arg"), nullptr, scope, exported_));
  step.results = results(node, scope);
  if (step.results.size() > 1) node.at("outputs").fail("expected one number");
  program_.steps.push_back(std::move(step));
}

void GraphReader::read(const JsonPlace& graph, Scope& scope) {
  for (const auto& node : graph.at("nodes").items()) read_node(node, graph, scope);
}

std::vector<Argument> GraphReader::outputs(const JsonPlace& graph, const Scope& scope) const {
  std::vector<Argument> outputs;
  for (const auto& output : graph.at("outputs").items())
    outputs.push_back(read_argument(output, nullptr, scope, exported_));
  return outputs;
}

}  // namespace torchstone::formats::exported
