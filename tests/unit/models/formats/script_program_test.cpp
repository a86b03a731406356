// Constants of TorchScript files (devices, modes, sizes), and messages of their errors.
#include "models/formats/script_program.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <torchstone/model.h>

#include "models/core/file_program.h"
#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr auto named_device =
    "def forward(self, x):\n"
    "  places = torch.arange(3, device=torch.device(\"cuda:0\"))\n"
    "  return torch.linear(x, self.weight).to(torch.device(\"cuda:0\")) + places.sum()\n";

TEST(ScriptConstants, ThatNameCudaRunOnTheCpuAndTheRowSaysSo) {
  const ScriptFile file(named_device, {torch::ones({2, 3})});
  const auto info = file.info();
  const auto model = info.make({});
  const auto output = model->forward({torch::ones({2, 3})}).toTensor();
  EXPECT_TRUE(torch::equal(output, torch::full({2, 4}, 6.0)));
  EXPECT_EQ(info.facts().notes.at("device_constants"), "cpu instead of cuda:0 (1 of the file)");
}

TEST(ScriptConstants, FollowTheModelToAnotherDeviceAndDtype) {
  torch::jit::Module module("net");
  module.define("def forward(self, x):\n  return x + torch.arange(3, device=torch.device(\"cpu\"))\n");
  auto& graph = *torch::jit::toGraphFunction(module.get_method("forward").function()).graph();
  const torch::jit::WithInsertPoint end(graph.return_node());
  auto* sum = graph.insert(c10::aten::add, {graph.outputs()[0], graph.insertConstant(torch::ones({3}))});
  graph.eraseOutput(0);
  graph.registerOutput(sum);
  const ScriptFile file(module, {torch::ones({2, 3})});
  const auto model = file.info().make({});
  model->to(torch::kHalf);
  EXPECT_EQ(model->forward({torch::ones({2, 3}, torch::kHalf)}).toTensor().scalar_type(), torch::kHalf);
  model->to(torch::kMeta);
  const auto output = model->forward({torch::ones({2, 3}, torch::device(torch::kMeta).dtype(torch::kHalf))});
  EXPECT_TRUE(output.toTensor().is_meta());
  EXPECT_EQ(output.toTensor().scalar_type(), torch::kHalf);
}

// A traced GRU has such a constant: its first state is torch.zeros(…, dtype=torch.float32).
TEST(ScriptConstants, ThatAskForTheFilesDtypeAskForFloat64InTheReference) {
  torch::jit::Module module("net");
  module.register_parameter("weight", torch::ones({3, 3}), false);
  module.register_attribute("offset", c10::TensorType::get(), torch::ones({3, 3}));
  module.define(
      "def forward(self, x):\n"
      "  state = torch.zeros([3, 3], dtype=6) + x.size(1) * 0\n"
      "  small = torch.ones([3, 3], dtype=15)\n"
      "  return torch.mm(torch.mm(x, self.weight), state) + torch.mm(x.to(6), self.offset) + small, small\n");
  const ScriptFile file(module, {torch::ones({3, 3})});
  const auto model = file.info().make({});
  EXPECT_TRUE(model->named_buffers().contains("offset"));
  EXPECT_FALSE(model->in_state_dict("offset")) << "no state_dict has a plain attribute";
  EXPECT_TRUE(model->in_state_dict("weight"));
  model->to(torch::kFloat64);
  const auto output = model->forward({torch::ones({3, 3}, torch::kFloat64)}).toTupleRef().elements();
  EXPECT_EQ(output[0].toTensor().scalar_type(), torch::kFloat64);
  EXPECT_EQ(output[1].toTensor().scalar_type(), torch::kBFloat16)
      << "the script asks for a dtype that differs from the file's";
  EXPECT_TRUE(output[0].toTensor().equal(torch::full({3, 3}, 4.0, torch::kFloat64)));
}

// Tensors that a submodule makes must be made on the model's device. Every traced transformer has such submodules.
TEST(ScriptConstants, OfSubmodulesFollowAsWell) {
  torch::jit::Module child("child"), module("net");
  child.define("def forward(self, x):\n  return x + torch.arange(3, device=torch.device(\"cpu\"))\n");
  module.register_module("child", child);
  module.define("def forward(self, x):\n  return self.child.forward(x)\n");
  const ScriptFile file(module, {torch::ones({2, 3})});
  const auto model = file.info().make({});
  model->to(torch::kMeta);
  EXPECT_TRUE(model->forward({torch::ones({2, 3}, torch::kMeta)}).toTensor().is_meta());
}

