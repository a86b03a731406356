// TorchScript files as models.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <torch/script.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "models/formats/model_file.h"
#include "models/formats/pickle/pickle.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/script_file.h"

namespace torchstone::formats {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Folder with a script module (an embedding, a nested linear layer and a dropout) and its inputs.
class ScriptModelTest : public testing::Test {
 protected:
  void SetUp() override {
    torch::jit::Module inner("inner");
    inner.register_parameter("weight", torch::randn({4, 3}), false);
    inner.define("def forward(self, x):\n  return torch.linear(x, self.weight)\n");
    torch::jit::Module outer("outer");
    outer.register_module("inner", inner);
    outer.register_parameter("table", torch::randn({10, 3}), false);
    outer.register_buffer("count", torch::arange(3));
    outer.register_attribute("training", c10::BoolType::get(), true);
    outer.define(
        "def forward(self, x, ids):\n"
        "  y = self.inner.forward(x + torch.embedding(self.table, ids) + self.count)\n"
        "  return torch.dropout(y, 0.5, self.training), y\n");
    outer.save(path("2net-a.pt"));
    save("inputs.pt", std::make_tuple(torch::randn({5, 3}) + 100, torch::arange(5)));
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void save(const std::string& name, const c10::IValue& value) const {
    const auto bytes = torch::pickle_save(value);
    write(name, std::string(bytes.begin(), bytes.end()));
  }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  template <class... Texts>
  void expect_error(const std::string& model, const std::string& inputs, Texts... texts) const {
    EXPECT_THAT([&] { script_model_info(path(model), path(inputs)); },
                ThrowsMessage<std::runtime_error>(AllOf(HasSubstr(texts)...)));
  }

  const ModelOptions five{.batch_size = 5};
  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

TEST_F(ScriptModelTest, IsNamedAfterItsStemAndHasItsBatch) {
  const auto info = script_model_info(path("2net-a.pt"), path("inputs.pt"));
  EXPECT_EQ(info.name, "2net_a");
  EXPECT_FALSE(info.fixed_batch);
  EXPECT_EQ(info.eval_batch, 5);
}

TEST(ScriptModelFacts, NameItsModelOfUpstreams) {
  torch::jit::Module module("net");
  module.define("def forward(self, x):\n  return x + 1\n");
  const auto upstream_with = [&](const std::string& facts) {
    return ScriptFile(module, {torch::ones({2, 3})}, {{"torchstone_info.json", facts}}).info().upstream;
  };
  EXPECT_FALSE(ScriptFile(module, {torch::ones({2, 3})}).info().upstream);
  const auto upstream =
      upstream_with(R"({"format": 1, "source": "transformers:OPTForCausalLM", "suite": "huggingface"})");
  ASSERT_TRUE(upstream);
  EXPECT_EQ(upstream->suite, "huggingface");
  EXPECT_EQ(upstream->name, "OPTForCausalLM");
  EXPECT_THAT(first_line_of_error([&] { upstream_with("{"); }),
              AllOf(HasSubstr("net.pt"), HasSubstr("torchstone_info.json")));
}

TEST_F(ScriptModelTest, AnswersAsTheScriptAndShowsItsState) {
  const auto model = script_model_info(path("2net-a.pt"), path("inputs.pt")).make({});
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state_of(*model)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"count", "inner.weight", "table"}));
  EXPECT_EQ(count_parameters(*model), 12 + 30);
  ASSERT_NE(model->script(), nullptr);
  model->eval();
  const auto inputs = model->example_inputs(five);
  const auto state = state_of(*model);
  const auto expected = torch::linear(inputs[0] + torch::embedding(state.at("table"), inputs[1]) + state.at("count"),
                                      state.at("inner.weight"));
  const auto output = model->forward(inputs).toTupleRef().elements()[0].toTensor();
  EXPECT_TRUE(torch::allclose(output, expected));
}

TEST_F(ScriptModelTest, TheFirstInputsAreTheFilesAndTheNextAreOthers) {
  const auto model = script_model_info(path("2net-a.pt"), path("inputs.pt")).make({});
  const auto first = model->example_inputs(five), second = model->example_inputs(five);
  EXPECT_TRUE(torch::equal(first[1], torch::arange(5)));
  EXPECT_FALSE(torch::equal(first[0], second[0]));
  EXPECT_NEAR(second[0].mean().item<float>(), 100, 3);
  EXPECT_EQ(second[0].sizes(), first[0].sizes());
  EXPECT_TRUE(torch::equal(std::get<0>(second[1].sort()), first[1]));
}

