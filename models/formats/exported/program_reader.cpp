#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/json_place.h"
#include "models/formats/exported/pt2_program.h"

namespace torchstone::formats::exported {
namespace {

/// Returns the version of PyTorch that wrote the program.
std::string writer_of(const JsonPlace& root) {
  return root.has("torch_version") ? root.at("torch_version").text().substr(0, 50) : "unknown";
}

void require_version(const JsonPlace& root) {
  constexpr int64_t known = 8;
  const auto version = root.at("schema_version");
  const int64_t major = version.at("major").integer();
  if (major == known) return;  // minor versions only add members, and a member that is used and unknown is named
  version.fail(fmt::format("{}.{} of PyTorch {}, expected {}.x, which PyTorch 2.11 to 2.13 writes: {}", major,
                           version.at("minor").integer(), writer_of(root), known,
                           major > known ? "Torchstone does not know this schema yet, so export the model with an "
                                           "older PyTorch"
                                         : "export the model again with a newer PyTorch"));
}

/// Records the dtype and device of the first floating-point or complex parameter, or else buffer, input or constant.
/// The dtype of complex numbers is that of their parts.
void record_dtype_and_device(const std::vector<InputDescription>& inputs, const JsonPlace& graph, Program& program) {
  using Source = ProgramInput::Source;
  for (const auto source : {Source::parameter, Source::buffer, Source::user, Source::constant}) {
    for (const auto& input : inputs) {
      if (input.input.source != source || !input.tensor) continue;
      const auto meta = graph.at("tensor_values").at(input.graph_name);
      const auto dtype = c10::toRealValueType(scalar_type_at(meta.at("dtype")));
      if (!c10::isFloatingType(dtype)) continue;
      program.dtype = dtype;
      program.device = c10::Device(meta.at("device").at("type").text()).type();
      return;
    }
  }
}

std::vector<InputSize> sizes_of(const JsonPlace& meta) {
  std::vector<InputSize> sizes;
  for (const auto& size : meta.at("sizes").items()) {
    const auto [kind, value] = size.only();
    InputSize& read = sizes.emplace_back();
    if (kind == "as_int") {
      read.hint = value.integer();
      continue;
    }
    const auto text = value.at("expr_str").text();
    const std::string start = "Symbol('";
    const auto end = text.find('\'', start.size());
    read.expression =
        !text.starts_with(start) || end == std::string::npos || text.find("Symbol", 1) != std::string::npos;
    read.symbol = read.expression ? text : text.substr(start.size(), end - start.size());
  }
  return sizes;
}

std::map<std::string, Range> ranges_of(const JsonPlace& constraints) {
  std::map<std::string, Range> ranges;
  for (const auto& [symbol, range] : constraints.entries()) {
    Range& read = ranges[symbol];
    if (range.has("min_val")) read.least = range.at("min_val").integer();
    if (range.has("max_val")) read.most = range.at("max_val").integer();
  }
  return ranges;
}

void collect_slots(const Argument& argument, std::vector<int>& slots) {
  if (argument.slot >= 0) slots.push_back(argument.slot);
  for (const auto& item : argument.items) collect_slots(item, slots);
}

/// Finds the last step that uses each value, after which it is freed. Outputs and mutations are never freed.
void find_last_uses(Program& program) {
  std::vector<int> kept;
  for (const auto& output : program.outputs) collect_slots(output, kept);
  for (const auto& mutation : program.mutations) {
    collect_slots(mutation.value, kept);
    kept.push_back(mutation.target);
  }
  std::vector<bool> used(static_cast<size_t>(program.slots));
  for (const int slot : kept) used[static_cast<size_t>(slot)] = true;
  for (auto step = program.steps.rbegin(); step != program.steps.rend(); ++step) {
    std::vector<int> slots;
    for (const auto& argument : step->arguments) collect_slots(argument, slots);
    for (const auto& result : step->results) {
      if (result.slot >= 0) slots.push_back(result.slot);
      slots.insert(slots.end(), result.elements.begin(), result.elements.end());
    }
    for (const int slot : slots) {
      if (used[static_cast<size_t>(slot)]) continue;
      used[static_cast<size_t>(slot)] = true;
      step->last_uses.push_back(slot);
    }
  }
}

void read_specs(const JsonPlace& module, Program& program) {
  const auto calls = module.at("module_call_graph").items();
  const auto root = std::ranges::find_if(calls, [](const auto& call) { return call.at("fqn").text().empty(); });
  if (root == calls.end() || !root->has("signature"))
    module.at("module_call_graph").fail("expected an entry of the whole module with its signature");
  const auto fields =
      module.has("treespec_namedtuple_fields") ? std::optional(module.at("treespec_namedtuple_fields")) : std::nullopt;
  program.in_spec = read_tree_spec(root->at("signature").at("in_spec"), fields);
  program.out_spec = read_tree_spec(root->at("signature").at("out_spec"), fields);
}

/// Removes the metadata of nodes: it names files, lines and modules, which depend on where the export ran.
void erase_metadata(nlohmann::json& json) {
  if (json.is_object()) json.erase("metadata");
  if (json.is_structured())
    for (auto& item : json) erase_metadata(item);
}

std::string text_of(const JsonPlace& root) {
  const auto module = root.at("graph_module");
  nlohmann::json text{{"graph", module.at("graph").json()},
                      {"signature", module.at("signature").json()},
                      {"ranges", root.at("range_constraints").json()}};
  erase_metadata(text);
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Program read_program(Archive& archive, const std::string& name) {
  const std::string record = fmt::format("models/{}.json", name);
  const auto json = archive.json(record);
  Program program = read_program(JsonPlace(json, record));
  program.location = fmt::format("{}:{}", archive.path(), name);
  return program;
}

Program read_program(const JsonPlace& root) {
  require_version(root);
  Program program;
  program.text = text_of(root);
  program.torch_version = writer_of(root);
  const auto module = root.at("graph_module");
  const auto graph = module.at("graph"), signature = module.at("signature");
  read_specs(module, program);
  program.ranges = ranges_of(root.at("range_constraints"));
  const auto inputs = read_inputs(signature.at("input_specs"));
  record_dtype_and_device(inputs, graph, program);
  GraphReader reader(program);
  Scope scope;
  size_t users = 0;
  for (const auto& input : inputs) {
    ProgramInput& added = program.inputs.emplace_back(input.input);
    if (!input.graph_name.empty()) {
      const Argument value = reader.fresh();
      added.slot = value.slot;
      scope.define(input.graph_name, value, input.place);
    }
    if (input.input.source != ProgramInput::Source::user) continue;
    ++users;
    program.user_sizes.push_back(input.tensor ? sizes_of(graph.at("tensor_values").at(input.graph_name))
                                              : std::vector<InputSize>());
  }
  if (users != program.in_spec.leaves())
    signature.fail(fmt::format("{} user inputs, in_spec has {}", users, program.in_spec.leaves()));
  reader.read(graph, scope);
  read_outputs(signature.at("output_specs"), reader.outputs(graph, scope), program);
  if (program.outputs.size() != program.out_spec.leaves())
    signature.fail(fmt::format("{} user outputs, out_spec has {}", program.outputs.size(), program.out_spec.leaves()));
  find_last_uses(program);
  return program;
}

}  // namespace torchstone::formats::exported