TEST(ScriptConstants, OfTheModelsOwnDeviceAreNotWorthANote) {
  const ScriptFile file("def forward(self, x):\n  return x + torch.arange(3, device=torch.device(\"cpu\"))\n",
                        {torch::ones({2, 3})});
  const auto info = file.info();
  info.make({});
  EXPECT_THAT(info.facts().notes, IsEmpty());
}

// A trace keeps the switches of the process that made it, such as allow_tf32, as the last four arguments.
TEST(ScriptConstants, SwitchesOfConvolutionsAreThoseOfTheProcessThatRuns) {
  torch::jit::Module child("child"), module("net");
  child.define(
      "def forward(self, x):\n"
      "  return torch._convolution(x, x, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True)\n");
  module.register_module("child", child);
  module.define("def forward(self, x):\n  return self.child.forward(x)\n");
  const ScriptFile file(module, {torch::ones({1, 3, 2, 2})});
  const auto model = file.info().make({});
  const auto child_of_model = model->script()->attr("child").toModule();
  const auto text = torch::jit::toGraphFunction(child_of_model.get_method("forward").function()).graph()->toString();
  EXPECT_THAT(text, AllOf(HasSubstr("aten::conv2d"), testing::Not(HasSubstr("aten::_convolution"))));
  EXPECT_EQ(model->forward({torch::ones({1, 3, 2, 2})}).toTensor().item<double>(), 12);
}

TEST(ScriptDropout, DropsNothingAtTheRateThatItIsGiven) {
  const ScriptFile file(
      "def forward(self, x):\n"
      "  y = torch.dropout(x, 0.5, True)\n"
      "  if self.training:\n"
      "    y = torch.feature_dropout(y, 0.25, self.training)\n"
      "  return torch.dropout(torch.dropout(y, 0.5, False), 0., True)\n",
      {torch::ones({8, 16})});
  const auto model = file.info().make({Preset::mini, Mode::training, 8});
  model->train();
  const auto drawn = [&](uint64_t seed) {
    torch::manual_seed(seed);
    return model->forward({torch::ones({8, 16})}).toTensor();
  };
  EXPECT_FALSE(drawn(1).equal(drawn(2))) << "the dropout keeps its saved rate";
  EXPECT_EQ(dynamic_cast<DropoutRates&>(*model).set_dropout_rate(1e-30), 2u);
  EXPECT_TRUE(drawn(1).equal(torch::ones({8, 16})));
  model->to(torch::kFloat64);
  EXPECT_TRUE(drawn(2).equal(torch::ones({8, 16}))) << "a cast keeps the rate";
}

// Traces of Python hold aten::_convolution, which autocast does not cast on the CPU.
TEST(ScriptUnderAutocastOnTheCpu, ATracedConvolutionIsCast) {
  for (const char* transposed : {"False", "True"}) {
    const ScriptFile file(
        fmt::format("def forward(self, x):\n"
                    "  rows = torch.linear(x, self.weight).unsqueeze(1)\n"
                    "  return torch._convolution(rows, torch.ones([1, 1, 2]), None, [1], [0], [1], {}, "
                    "[0], 1, False, False, True, True)\n",
                    transposed),
        {torch::ones({2, 3})});
    const auto model = file.info().make({});
    const auto plain = model->forward({torch::ones({2, 3})}).toTensor();
    EXPECT_EQ(plain.scalar_type(), torch::kFloat32);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const auto cast = model->forward({torch::ones({2, 3})}).toTensor();
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    EXPECT_EQ(cast.scalar_type(), torch::kBFloat16) << transposed;
    EXPECT_TRUE(torch::equal(cast.to(torch::kFloat32), plain)) << transposed;
  }
}

