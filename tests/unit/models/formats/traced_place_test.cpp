#include "models/formats/traced_place.h"

#include <map>

#include <gmock/gmock.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/script.h>

#include "models/formats/script_graph.h"
#include "models/formats/script_program.h"

namespace torchstone::formats {
namespace {

namespace jit = torch::jit;
using testing::IsEmpty;

struct Places {
  std::map<std::string, std::string> modules, sources;
};

/// By the name of the operator.
Places places_of(const jit::Graph& graph, const jit::Module& module) {
  Places places;
  for (const jit::Node* node : graph.nodes()) {
    const std::string name = node->kind().toUnqualString();
    places.modules[name] = module_of_node(*node, module);
    places.sources[name] = python_place(*node);
  }
  return places;
}

/// A module `first` with `inner` (relu), and one with the name of its own `inner` (cos); sigmoid is the model's.
jit::Module nested() {
  const auto unit = std::make_shared<jit::CompilationUnit>();
  jit::Module inner("Inner", unit), other("Other", unit), first("First", unit), second("Second", unit),
      net("Net", unit);
  inner.define("def forward(self, x):\n  return torch.relu(x)\n");
  other.define("def forward(self, x):\n  return torch.cos(x)\n");
  first.register_module("inner", inner);
  first.define("def forward(self, x):\n  return torch.exp(self.inner.forward(x))\n");
  second.register_module("other", other);
  net.register_module("first", first);
  net.register_module("second", second);
  net.define("def forward(self, x):\n  return torch.sigmoid(self.second.other.forward(self.first.forward(x)))\n");
  return net;
}

TEST(ModuleOfNode, IsThatOfTheCallsThatWereInlined) {
  const jit::Module net = nested();
  const auto modules = places_of(*inlined_forward(net), net).modules;
  EXPECT_EQ(modules.at("exp"), "first");
  EXPECT_EQ(modules.at("relu"), "first.inner");
  EXPECT_EQ(modules.at("cos"), "second.other") << "reached by attributes, with no call of `second`";
  EXPECT_EQ(modules.at("sigmoid"), own_forward);
}

TEST(ModuleOfNode, IsUnknownInAScriptWithoutCallsAndBelowTwoOfOneName) {
  jit::Module plain("Plain");
  plain.define("def forward(self, x):\n  return torch.relu(x)\n");
  EXPECT_EQ(places_of(*inlined_forward(plain), plain).modules.at("relu"), "");
  const auto unit = std::make_shared<jit::CompilationUnit>();
  jit::Module leaf("Leaf", unit), one("One", unit), net("Net", unit);
  leaf.define("def forward(self, x):\n  return torch.relu(x)\n");
  one.register_module("leaf", leaf);
  net.register_module("a", one);
  net.register_module("b", one);
  net.define("def forward(self, x):\n  return self.b.leaf.forward(x)\n");
  EXPECT_EQ(places_of(*inlined_forward(net), net).modules.at("relu"), "") << "a.leaf or b.leaf";
}

template <typename Call>
std::shared_ptr<jit::Graph> traced(const Call& call) {
  return jit::tracer::trace(
             {torch::ones({2})}, [&](const jit::Stack& stack) { return jit::Stack{call(stack.at(0).toTensor())}; },
             [](const torch::Tensor&) { return std::string(); })
      .first->graph;
}

/// A script gets the module that it calls as an argument, as a trace in Python of a module under two names does.
TEST(ModuleOfNode, EndsAtACallWhoseModuleIsNotKnown) {
  const auto unit = std::make_shared<jit::CompilationUnit>();
  jit::Module leaf("Leaf", unit), net("Net", unit);
  leaf.define("def forward(self, x):\n  return torch.relu(x)\n");
  net.register_module("leaf", leaf);
  net.define("def forward(self, x):\n  parts = (self.leaf, self.leaf)\n  return parts[1].forward(x)\n");
  const std::string found = places_of(*inlined_forward(net), net).modules.at("relu");
  EXPECT_TRUE(found.empty() || found == "leaf") << found;
}

TEST(TracedPlace, IsOfWhatIsRecordedWhileItLives) {
  const auto graph = traced([](const torch::Tensor& x) {
    torch::Tensor y = x.cos();
    {
      const TracedPlace place("layers.0.conv", "net.py:12");
      y = y.relu().exp();
    }
    {
      const TracedPlace unknown("", "");
      y = y.tan();
    }
    return y.sigmoid();
  });
  const auto [modules, sources] = places_of(*graph, jit::Module("none"));
  for (const char* inside : {"relu", "exp"}) {
    EXPECT_EQ(modules.at(inside), "layers.0.conv");
    EXPECT_EQ(sources.at(inside), "net.py:12");
  }
  for (const char* outside : {"cos", "tan", "sigmoid"}) {
    EXPECT_THAT(graph->nodes().begin()->scopeName(), IsEmpty());
    EXPECT_EQ(sources.at(outside), "");
  }
  const TracedPlace without_tracer("a", "b:1");
}

TEST(TracedScript, RecordsTheCallsOfAScriptUnderATracer) {
  const ScriptProgram program(nested());
  const auto graph = traced([&](const torch::Tensor& x) { return program.run({x}).toTensor().tanh(); });
  const auto modules = places_of(*graph, jit::Module("none")).modules;
  EXPECT_EQ(modules.at("exp"), "first");
  EXPECT_EQ(modules.at("relu"), "first.inner");
  EXPECT_EQ(modules.at("cos"), "second.other");
  EXPECT_EQ(modules.at("sigmoid"), own_forward);
  for (const jit::Node* node : graph->nodes())
    EXPECT_TRUE(node->kind() != c10::aten::tanh || node->scopeName().empty()) << "is not of the script";
}

}  // namespace
}  // namespace torchstone::formats
