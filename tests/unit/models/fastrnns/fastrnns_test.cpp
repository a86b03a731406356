// Compares every LSTM runner with nn.LSTM with the same weights. Outputs and gradients must agree within 0.001,
// upstream's bound (fastrnns/test.py). Also tests sizes, executor switches, and what a tracer records.
#include <map>

#include <gmock/gmock.h>
#include <torch/csrc/jit/passes/tensorexpr_fuser.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/torch.h>

#include "models/core/model_registry.h"
#include "models/fastrnns/lstm_model.h"
#include "models/fastrnns/lstm_options.h"

namespace torchstone::fastrnns {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double bound = 0.001;
const ModelOptions options{.batch_size = 3};
const RecurrentFlags two_layers{std::nullopt, 2, std::nullopt, std::nullopt};

/// Sets the sizes of recurrent models while it exists.
class Sized {
 public:
  explicit Sized(RecurrentFlags flags) { recurrent_flags() = flags; }
  ~Sized() { recurrent_flags() = {}; }
  Sized(const Sized&) = delete;
};

Tensors tensors_in(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  if (value.isTensorList()) return value.toTensorVector();
  Tensors all;
  for (const auto& item : value.toTupleRef().elements()) all.push_back(item.toTensor());
  return all;
}

double difference(const torch::Tensor& a, const torch::Tensor& b) { return (a - b).abs().max().item<double>(); }

/// Returns an nn.LSTM with the weights of `model`.
torch::nn::LSTM original(const Model& model, int64_t input, int64_t hidden, int64_t layers) {
  torch::nn::LSTM lstm(torch::nn::LSTMOptions(input, hidden).num_layers(layers));
  const torch::NoGradGuard no_grad;
  for (const auto& item : model.named_parameters()) lstm->named_parameters()[item.key()].copy_(item.value());
  return lstm;
}

std::shared_ptr<Model> make_runner(const std::string& name) {
  torch::manual_seed(17);
  return find_model(name)->make(options);
}

class Runner : public testing::TestWithParam<std::string> {};

TEST_P(Runner, GivesTheOutputsAndGradientsOfNnLstm) {
  const auto model = make_runner(GetParam());
  auto inputs = model->example_inputs(options);
  auto lstm = original(*model, 16, 16, 1);
  Tensors expected_inputs;
  for (auto& input : inputs) {
    expected_inputs.push_back(input.clone().requires_grad_());
    input.requires_grad_();
  }
  for (int run = 0; run < 3; ++run) {  // the profiling executor specialises in its first runs
    const auto found = tensors_in(model->forward(inputs));
    const auto [output, state] =
        lstm->forward(expected_inputs[0], std::make_tuple(expected_inputs[1], expected_inputs[2]));
    Tensors expected{output, std::get<0>(state), std::get<1>(state)};
    if (found.size() == 2) expected.erase(expected.begin());  // jit_simple returns only the last step
    ASSERT_EQ(found.size(), expected.size());
    torch::Tensor loss, expected_loss;
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].sizes(), expected[i].sizes());
      EXPECT_LT(difference(found[i], expected[i]), bound);
      const auto weight = torch::randn(found[i].sizes());
      loss = loss.defined() ? loss + (found[i] * weight).sum() : (found[i] * weight).sum();
      expected_loss =
          expected_loss.defined() ? expected_loss + (expected[i] * weight).sum() : (expected[i] * weight).sum();
    }
    model->zero_grad();
    lstm->zero_grad();
    for (size_t i = 0; i < inputs.size(); ++i) {
      inputs[i].mutable_grad().reset();
      expected_inputs[i].mutable_grad().reset();
    }
    loss.backward();
    expected_loss.backward();
    for (const auto& item : model->named_parameters())
      EXPECT_LT(difference(item.value().grad(), lstm->named_parameters()[item.key()].grad()), bound) << item.key();
    for (size_t i = 0; i < inputs.size(); ++i)
      EXPECT_LT(difference(inputs[i].grad(), expected_inputs[i].grad()), bound);
  }
}

INSTANTIATE_TEST_SUITE_P(OfOneLength, Runner,
                         testing::Values("lstm_cudnn", "lstm_cudnn_dropout", "lstm_cudnn_layernorm", "lstm_aten",
                                         "lstm_py", "lstm_jit", "lstm_jit_premul", "lstm_jit_premul_bias",
                                         "lstm_jit_simple", "lstm_jit_multilayer", "lstm_jit_dropout"),
                         [](const auto& test) { return test.param; });

