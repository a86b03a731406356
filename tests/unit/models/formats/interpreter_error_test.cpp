// Messages of TorchScript's interpreter, as PyTorch 2.13 writes them.
#include "models/formats/interpreter_error.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace torchstone::formats
