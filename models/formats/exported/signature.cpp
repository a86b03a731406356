#include "models/formats/exported/signature.h"

#include <fmt/format.h>

namespace torchstone::formats::exported {
namespace {

using Source = ProgramInput::Source;

InputDescription of_user(const JsonPlace& spec) {
  const auto [kind, value] = spec.at("arg").only();
  InputDescription read{.place = spec};
  if (kind == "as_tensor") {
    read.graph_name = read.input.name = value.at("name").text();
    read.tensor = true;
  } else if (kind.starts_with("as_sym_")) {
    if (value.has("as_name")) read.graph_name = value.at("as_name").text();
  } else if (kind == "as_custom_obj") {
    spec.fail("a custom object (expected tensors and numbers)");
  }
  return read;
}

InputDescription of_state(const JsonPlace& spec, Source source, const char* name, bool persistent) {
  InputDescription read{.place = spec};
  read.input = {source, spec.at(name).text(), -1, persistent};
  read.graph_name = spec.at("arg").at("name").text();
  read.tensor = true;
  return read;
}

InputDescription read_input(const JsonPlace& spec) {
  const auto [kind, value] = spec.only();
  if (kind == "user_input") return of_user(value);
  if (kind == "constant_input") return InputDescription{.place = value};
  if (kind == "parameter") return of_state(value, Source::parameter, "parameter_name", true);
  if (kind == "buffer") return of_state(value, Source::buffer, "buffer_name", value.at("persistent").boolean());
  if (kind == "tensor_constant") return of_state(value, Source::constant, "tensor_constant_name", false);
  if (kind == "custom_obj")
    value.fail(
        fmt::format("the custom object {} (expected tensors; export the model without objects of "
                    "torch.classes)",
                    value.at("custom_obj_name").text()));
  spec.fail(fmt::format("{}: an input of this kind is not run", kind.substr(0, 200)));
}

/// The slot of an input that the program writes into.
int slot_of(const Program& program, const JsonPlace& spec, const char* key, bool of_user) {
  const auto name = spec.at(key).text();
  for (const auto& input : program.inputs) {
    if (input.slot >= 0 && (input.source == Source::user) == of_user && input.name == name) return input.slot;
  }
  spec.fail(fmt::format("{} is no input of the graph", name.substr(0, 200)));
}

}  // namespace

std::vector<InputDescription> read_inputs(const JsonPlace& specs) {
  std::vector<InputDescription> inputs;
  for (const auto& spec : specs.items()) inputs.push_back(read_input(spec));
  return inputs;
}

void read_outputs(const JsonPlace& specs, const std::vector<Argument>& values, Program& program) {
  const auto items = specs.items();
  if (items.size() != values.size())
    specs.fail(fmt::format("{} outputs, the graph has {}", items.size(), values.size()));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto [kind, spec] = items[i].only();
    if (kind == "user_output" || kind == "loss_output") {
      if (kind == "loss_output") program.loss = program.outputs.size();
      program.outputs.push_back(values[i]);
    } else if (kind == "buffer_mutation") {
      program.mutations.push_back({slot_of(program, spec, "buffer_name", false), values[i]});
    } else if (kind == "parameter_mutation") {
      program.mutations.push_back({slot_of(program, spec, "parameter_name", false), values[i]});
    } else if (kind == "user_input_mutation") {
      program.mutations.push_back({slot_of(program, spec, "user_input_name", true), values[i]});
    } else {
      items[i].fail(fmt::format("{}: expected a forward program, without gradients or tokens", kind.substr(0, 200)));
    }
  }
}

}  // namespace torchstone::formats::exported