TEST(VariableLength, ALoopAndAScriptGiveWhatThePackedLstmPads) {
  const auto packed = make_runner("vl_cudnn");
  const auto inputs = packed->example_inputs(options);
  const auto padded = packed->forward(inputs).toTensor();
  for (const auto* name : {"vl_py", "vl_jit"}) {
    const auto results = tensors_in(make_runner(name)->forward(inputs));
    ASSERT_EQ(results.size(), 3U) << name;
    for (size_t s = 0; s < results.size(); ++s) {
      const auto& sequence = inputs[s];
      EXPECT_EQ(results[s].size(0), sequence.size(0)) << name;
      EXPECT_LT(difference(results[s], padded.narrow(0, 0, sequence.size(0)).select(1, static_cast<int64_t>(s))), bound)
          << name;
    }
  }
}

using Named = std::map<std::string, torch::Tensor>;

/// Computes layer normalisation by its formula (Ba, Kiros and Hinton, "Layer Normalization", 2016, equations 3 and 4).
torch::Tensor layer_normalised(const torch::Tensor& x, const Named& parameters, const std::string& which,
                               double epsilon) {
  const auto centred = x - x.mean(-1, /*keepdim=*/true);
  const auto deviation = (centred.square().mean(-1, /*keepdim=*/true) + epsilon).sqrt();
  return centred / deviation * parameters.at("layernorm_" + which + "_weight") +
         parameters.at("layernorm_" + which + "_bias");
}

/// Computes an LSTM with normalised gates and cell by ATen operators: x [T, B, I], h and c [1, B, H] → (output, h, c).
Tensors layer_norm_lstm(const Tensors& inputs, const Named& parameters, double epsilon) {
  auto h = inputs.at(1).squeeze(0), c = inputs.at(2).squeeze(0);
  const int64_t width = h.size(1);
  Tensors outputs;
  for (const auto& x : inputs.at(0).unbind()) {
    const auto from_x = torch::linear(x, parameters.at("weight_ih")),
               from_h = torch::linear(h, parameters.at("weight_hh"));
    const auto gates =
        layer_normalised(from_x, parameters, "i", epsilon) + layer_normalised(from_h, parameters, "h", epsilon);
    const auto gate = [&](int64_t k) { return gates.narrow(1, k * width, width); };
    c = layer_normalised(gate(1).sigmoid() * c + gate(0).sigmoid() * gate(2).tanh(), parameters, "c", epsilon);
    h = gate(3).sigmoid() * c.tanh();
    outputs.push_back(h);
  }
  return {torch::stack(outputs), h.unsqueeze(0), c.unsqueeze(0)};
}

/// Returns Σ output · random weight, so that the gradients of all elements differ.
torch::Tensor weighted_sum(const Tensors& outputs) {
  torch::manual_seed(3);
  auto sum = torch::zeros({}, torch::kFloat64);
  for (const auto& output : outputs) sum = sum + (output.to(torch::kFloat64) * torch::randn(output.sizes())).sum();
  return sum;
}

torch::Tensor double_leaf(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kFloat64).set_requires_grad(true);
}

bool near(const torch::Tensor& found, const torch::Tensor& expected) {
  return torch::allclose(found.to(torch::kFloat64), expected, bound, bound);
}

/// Parameters: the runner's name, and the epsilon of its normalisation.
class LayerNormRunner : public testing::TestWithParam<std::pair<std::string, double>> {};

TEST_P(LayerNormRunner, GivesTheOutputsAndGradientsOfItsFormula) {
  const auto model = make_runner(GetParam().first);
  Named parameters;
  for (auto& item : model->named_parameters()) {
    // With the initial weights of 1 and biases of 0, the test would not notice exchanged parameters.
    if (item.key().starts_with("layernorm")) item.value().set_data(torch::randn_like(item.value()));
    parameters[item.key()] = double_leaf(item.value());
  }
  Tensors inputs = model->example_inputs(options), expected_inputs;
  for (auto& input : inputs) {
    expected_inputs.push_back(double_leaf(input));
    input.requires_grad_();
  }
  const Tensors expected = layer_norm_lstm(expected_inputs, parameters, GetParam().second);
  weighted_sum(expected).backward();
  for (int run = 0; run < 3; ++run) {  // the profiling executor specialises in its first runs
    const Tensors found = tensors_in(model->forward(inputs));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(near(found[i], expected[i])) << i;
    model->zero_grad();
    for (auto& input : inputs) input.mutable_grad().reset();
    weighted_sum(found).backward();
    for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(near(inputs[i].grad(), expected_inputs[i].grad())) << i;
    for (const auto& item : model->named_parameters())
      EXPECT_TRUE(near(item.value().grad(), parameters.at(item.key()).grad())) << item.key();
  }
}

