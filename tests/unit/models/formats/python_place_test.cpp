// Messages of TorchScript's interpreter, as PyTorch 2.13 writes them.

#include "models/formats/python_place.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/script.h>

#include "models/formats/script_program.h"

namespace torchstone::formats {
namespace {

std::string first_line(const std::string& message) {
  const auto text = with_cause_first(message);
  return text.substr(0, text.find('\n'));
}

constexpr auto traced_error = R"(The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__.py", line 21, in forward
    _3 = (d).forward((bn).forward(input, ), )
    _4 = torch.view(_3, [3, 4])
         ~~~~~~~~~~ <--- HERE
    _5 = torch.to(torch.t(m), dtype=6, layout=0, device=torch.device("cpu"))

Traceback of TorchScript, original code (most recent call last):
/home/me/venv/lib/python3.11/site-packages/torch/nn/functional.py(2898): view_as
/home/me/net.py(11): forward
/home/me/venv/lib/python3.11/site-packages/torch/nn/modules/module.py(1768): _slow_forward
/home/me/train.py(13): <module>
RuntimeError: shape '[3, 4]' is invalid for input of size 20
)";

constexpr auto scripted = R"(The following operation failed in the TorchScript interpreter.
Traceback of TorchScript, serialized code (most recent call last):
  File "code/__torch__.py", line 12, in forward
      _1 = (l).forward(x, )
            ~~~~~~~~~~ <--- HERE
  File "code/__torch__/torch/nn/modules/linear/___torch_mangle_4.py", line 14, in forward
    return torch.linear(input, weight, bias)
           ~~~~~~~~~~~~ <--- HERE

Traceback of TorchScript, original code (most recent call last):
  File "/home/me/net.py", line 22, in forward
            return s.l(x)
                   ~~~ <--- HERE
  File "/home/me/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 134, in forward
        return F.linear(input, self.weight, self.bias)
               ~~~~~~~~ <--- HERE
RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x5 and 4x4)
)";

TEST(InterpreterError, OfATraceNamesOperatorCauseAndTheUsersLine) {
  EXPECT_EQ(first_line(traced_error), "aten::view: shape '[3, 4]' is invalid for input of size 20 (net.py:11)");
  EXPECT_NE(with_cause_first(traced_error).find("serialized code"), std::string::npos) << "LibTorch's text follows";
}

TEST(InterpreterError, OfAScriptNamesTheLineOutsidePytorch) {
  EXPECT_EQ(first_line(scripted), "aten::linear: mat1 and mat2 shapes cannot be multiplied (2x5 and 4x4) (net.py:22)");
}

TEST(InterpreterError, KeepsWhatStandsInFrontAndTheKindOfAnErrorThatTheUserRaised) {
  const std::string raised =
      "the script fails: The following operation failed in the TorchScript interpreter.\n"
      "Traceback of TorchScript, serialized code (most recent call last):\n"
      "  File \"code/__torch__.py\", line 14, in forward\n"
      "      ops.prim.RaiseException(\"no positive sum\", \"builtins.ValueError\")\n"
      "      ~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE\n\n"
      "Traceback of TorchScript, original code (most recent call last):\n"
      "  File \"/tmp/t.py\", line 23, in forward\n"
      "        raise ValueError(\"no positive sum\")\n"
      "        ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ <--- HERE\n"
      "builtins.ValueError: no positive sum\n";
  EXPECT_EQ(first_line(raised),
            "the script fails: prim::RaiseException: builtins.ValueError: no positive sum (t.py:23)");
}

TEST(InterpreterError, TakesTheInnermostOfSeveralTracedCalls) {
  const std::string nested =
      "The following operation failed in the TorchScript interpreter.\n"
      "Traceback of TorchScript, original code (most recent call last):\n"
      "/a/outer.py(3): forward\n/a/main.py(9): <module>\n/a/inner.py(7): forward\n/a/outer.py(3): forward\n"
      "/a/main.py(9): <module>\nRuntimeError: bad\n";
  EXPECT_EQ(first_line(nested), "bad (inner.py:7)");
}

TEST(InterpreterError, OfAGraphWithoutSourceIsTheCauseAlone) {
  EXPECT_EQ(first_line("The following operation failed in the TorchScript interpreter.\n"
                       "Traceback of TorchScript (most recent call last):\nRuntimeError: a: b\nmore\n"),
            "a: b");
}

TEST(InterpreterError, LeavesOtherMessagesAsTheyAre) {
  EXPECT_EQ(with_cause_first("CUDA error: x\ny"), "CUDA error: x\ny");
  EXPECT_EQ(with_cause_first(""), "");
}

namespace jit = torch::jit;
using testing::IsEmpty;

struct Places {
  std::map<std::string, std::string> modules, sources;
};

/// Returns the module and the source line of each node, by the name of its operator.
Places places_of(const jit::Graph& graph, const jit::Module& module) {
  Places places;
  for (const jit::Node* node : graph.nodes()) {
    const std::string name = node->kind().toUnqualString();
    places.modules[name] = module_of_node(*node, module);
    places.sources[name] = python_place(*node);
  }
  return places;
}

/// Returns a model that calls sigmoid itself. Its module `first` calls exp, and relu in `inner`. The model also calls
/// `second.other` (cos).
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
  EXPECT_EQ(places_of(*inlined_forward(net), net).modules.at("relu"), "") << "the module is a.leaf or b.leaf";
}

template <typename Call>
std::shared_ptr<jit::Graph> traced(const Call& call) {
  return jit::tracer::trace(
             {torch::ones({2})}, [&](const jit::Stack& stack) { return jit::Stack{call(stack.at(0).toTensor())}; },
             [](const torch::Tensor&) { return std::string(); })
      .first->graph;
}

/// A script may take the called module from a value, as a trace in Python does for a module with two names.
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
