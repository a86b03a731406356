// The signature of an exported program: structure of arguments and results, inputs, outputs and mutations.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <torch/torch.h>

#include "models/core/tree.h"
#include "models/formats/exported/graph_reader.h"
#include "models/formats/exported/pt2_program.h"

namespace torchstone::formats::exported {
namespace {

using nlohmann::json;

/// Returns the context of a node. A context that was dumped as JSON is a text in the JSON.
json context_of(const JsonPlace& node) {
  const JsonPlace context = node.at("context");
  if (!context.json().is_string()) return context.json();
  json parsed = json::parse(context.text(), nullptr, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? context.json() : parsed;
}

/// Returns the first list of texts or integers in a context with one item per child.
std::vector<c10::IValue> keys_in(const json& context, size_t count) {
  if (!context.is_array()) return {};
  const auto all_are = [&](auto is) { return std::ranges::all_of(context, is); };
  if (context.size() == count) {
    std::vector<c10::IValue> keys;
    if (all_are([](const json& key) { return key.is_string(); }))
      for (const auto& key : context) keys.emplace_back(key.get<std::string>());
    if (keys.empty() && all_are([](const json& key) { return key.is_number_integer(); }))
      for (const auto& key : context) keys.emplace_back(key.get<int64_t>());
    if (!keys.empty()) return keys;
  }
  for (const auto& item : context) {
    if (auto keys = keys_in(item, count); !keys.empty()) return keys;
  }
  return {};
}

std::vector<c10::IValue> keys_of(const json& context, size_t count, const std::optional<JsonPlace>& fields) {
  if (context.is_object() && context.contains("dict_context")) return keys_in(context["dict_context"], count);
  if (context.is_string() && fields && fields->has(context.get<std::string>()))
    return keys_in(fields->at(context.get<std::string>()).at("field_names").json(), count);
  return keys_in(context, count);
}

TreeSpec spec_of(const JsonPlace& node, const std::optional<JsonPlace>& fields) {
  const auto children = node.at("children_spec").items();
  if (node.at("type").is_null()) {
    if (!children.empty()) node.fail("a leaf with children");
    return {};
  }
  TreeSpec spec;
  spec.type = node.at("type").text();
  for (const auto& child : children) spec.children.push_back(spec_of(child, fields));
  spec.kind = TreeSpec::Kind::tuple;
  if (spec.type == "builtins.list" || spec.type == "collections.deque") spec.kind = TreeSpec::Kind::list;
  if (spec.type == "builtins.tuple" || spec.kind == TreeSpec::Kind::list) return spec;
  const bool python_dict =
      spec.type == "builtins.dict" || spec.type == "collections.OrderedDict" || spec.type == "collections.defaultdict";
  spec.keys = keys_of(context_of(node), children.size(), fields);
  if (python_dict && spec.keys.size() != children.size())
    node.fail(fmt::format("expected {} keys, all text or all integers", children.size()));
  if (python_dict || !spec.keys.empty()) spec.kind = TreeSpec::Kind::dict;
  std::set<std::string> known;
  for (const auto& key : spec.keys) {
    if (!known.insert(describe(key)).second) node.fail("two equal keys");
  }
  return spec;
}

void collect(const c10::IValue& value, const TreeSpec& spec, std::vector<c10::IValue>& leaves) {
  if (spec.kind == TreeSpec::Kind::leaf) {
    leaves.push_back(value);
    return;
  }
  const auto differs = [&] {
    throw std::invalid_argument(fmt::format("holds a {}, expected {} with {} elements as in the program's signature",
                                            describe(value), spec.type, spec.children.size()));
  };
  const auto children = children_of(value);
  if (!is_container(value) || children.size() != spec.children.size()) differs();
  for (size_t i = 0; i < children.size(); ++i) {
    if (!value.isGenericDict()) {
      collect(children[i].value, spec.children[i], leaves);
      continue;
    }
    if (spec.kind != TreeSpec::Kind::dict) differs();
    const auto dict = value.toGenericDict();
    if (*dict.keyType() != *spec.keys[i].type() || !dict.contains(spec.keys[i])) differs();
    collect(dict.at(spec.keys[i]), spec.children[i], leaves);
  }
}

c10::TypePtr common_type(const std::vector<c10::IValue>& values) {
  const bool tensors = !values.empty() && std::ranges::all_of(values, &c10::IValue::isTensor);
  return tensors ? c10::TypePtr(c10::TensorType::get()) : c10::TypePtr(c10::AnyType::get());
}

c10::IValue build(const TreeSpec& spec, const std::vector<c10::IValue>& leaves, size_t& next) {
  if (spec.kind == TreeSpec::Kind::leaf) return leaves.at(next++);
  std::vector<c10::IValue> items;
  for (const auto& child : spec.children) items.push_back(build(child, leaves, next));
  if (spec.kind == TreeSpec::Kind::tuple) return c10::ivalue::Tuple::create(std::move(items));
  if (spec.kind == TreeSpec::Kind::list) {
    c10::impl::GenericList list(common_type(items));
    for (auto& item : items) list.push_back(std::move(item));
    return list;
  }
  const auto key_type = spec.keys.empty() ? c10::TypePtr(c10::StringType::get()) : spec.keys[0].type();
  c10::impl::GenericDict dict(key_type, common_type(items));
  for (size_t i = 0; i < items.size(); ++i) dict.insert(spec.keys[i], items[i]);
  return dict;
}

}  // namespace

size_t TreeSpec::leaves() const {
  if (kind == Kind::leaf) return 1;
  size_t count = 0;
  for (const auto& child : children) count += child.leaves();
  return count;
}

TreeSpec read_tree_spec(const JsonPlace& text, const std::optional<JsonPlace>& fields) {
  const json parsed = parse_json(text.text(), text.place());
  const JsonPlace root(parsed, text.place());
  const auto items = root.items();
  if (items.size() != 2 || items[0].integer() != 1) root.fail("expected a TreeSpec of protocol 1");
  return spec_of(items[1], fields);
}

std::vector<c10::IValue> leaves_of(const c10::IValue& value, const TreeSpec& spec) {
  std::vector<c10::IValue> leaves;
  collect(value, spec, leaves);
  return leaves;
}

c10::IValue tree_of(const TreeSpec& spec, const std::vector<c10::IValue>& leaves) {
  if (leaves.size() != spec.leaves())
    throw std::invalid_argument(fmt::format("{} values for a tree of {}", leaves.size(), spec.leaves()));
  size_t next = 0;
  return build(spec, leaves, next);
}

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

InputDescription of_state(const JsonPlace& spec, Source source, const char* name) {
  InputDescription read{.place = spec};
  read.input = {source, spec.at(name).text(), -1};
  read.graph_name = spec.at("arg").at("name").text();
  read.tensor = true;
  return read;
}

InputDescription read_input(const JsonPlace& spec) {
  const auto [kind, value] = spec.only();
  if (kind == "user_input") return of_user(value);
  if (kind == "constant_input") return InputDescription{.place = value};
  if (kind == "parameter") return of_state(value, Source::parameter, "parameter_name");
  if (kind == "buffer") return of_state(value, Source::buffer, "buffer_name");
  if (kind == "tensor_constant") return of_state(value, Source::constant, "tensor_constant_name");
  if (kind == "custom_obj")
    value.fail(
        fmt::format("the custom object {} (expected tensors; export the model without objects of "
                    "torch.classes)",
                    value.at("custom_obj_name").text()));
  spec.fail(fmt::format("{}: inputs of this kind are not supported", kind.substr(0, 200)));
}

/// Returns the slot of an input that the program writes to.
int slot_of(const Program& program, const JsonPlace& spec, const std::string& key, bool of_user) {
  const auto name = spec.at(key).text();
  for (const auto& input : program.inputs) {
    if (input.slot >= 0 && (input.source == Source::user) == of_user && input.name == name) return input.slot;
  }
  spec.fail(fmt::format("{} is not an input of the graph", name.substr(0, 200)));
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
    } else if (kind == "buffer_mutation" || kind == "parameter_mutation" || kind == "user_input_mutation") {
      const std::string key = kind.substr(0, kind.rfind('_')) + "_name";
      program.mutations.push_back({slot_of(program, spec, key, kind == "user_input_mutation"), values[i]});
    } else {
      items[i].fail(fmt::format("{}: expected a forward program, without gradients or tokens", kind.substr(0, 200)));
    }
  }
}

}  // namespace torchstone::formats::exported