INSTANTIATE_TEST_SUITE_P(Both, LayerNormRunner,
                         testing::Values(std::pair("lstm_jit_layernorm", 1e-5),
                                         std::pair("lstm_jit_layernorm_decom", 0.0)),
                         [](const auto& test) { return test.param.first; });

TEST(Sizes, ComeFromThePresetAndFromFlags) {
  EXPECT_EQ(recurrent_sizes(Preset::full).steps, 100);
  EXPECT_EQ(recurrent_sizes(Preset::full).hidden, 512);
  const Sized sized({.steps = 7, .layers = 2, .input = 4, .hidden = 6});
  const auto model = make_runner("lstm_jit_multilayer");
  const auto inputs = model->example_inputs(options);
  EXPECT_EQ(inputs[0].sizes().vec(), (std::vector<int64_t>{7, 3, 4}));
  auto lstm = original(*model, 4, 6, 2);
  const auto [output, state] = lstm->forward(inputs[0], std::make_tuple(inputs[1], inputs[2]));
  const auto found = tensors_in(model->forward(inputs));
  EXPECT_LT(difference(found[0], output), bound);
  EXPECT_LT(difference(found[2], std::get<1>(state)), bound);
}

TEST(Sizes, ARunnerOfOneLayerRefusesTwo) {
  const Sized sized(two_layers);
  EXPECT_THAT([] { make_runner("lstm_jit"); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("--torchstone_layers=1")));
}

TEST(Dropout, IsBetweenTheLayersAndInTrainingOnly) {
  const Sized sized(two_layers);
  const auto model = make_runner("lstm_jit_dropout");
  const auto inputs = model->example_inputs(options);
  model->eval();
  const auto output = [&] { return tensors_in(model->forward(inputs))[0]; };
  EXPECT_TRUE(torch::equal(output(), output()));
  model->train();
  EXPECT_FALSE(torch::equal(output(), output()));
}

/// Restores LibTorch's executor settings.
class ExecutorSettings : public testing::Test {
 protected:
  ~ExecutorSettings() override {
    torch::jit::getExecutorMode() = executor_;
    torch::jit::getProfilingMode() = profiling_;
    torch::jit::setTensorExprFuserEnabled(tensor_expressions_);
  }
  static std::string after(Fuser fuser, Executor executor) {
    set_executor(fuser, executor);
    return executor_in_force();
  }

 private:
  const bool executor_ = torch::jit::getExecutorMode(), profiling_ = torch::jit::getProfilingMode(),
             tensor_expressions_ = torch::jit::tensorExprFuserEnabled();
};

TEST_F(ExecutorSettings, EverySwitchIsAsTheTableSays) {
  const auto untouched = executor_in_force();
  EXPECT_EQ(after(Fuser::untouched, Executor::untouched), untouched);
  EXPECT_THAT(after(Fuser::old, Executor::untouched), HasSubstr("profiling executor off, profiling mode off"));
  EXPECT_THAT(executor_in_force(), HasSubstr("TensorExpr fuser off"));
  EXPECT_THAT(after(Fuser::te, Executor::untouched),
              HasSubstr("profiling executor on, profiling mode on, fuse on CPU off"));
  EXPECT_THAT(executor_in_force(), HasSubstr("TensorExpr fuser on"));
  EXPECT_THAT(after(Fuser::none, Executor::simple),
              HasSubstr("profiling executor on, profiling mode off, fuse on CPU off, "
                        "fuse on GPU off, TensorExpr fuser off"));
  EXPECT_THAT(after(Fuser::te, Executor::legacy), HasSubstr("profiling executor off, profiling mode off"));
}

// The switch must affect the script. Only the profiling executor writes observed types into the graph that it runs.
TEST_F(ExecutorSettings, TheProfilingExecutorSpecialisesTheScriptAndTheSimpleOneDoesNot) {
  const auto specialised = [] {
    const auto unit = torch::jit::compile("def f(x, y):\n    return (x * y + y).tanh()\n");
    for (int run = 0; run < 4; ++run)
      unit->run_method("f", torch::ones({2, 2}, torch::requires_grad()), torch::ones({2, 2}));
    return torch::jit::lastExecutedOptimizedGraph()->toString();
  };
  set_executor(Fuser::untouched, Executor::profiling);
  const auto profiled = specialised();
  set_executor(Fuser::untouched, Executor::simple);
  EXPECT_NE(specialised(), profiled);
}

TEST(Scripts, ALoopStaysALoop) {
  const auto& function = lstm_scripts().get_function("jit_premul");
  EXPECT_THAT(torch::jit::toGraphFunction(function).graph()->toString(), HasSubstr("prim::Loop"));
}

}  // namespace
}  // namespace torchstone::fastrnns