TEST_F(ScriptModelTest, ACastReachesTheScript) {
  const auto model = script_model_info(path("2net-a.pt"), path("inputs.pt")).make({});
  model->eval();
  model->to(torch::kFloat64);
  auto inputs = model->example_inputs(five);
  inputs[0] = inputs[0].to(torch::kFloat64);
  EXPECT_EQ(model->forward(inputs).toTupleRef().elements()[0].toTensor().scalar_type(), torch::kFloat64);
  for (const auto& parameter : model->script()->parameters()) EXPECT_EQ(parameter.scalar_type(), torch::kFloat64);
  EXPECT_EQ(model->script()->attr("count").toTensor().scalar_type(), torch::kInt64);
  torch::NoGradGuard no_grad;
  state_of(*model).at("inner.weight").zero_();
  EXPECT_EQ(model->forward(inputs).toTupleRef().elements()[0].toTensor().abs().sum().item<double>(), 0);
}

TEST_F(ScriptModelTest, TrainAndEvalReachTheScript) {
  const auto model = script_model_info(path("2net-a.pt"), path("inputs.pt")).make({});
  const auto inputs = model->example_inputs(five);
  const auto differs = [&] {
    const auto output = model->forward(inputs);
    return !torch::equal(output.toTupleRef().elements()[0].toTensor(), output.toTupleRef().elements()[1].toTensor());
  };
  model->train();
  EXPECT_TRUE(differs());
  model->eval();
  EXPECT_FALSE(differs());
}

TEST_F(ScriptModelTest, TwoModelsOfAFileDoNotShareWeights) {
  const auto info = script_model_info(path("2net-a.pt"), path("inputs.pt"));
  const auto one = info.make({}), two = info.make({});
  torch::NoGradGuard no_grad;
  state_of(*one).at("table").zero_();
  EXPECT_GT(state_of(*two).at("table").abs().sum().item<float>(), 0);
  copy_state(*one, *two);
  EXPECT_EQ(state_of(*two).at("table").abs().sum().item<float>(), 0);
}

TEST_F(ScriptModelTest, ReadsInputsOfPythonAndListsAndSingleTensors) {
  save("list.pt", c10::List<torch::Tensor>({torch::ones({5, 3}), torch::arange(5)}));
  EXPECT_EQ(script_model_info(path("2net-a.pt"), path("list.pt")).make({})->example_inputs(five).size(), 2U);
  torch::jit::Module of_one("one");
  of_one.define("def forward(self, x):\n  return torch.neg(x)\n");
  of_one.save(path("one.pt"));
  save("tensor.pt", torch::ones({7, 3}));
  EXPECT_EQ(script_model_info(path("one.pt"), path("tensor.pt")).eval_batch, 7);
  // Written by torch.save((torch.arange(6.).view(2, 3), torch.arange(2))).
  const auto python = std::string(TORCHSTONE_TEST_DIR) + "/oracles/inputs_sample.pt";
  const auto inputs = script_model_info(path("2net-a.pt"), python).make({})->example_inputs({.batch_size = 2});
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_TRUE(torch::equal(inputs[0], torch::arange(6).to(torch::kFloat32).view({2, 3})));
  EXPECT_TRUE(torch::equal(inputs[1], torch::arange(2)));
}

TEST_F(ScriptModelTest, RefusesFilesThatAreNoModels) {
  write("text.pt", "no model at all");
  write("empty.pt", "");
  const auto whole = read("2net-a.pt");
  write("truncated.pt", whole.substr(0, whole.size() / 2));
  c10::Dict<std::string, torch::Tensor> state;
  state.insert("weight", torch::ones({2}));
  save("state_dict.pt", state);
  torch::jit::Module without_forward("net");
  without_forward.define("def other(self, x):\n  return x\n");
  without_forward.save(path("other.pt"));
  expect_error("other.pt", "inputs.pt", "other.pt: the module has no method forward");
  expect_error("absent.pt", "inputs.pt", "absent.pt: no such file");
  expect_error("text.pt", "inputs.pt", "text.pt: not a zip archive; expected a TorchScript module");
  expect_error("empty.pt", "inputs.pt", "empty.pt: not a zip archive");
  expect_error("truncated.pt", "inputs.pt", "truncated.pt: expected a TorchScript module", "truncated file");
  expect_error("state_dict.pt", "inputs.pt", "state_dict.pt: expected a TorchScript module", "not a state_dict");
}

