// A planted fault in one node of a compiled program. `fault_program` spoils a node and compiles the result with
// Inductor. The option `value` names the value that the node computes, and `fault` the kind of fault. When a diagnosis
// compiles a part of the program, the fault stays in the same node.
//
// Faults added after the node:
//   scaled    makes the value 5 % larger
//   negated   changes its sign
//   operator  takes its sine
//   shifted   rolls it by one along the last axis
//   rounded   rounds it to two decimals
//   refused   applies an operator that does not exist
//   sized     in a program with a dynamic batch: multiplies it by batch size / batch size at compile time
// Faults in the node itself:
//   dropped   returns its first argument
//   constant  changes a number (eps, alpha, a factor)
//   axis      reduces along the preceding axis
//   swapped   swaps its first two arguments, or the first two of its list
//   late      reads its first argument after an in-place relu of it
#include <torchstone/backend.h>

#include "fixtures/backends/backend_registry.h"
#include "fixtures/backends/program_compiler.h"
#include "fixtures/capture/capture.h"
#include "fixtures/core/run_options.h"

namespace torchstone::program_faults {
namespace {

using nlohmann::json;

json call(const std::string& op, const std::string& overload, json arguments, const std::string& output) {
  return {{"op", op}, {"overload", overload}, {"arguments", std::move(arguments)}, {"outputs", {output}}};
}

/// Returns the node that computes the spoiled value `to` from the right value `from`.
json behind(const std::string& fault, const std::string& from, const std::string& to) {
  const json value = {{"value", from}};
  if (fault == "scaled") return call("aten::mul", "Scalar", {value, {{"float", 1.05}}}, to);
  if (fault == "refused") return call("aten::no_such", "", {value}, to);
  if (fault == "shifted")
    return call("aten::roll", "", {value, {{"list", {{{"int", 1}}}}}, {{"list", {{{"int", -1}}}}}}, to);
  if (fault == "rounded") return call("aten::round", "decimals", {value, {{"int", 2}}}, to);
  return call(fault == "operator" ? "aten::sin" : "aten::neg", "", {value}, to);
}

/// Changes the first floating-point argument, or else the last argument. Neither is an axis or a size.
void change_number(json& arguments) {
  for (auto& argument : arguments)
    if (argument.contains("float")) {
      argument["float"] = 1.5 * argument["float"].get<double>() + 0.1;
      return;
    }
  arguments.back() = {{"int", arguments.back().at("int").get<int>() + 1}};  // the alpha of a sum
}

void swap_arguments(json& arguments) {
  auto& swapped = arguments.at(0).contains("list") ? arguments.at(0)["list"] : arguments;
  std::swap(swapped.at(0), swapped.at(1));
}

/// Applies a fault in the node itself. Returns false if `fault` is not one of those.
bool spoil_node(const std::string& fault, json& node) {
  auto& arguments = node["arguments"];
  if (fault == "dropped")
    node = call("aten::clone", "", {arguments.at(0), {{"none", true}}}, node["outputs"][0]);
  else if (fault == "constant")
    change_number(arguments);
  else if (fault == "axis")
    arguments.at(1)["int"] = arguments.at(1).at("int").get<int>() - 1;
  else if (fault == "swapped")
    swap_arguments(arguments);
  else
    return false;
  return true;
}

/// Adds the fault "sized" after the node. It reads the batch size at run time from the first input's first dimension: a
/// literal would always be the batch size at compile time.
void scale_by_batch(const json& program, const std::string& from, const std::string& to, json& nodes) {
  const json& input = program.at("inputs").at(0);
  const json none = {{"none", true}}, batch = {{"size", input.at("dynamic").at("0")}};
  const json dtype = {{"dtype", "float32"}}, device = {{"device", input.at("device")}};
  nodes.push_back(call("aten::ones", "", {{{"list", {batch}}}, dtype, none, device, none}, to + "_ones"));
  nodes.push_back(call("aten::sum", "", {{{"value", to + "_ones"}}, none}, to + "_batch"));
  nodes.push_back(call("aten::mul", "Tensor", {{{"value", from}}, {{"value", to + "_batch"}}}, to + "_scaled"));
  const double compiled_for = input.at("sizes").at(0).get<double>();
  nodes.push_back(call("aten::div", "Scalar", {{{"value", to + "_scaled"}}, {{"float", compiled_for}}}, to));
}

/// Returns the program with the fault. The spoiled value keeps the original name, and the node's right value gets
/// another one.
json spoiled(const json& program, const std::map<std::string, std::string>& options) {
  const std::string name = options.at("value"), fault = options.at("fault"), other = name + "_right";
  if (fault == "sized" && !program.contains("dimensions")) return program;
  json changed = program, nodes = json::array();
  for (json node : program.at("nodes")) {
    if (node["outputs"] != json({name}) || spoil_node(fault, node)) {
      nodes.push_back(std::move(node));
    } else if (fault == "late") {
      nodes.push_back(call("aten::relu", "", {node["arguments"].at(0)}, other));
      node["arguments"][0] = {{"value", other}};
      nodes.push_back(std::move(node));
    } else {
      node["outputs"] = {other};
      nodes.push_back(std::move(node));
      if (fault == "sized")
        scale_by_batch(program, other, name, nodes);
      else
        nodes.push_back(behind(fault, other, name));
    }
  }
  changed["nodes"] = std::move(nodes);
  return changed;
}

class FaultyProgram : public Backend, public backends::ProgramCompiler {
 public:
  std::optional<std::string> unsupported(const Case& c) const override {
    if (!c.backend.options.contains("value") || !c.backend.options.contains("fault"))
      return "fault_program needs the options value and fault";
    return inductor().unsupported(plain(c));
  }
  bool is_dynamic() const override { return true; }
  void prepare(const Case& c) const override { inductor().prepare(plain(c)); }
  compile::ArtifactRequest request(const Captured& captured, const Case& c) const override {
    return make_request(capture::to_json(captured), backends::values_for(captured, plain(c)), c);
  }
  compile::ArtifactRequest make_request(json program, const std::map<std::string, torch::Tensor>& constants,
                                        const Case& c) const override {
    return compiler().make_request(spoiled(program, c.backend.options), constants, plain(c));
  }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const auto order = request(captured, c);
    return load(compile::find_or_compile(run_options_of(c), order), order, std::move(captured), c);
  }
  std::unique_ptr<Compiled> load(const compile::Artifact& artifact, const compile::ArtifactRequest& order,
                                 Captured captured, const Case& c) const override {
    return compiler().load(artifact, order, std::move(captured), plain(c));
  }

 private:
  static const Backend& inductor() { return backend_named("inductor"); }
  static const backends::ProgramCompiler& compiler() { return *backends::program_compiler(inductor()); }
  /// Returns the case for Inductor, with all options but `value` and `fault`.
  static Case plain(Case c) {
    c.backend.name = "inductor";
    c.backend.options.erase("value");
    c.backend.options.erase("fault");
    return c;
  }
};

TORCHSTONE_BACKEND(fault_program, std::make_unique<FaultyProgram>());

}  // namespace
}  // namespace torchstone::program_faults