TEST(ScriptMode, IsReadFromConstantArguments) {
  const auto forward = [](const std::string& expression) {
    return "def forward(self, x):\n  return torch.linear(" + expression + ", self.weight)\n";
  };
  const ScriptFile evaluates(forward("torch.dropout(x, 0.5, False)"), {torch::ones({2, 3})});
  EXPECT_THAT(evaluates.info().not_trained,
              AllOf(StartsWith("saved in eval mode: aten::dropout"), HasSubstr("train mode")));
  const ScriptFile trains(forward("torch.dropout(x, 0.5, True)"), {torch::ones({2, 3})});
  EXPECT_THAT(trains.info().not_trained, IsEmpty());
  EXPECT_THAT(first_line_of_error([&] { trains.info().make({.mode = Mode::inference}); }),
              HasSubstr("net.pt: saved in train mode: aten::dropout"));
  EXPECT_NO_THROW(trains.info().make({.mode = Mode::training}));
  const ScriptFile follows(forward("torch.dropout(x, 0.5, self.training)"), {torch::ones({2, 3})});
  EXPECT_THAT(follows.info().not_trained, IsEmpty());
  const ScriptFile idle(forward("torch.dropout(x, 0.0, False)"), {torch::ones({2, 3})});
  EXPECT_THAT(idle.info().not_trained, IsEmpty());
}

TEST(ScriptMode, AFileWithoutParametersIsNotTrained) {
  torch::jit::Module module("net");
  module.define("def forward(self, x):\n  return x + 1\n");
  EXPECT_EQ(ScriptFile(module, {torch::ones({2, 3})}).info().not_trained,
            "the file has no parameter that requires a gradient");
}

TEST(ScriptBatch, IsChangedWhereTheProgramAllowsIt) {
  const ScriptFile file("def forward(self, x, y):\n  return torch.linear(x + y, self.weight)\n",
                        {torch::rand({2, 3}), torch::rand({2, 3})});
  const auto model = file.info().make({.batch_size = 5});
  const auto inputs = model->example_inputs({.batch_size = 5});
  EXPECT_EQ(inputs[0].sizes(), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(inputs[1].sizes(), (std::vector<int64_t>{5, 3}));
  EXPECT_EQ(model->forward(inputs).toTensor().size(0), 5);
  EXPECT_EQ(model->example_inputs({.batch_size = 1})[0].size(0), 1);
}

TEST(ScriptBatch, IsRefusedWithTheOperatorThatDoesNotAllowIt) {
  const auto refusal = [](const std::string& forward, const Tensors& inputs) {
    const ScriptFile file(forward, inputs);
    const auto model = file.info().make({.batch_size = 5});
    return first_line_of_error([&] { model->example_inputs({.batch_size = 5}); });
  };
  EXPECT_THAT(
      refusal("def forward(self, x):\n  return torch.linear(x, self.weight).view([2, 4])\n", {torch::ones({2, 3})}),
      StartsWith("the program fails with 5 samples, the file's inputs have 2: aten::view: shape '[2, 4]' "
                 "is invalid for input of size 20"));
  EXPECT_THAT(refusal("def forward(self, x):\n  return x[0]\n", {torch::ones({2, 3})}),
              HasSubstr("no output depends on the number of samples: output 0 stays [3]"));
  EXPECT_THAT(refusal("def forward(self, x):\n  return x.view([2, -1])\n", {torch::ones({2, 6})}),
              HasSubstr("output 0 has the sizes [2, 6] with 2 samples and [2, 15] with 5"));
  EXPECT_THAT(
      refusal("def forward(self, x, table):\n  return x + table.sum()\n", {torch::ones({2, 3}), torch::ones({7})}),
      HasSubstr("input 1 has the sizes [7], expected the first dimension 2"));
}

TEST(ScriptErrors, HaveTheirCauseFirst) {
  const ScriptFile file("def forward(self, x):\n  return torch.linear(x, self.weight)\n", {torch::ones({2, 5})});
  const auto model = file.info().make({.batch_size = 2});
  EXPECT_THAT(first_line_of_error([&] {
                model->forward({torch::ones({2, 5})});
              }),
              StartsWith("aten::linear: mat1 and mat2 shapes cannot be multiplied (2x5 and 3x4)"));
  EXPECT_THAT(first_line_of_error([&] { model->forward({}); }), HasSubstr("missing value for argument 'x'"));
}

}  // namespace
}  // namespace torchstone::formats