TEST_F(ScriptModelTest, RefusesFilesThatAreNoInputs) {
  write("text.pt", "no inputs at all");
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("x", torch::ones({2}));
  save("dict.pt", dict);
  save("mixed.pt", std::make_tuple(torch::ones({2}), 3));
  save("nothing.pt", c10::List<torch::Tensor>());
  expect_error("2net-a.pt", "absent.pt", "absent.pt: cannot be opened");
  expect_error("2net-a.pt", "text.pt", "text.pt: expected a zip archive of torch.save");
  expect_error("2net-a.pt", "2net-a.pt", "2net-a.pt: a TorchScript program, expected a file of torch.save");
  expect_error("2net-a.pt", "dict.pt", "dict.pt: holds a dict of 1, expected a list or tuple of tensors");
  expect_error("2net-a.pt", "mixed.pt", "mixed.pt: element [1] is 3, but the argument ids of forward is Tensor");
  expect_error("2net-a.pt", "nothing.pt", "nothing.pt: holds no tensor");
  // Written by torch.save(torch.nn.Linear(1, 1).state_dict()), which is an OrderedDict.
  EXPECT_THAT([&] { script_model_info(path("2net-a.pt"), TORCHSTONE_TEST_DIR "/oracles/state_dict_sample.pt"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("state_dict_sample.pt: holds a dict of 2, expected a list")));
}

/// A script with forward(x, mask=None, scale=2.0, mode="sum").
class ScriptArguments : public ScriptModelTest {
 protected:
  void SetUp() override {
    ScriptModelTest::SetUp();
    torch::jit::Module module("net");
    module.define(
        "def forward(self, x, mask: Optional[Tensor]=None, scale: float=2.0, mode: str=\"sum\"):\n"
        "  if mask is not None:\n    x = x + mask\n"
        "  if mode == \"sum\":\n    x = x.sum()\n"
        "  return x * scale\n");
    module.save(path("net.pt"));
  }
  /// Returns the sum of the script's output for these arguments. Only tensors remain inputs of the model.
  double answer_for(const std::vector<c10::IValue>& arguments) {
    save("arguments.pt", c10::ivalue::Tuple::create(arguments));
    const auto model = script_model_info(path("net.pt"), path("arguments.pt")).make({});
    return model->forward(model->example_inputs({.batch_size = 2})).toTensor().sum().item<double>();
  }
  const torch::Tensor twos_ = torch::full({2}, 2.0);
};

TEST_F(ScriptArguments, ThatAreNoTensorsAreConstantsAndDefaultsMayBeLeftOut) {
  EXPECT_EQ(answer_for({twos_}), 8);
  EXPECT_EQ(answer_for({twos_, twos_}), 16);
  EXPECT_EQ(answer_for({twos_, c10::IValue()}), 8);
  EXPECT_EQ(answer_for({twos_, c10::IValue(), 3}), 12) << "an integer where forward takes a real number";
  EXPECT_EQ(answer_for({twos_, twos_, 0.5, std::string("none")}), 4);
  const auto script = script_model_info(path("net.pt"), path("arguments.pt")).make({});
  EXPECT_EQ(script->script()->get_method("forward").function().getSchema().arguments().size(), 3U);
}

TEST_F(ScriptArguments, ThatDoNotFitAreRefusedByName) {
  const auto expect = [&](const std::vector<c10::IValue>& arguments, const std::string& text) {
    save("arguments.pt", c10::ivalue::Tuple::create(arguments));
    expect_error("net.pt", "arguments.pt", "arguments.pt: " + text);
  };
  expect({twos_, twos_, 1.0, std::string("sum"), 4}, "5 elements, but forward takes 4: x, mask, scale, mode");
  expect({twos_, 7}, "element [1] is 7, but the argument mask of forward is Optional[Tensor]");
  expect({c10::IValue(), twos_}, "element [0] is None, but the argument x of forward is Tensor");
  expect({twos_, c10::List<torch::Tensor>({twos_})}, "element [1] is list of 1, expected a tensor, None, a number or");
  save("arguments.pt", twos_);
  expect_error("2net-a.pt", "arguments.pt", "there is no element [1] for the argument ids of forward (Tensor)");
}

TEST_F(ScriptModelTest, RefusesInputsThatAreCutShort) {
  const auto whole = read("inputs.pt");
  ASSERT_GT(whole.size(), 500U);
  for (const size_t kept : {size_t{4}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write("cut.pt", whole.substr(0, kept));
    expect_error("2net-a.pt", "cut.pt", "cut.pt: truncated or damaged");
  }
  write("cut.pt", "");
  expect_error("2net-a.pt", "cut.pt", "cut.pt: expected a zip archive of torch.save, the file is truncated");
}

TEST_F(ScriptModelTest, ReadsInputsWithTheLimitsOfReadPt) {
  const std::string data = TORCHSTONE_TEST_DIR "/unit/models/formats/pickle/data/";
  const auto error_of = [&](const std::string& file) -> std::string {
    try {
      script_model_info(path("2net-a.pt"), data + file);
    } catch (const PickleError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(error_of("class.pt"), AllOf(HasSubstr("class.pt: data.pkl, byte "), HasSubstr("__main__.Thing")));
  EXPECT_THAT(error_of("set.pt"), HasSubstr("__builtin__.set"));
  EXPECT_THAT(error_of("legacy.pt"), HasSubstr("save it again with torch.save"));
  EXPECT_THAT(error_of("doubling.pt"), HasSubstr("values are read"));
  EXPECT_THAT(error_of("deep.pt"), HasSubstr("200 levels"));
}

}  // namespace
}  // namespace torchstone::formats
