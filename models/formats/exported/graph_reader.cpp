#include "models/formats/exported/graph_reader.h"

#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "models/core/file_program.h"
#include "models/formats/exported/json_place.h"
#include "models/formats/exported/pt2_program.h"

namespace torchstone::formats::exported {

namespace {

/// Returns the constant that a step passes for a parameter of its operator; nullptr without one.
const c10::IValue* constant_of(const Step& step, std::string_view parameter) {
  const auto& parameters = step.op->schema().arguments();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Argument& argument = step.arguments[i];
    if (parameters[i].name() == parameter && argument.kind == Argument::Kind::constant) return &argument.constant;
  }
  return nullptr;
}

/// Returns the constant that tells an operator whether it trains.
std::optional<bool> constant_flag(const Step& step) {
  for (const char* name : {"train", "training"})
    if (const auto* flag = constant_of(step, name); flag && flag->isBool()) return flag->toBool();
  return std::nullopt;
}

/// Makes the rate of a dropout an argument that the model may change. Counts in `program` the dropouts and the
/// arguments that follow the model's dtype.
void mark_changeable(Step& step, Program& program) {
  const auto& schema = step.op->schema();
  Argument* rate = nullptr;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    Argument& argument = step.arguments[i];
    if (argument.kind == Argument::Kind::dtype) ++program.dtypes;
    if (names_dropout_rate(schema.name(), schema.arguments()[i].name()) && argument.kind == Argument::Kind::constant &&
        argument.constant.isDouble() && is_dropout_rate(argument.constant.toDouble()))
      rate = &argument;
  }
  if (!rate || constant_flag(step) == false) return;
  rate->kind = Argument::Kind::dropout_rate;
  ++program.dropouts;
}

/// Records in `program` a step whose arguments show that the program was exported in train or eval mode.
void note_mode(const Step& step, Program& program) {
  const auto flag = constant_flag(step);
  if (!flag) return;
  const auto* rate = constant_of(step, "p");
  if (rate && rate->isDouble() && rate->toDouble() == 0) return;
  // Batch norm without running statistics has the batch's in both modes.
  const auto* statistics = constant_of(step, "running_mean");
  if (statistics && statistics->isNone()) return;
  auto& noted = *flag ? program.trains : program.evaluates;
  if (noted.empty()) noted = step.place;
}

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

/// Returns the name of a tensor or symbolic number, `value`, which has this kind in the schema.
std::string name_in(const std::string& kind, const JsonPlace& value) {
  return value.at(kind.starts_with("as_sym_") ? "as_name" : "name").text();
}

/// Returns the Argument of a node's input.
JsonPlace argument_at(const JsonPlace& node, size_t index) {
  const auto inputs = node.at("inputs").items();
  if (index >= inputs.size()) node.fail(fmt::format("{} inputs, expected more than {}", inputs.size(), index));
  return inputs[index].at("arg");
}

}  // namespace

void Scope::define(const std::string& name, Argument value, const JsonPlace& place) {
  if (!values_.emplace(name, std::move(value)).second)
    place.fail(fmt::format("\"{}\" is defined twice", name.substr(0, 200)));
}

const Argument& Scope::find(const std::string& name, const JsonPlace& place) const {
  const auto found = values_.find(name);
  if (found == values_.end()) place.fail(fmt::format("\"{}\" is used before it is defined", name.substr(0, 200)));
  return found->second;
}

Argument GraphReader::fresh() { return {.kind = Argument::Kind::slot, .slot = program_.slots++}; }

int GraphReader::defined(const JsonPlace& output, Scope& scope) {
  const auto [kind, value] = output.only();
  if (kind == "as_none") return -1;
  const bool optional = kind == "as_optional_tensor";
  const auto [inner, inner_value] = optional ? value.only() : std::pair(std::string("as_tensor"), value);
  if (inner == "as_none") return -1;
  if (inner != "as_tensor" || (!optional && kind != "as_tensor" && !kind.starts_with("as_sym_")))
    output.fail(fmt::format("{}, expected a tensor or a number", kind.substr(0, 200)));
  const Argument defined = fresh();
  scope.define(name_in(kind, inner_value), defined, output);
  return defined.slot;
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
  Step step = call_of(node, graph, scope, program_);
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
    step.arguments.push_back(read_argument(input.at("arg"), nullptr, scope, program_));
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
    outputs.push_back(read_argument(output, nullptr, scope, program_));
  return outputs;
}

// A region is a graph of its own. Its inputs are the node's inputs after the graph.
void GraphReader::read_region(const JsonPlace& node, Scope& scope, Step enter, size_t graph_index, bool detach) {
  const auto [kind, graph_argument] = argument_at(node, graph_index).only();
  if (kind != "as_graph") argument_at(node, graph_index).fail(fmt::format("{}, expected as_graph", kind));
  const auto graph = graph_argument.at("graph");
  const auto inputs = graph.at("inputs").items();
  const auto given = node.at("inputs").items();
  if (given.size() != graph_index + 1 + inputs.size())
    node.fail(fmt::format("{} values for a region with {} inputs", given.size() - graph_index - 1, inputs.size()));
  Scope inner;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto [input_kind, input] = inputs[i].only();
    const bool symbolic = input_kind.starts_with("as_sym_");
    if (!symbolic && input_kind != "as_tensor") continue;  // a constant, which is stored in the region
    inner.define(name_in(input_kind, input),
                 read_argument(given[graph_index + 1 + i].at("arg"), nullptr, scope, program_), inputs[i]);
  }
  enter.place = node_name(node);
  program_.steps.push_back(std::move(enter));
  const int first = program_.slots;
  read(graph, inner);
  const auto outputs = this->outputs(graph, inner);
  program_.steps.push_back({.action = Step::Action::leave});
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
      const Argument detached = fresh();
      program_.steps.push_back(
          {.action = Step::Action::detach, .arguments = {value}, .results = {Result{detached.slot}}});
      value = detached;
    }
    const bool bare = names[i].has("name");
    const auto [output_kind, output] = bare ? std::pair(std::string("as_tensor"), names[i]) : names[i].only();
    if (output_kind == "as_none") continue;
    scope.define(name_in(output_kind, output), value, names[i]);
  }
}

}  // namespace torchstone::formats::exported
