// A planted fault in one node of the program that is compiled: `fault_program` is Inductor on a program in which the
// value of the option `value` is spoiled as the option `fault` says. The fault stays at its value in parts of the
// program too.
//   scaled    the value is 5 % larger         operator   sin of the value in its place
//   negated   its sign is wrong               refused    an operator that there is not
#include <torchstone/backend.h>

#include "fixtures/backends/program_compiler.h"
#include "fixtures/backends/registry.h"
#include "fixtures/capture/capture.h"

namespace torchstone {
namespace {

using nlohmann::json;

json spoiling_node(const std::string& fault, const std::string& from, const std::string& to) {
  const json value = {{"value", from}};
  if (fault == "scaled")
    return {{"op", "aten::mul"}, {"overload", "Scalar"}, {"arguments", {value, {{"float", 1.05}}}}, {"outputs", {to}}};
  if (fault == "refused") return {{"op", "aten::no_such"}, {"overload", ""}, {"arguments", {value}}, {"outputs", {to}}};
  return {{"op", fault == "operator" ? "aten::sin" : "aten::neg"},
          {"overload", ""},
          {"arguments", {value}},
          {"outputs", {to}}};
}

/// The node keeps its place; its value gets another name, and the spoiled one has it.
json spoiled(json program, const std::map<std::string, std::string>& options) {
  const std::string name = options.at("value"), right = name + "_right";
  json nodes = json::array();
  for (json node : program["nodes"]) {
    const bool found = node["outputs"] == json({name});
    if (found) node["outputs"] = {right};
    nodes.push_back(std::move(node));
    if (found) nodes.push_back(spoiling_node(options.at("fault"), right, name));
  }
  program["nodes"] = std::move(nodes);
  return program;
}

class FaultyProgram : public Backend, public backends::ProgramCompiler {
 public:
  std::optional<std::string> unsupported(const Case& c) const override {
    if (!c.backend.options.contains("value") || !c.backend.options.contains("fault"))
      return "fault_program needs the options value and fault";
    return inductor().unsupported(plain(c));
  }
  void prepare(const Case& c) const override { inductor().prepare(plain(c)); }
  compile::ArtifactRequest request(const Captured& captured, const Case& c) const override {
    return request_of(capture::to_json(captured), captured.constants, c);
  }
  compile::ArtifactRequest request_of(json program, const std::map<std::string, torch::Tensor>& constants,
                                      const Case& c) const override {
    return compiler().request_of(spoiled(std::move(program), c.backend.options), constants, plain(c));
  }
  std::unique_ptr<Compiled> compile(Captured captured, const Case& c) const override {
    const auto order = request(captured, c);
    return load(backends::order_artifact(order), order, std::move(captured), c);
  }
  std::unique_ptr<Compiled> load(const compile::Artifact& artifact, const compile::ArtifactRequest& order,
                                 Captured captured, const Case& c) const override {
    return compiler().load(artifact, order, std::move(captured), plain(c));
  }

 private:
  static const Backend& inductor() { return backend_of("inductor"); }
  static const backends::ProgramCompiler& compiler() { return *backends::program_compiler(inductor()); }
  static Case plain(Case c) {
    c.backend = {"inductor", {}};
    return c;
  }
};

TORCHSTONE_BACKEND(fault_program, FaultyProgram);

}  // namespace
}  // namespace torchstone
