// The registry, properties that every model must have, and losses.
#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/runtime/interpreter.h>
#include <torch/script.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/blocks/basic_layers.h"
#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "models/core/registration.h"
#include "models/core/tree.h"
#include "tests/unit/models/values_read_back.h"

namespace torchstone {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// Returns the native models. Plug-ins that other tests load are registered in other files.
std::vector<const ModelInfo*> zoo() {
  std::vector<const ModelInfo*> models;
  for (const auto* info : all_models()) {
    if (info->file.starts_with(TORCHSTONE_SOURCE_DIR "/models/")) models.push_back(info);
  }
  return models;
}

/// Model with two layers that share a weight, a batch norm, and an integer buffer that is not in the state_dict.
class Tied : public Model {
 public:
  Tied() {
    first_ = register_module("first", torch::nn::Linear(3, 3));
    norm_ = register_module("norm", torch::nn::BatchNorm1d(3));
    auto second = std::make_shared<torch::nn::Module>();
    second->register_parameter("weight", first_->weight);
    register_module("second", second);
    places_ = register_buffer("places", torch::arange(3));
  }
  c10::IValue forward(const Tensors& inputs) override {
    return torch::linear(norm_(first_(inputs.at(0))).index_select(1, places_), first_->weight);
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 3})}; }
  bool in_state_dict(const std::string& name) const override { return name != "places"; }

 private:
  torch::nn::Linear first_{nullptr};
  torch::nn::BatchNorm1d norm_{nullptr};
  torch::Tensor places_;
};

TEST(Registry, ListsTheZooByNameAndFindsEach) {
  std::set<std::string> names;
  for (const auto* info : zoo()) {
    names.insert(info->name);
    EXPECT_EQ(find_model(info->name), info);
    EXPECT_FALSE(info->family.empty()) << info->name;
    EXPECT_FALSE(info->suites.empty()) << info->name;
    EXPECT_GT(info->train_batch, 0) << info->name;
    EXPECT_GT(info->eval_batch, 0) << info->name;
    EXPECT_GT(info->line, 0) << info->name;
  }
  for (const auto* name : {"alexnet", "vgg16", "resnet18", "resnet50", "squeezenet1_1", "mobilenet_v2", "dcgan",
                           "pytorch_unet", "BertForMaskedLM", "tts_angular", "soft_actor_critic", "lennard_jones"}) {
    EXPECT_TRUE(names.count(name)) << name;
  }
  EXPECT_EQ(find_model("no_such_model"), nullptr);
}

TEST(Registry, RefusesATakenNameWithBothPlaces) {
  const ModelInfo info{.name = "alexnet", .make = [](const ModelOptions&) { return std::make_shared<Tied>(); }};
  EXPECT_THAT(
      [&] { register_model(info, "elsewhere.cpp", 7); },
      ThrowsMessage<std::invalid_argument>(
          AllOf(HasSubstr("elsewhere.cpp:7: model alexnet is already registered"), HasSubstr("vision/alexnet.cpp:"))));
}

TEST(Registry, RefusesAModelWithoutFactory) {
  EXPECT_THAT([] { register_model({.name = "empty"}, "here.cpp", 3); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("here.cpp:3: model empty has no factory")));
  EXPECT_EQ(find_model("empty"), nullptr);
}

TEST(Zoo, TheSeedDecidesWeightsAndInputs) {
  for (const auto* info : zoo()) {
    const ModelOptions options{.batch_size = info->fixed_batch ? info->eval_batch : 2};
    torch::manual_seed(5);
    const auto one = info->make(options);
    const auto inputs = one->example_inputs(options);
    torch::manual_seed(5);
    const auto two = info->make(options);
    const auto again = two->example_inputs(options);
    const auto other = two->example_inputs(options);
    bool differ = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_TRUE(torch::equal(inputs[i], again[i])) << info->name;
      const bool same = torch::equal(inputs[i], other[i]);
      const bool constant = inputs[i].eq(inputs[i].flatten()[0]).all().item<bool>();  // its range has only one number
      EXPECT_TRUE(!same || constant) << info->name << ": the second draw of input " << i << " is the first";
      differ = differ || !same;
    }
    EXPECT_TRUE(differ) << info->name << ": the second inputs are the first";
    const auto state = state_of(*two);
    for (const auto& [name, tensor] : state_of(*one)) EXPECT_TRUE(torch::equal(tensor, state.at(name))) << name;
  }
}

TEST(Zoo, AMiniModelTrainsOneStepAndGivesEveryParameterAFiniteGradient) {
  for (const auto* info : zoo()) {
    const ModelOptions options{.mode = Mode::training, .batch_size = info->fixed_batch ? info->eval_batch : 2};
    torch::manual_seed(1);
    const auto model = info->make(options);
    if (model->parameters().empty()) continue;
    const auto loss = model->loss(model->forward(model->example_inputs(options)));
    EXPECT_EQ(loss.dim(), 0) << info->name;
    loss.backward();
    for (const auto& item : model->named_parameters()) {
      if (!item.value().requires_grad()) {
        // Pegasus freezes its sines, Mask R-CNN its first layers, and SAM its embedding for a missing mask. The cache
        // of llama is written without a gradient.
        EXPECT_THAT(item.key(), AnyOf(EndsWith("embed_positions.weight"), StartsWith("backbone.body."),
                                      EndsWith("no_mask_embed.weight"), EndsWith("attention.wk.weight"),
                                      EndsWith("attention.wv.weight")))
            << info->name;
        continue;
      }
      ASSERT_TRUE(item.value().grad().defined()) << info->name << " " << item.key();
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << info->name << " " << item.key();
    }
  }
}

TEST(Zoo, AMiniModelAnswersInFloat64AndInHalfTheBatch) {
  torch::NoGradGuard no_grad;
  for (const auto* info : zoo()) {
    const ModelOptions options{.batch_size = info->fixed_batch ? info->eval_batch : 4};
    torch::manual_seed(1);
    const auto model = info->make(options);
    model->eval();
    auto inputs = model->example_inputs(options);
    const auto half = [](torch::Tensor x) { return x.narrow(0, 0, x.size(0) / 2); };
    const auto first = [](const c10::IValue& output) {
      const auto tensors = flatten(output);
      return *std::ranges::find_if(tensors,
                                   [](const auto& tensor) { return tensor.dim() > 0; });  // a loss has no batch
    };
    const auto whole = first(model->forward(inputs));
    Tensors halves;
    for (const auto& input : inputs) {
      if (input.size(0) == options.batch_size) halves.push_back(half(input));  // a graph has no batch
    }
    const bool has_halves = options.batch_size > 1 && halves.size() == inputs.size();
    // Shapes depend on the values in the batch if the model reads these back.
    if (has_halves && !reads_values_back(info->name)) {
      auto expected = half(whole);
      const auto found = first(model->forward(halves));
      const bool scores_pairs = whole.dim() == 2 && whole.size(0) == whole.size(1) && found.size(0) == found.size(1);
      if (scores_pairs) expected = expected.narrow(1, 0, expected.size(0));  // scores of pairs of samples, as in CLIP
      EXPECT_TRUE(torch::allclose(found, expected, 1e-3, 1e-4)) << info->name;
    }
    model->to(torch::kFloat64);
    for (auto& input : inputs) {
      if (input.is_floating_point()) input = input.to(torch::kFloat64);
    }
    const auto exact = first(model->forward(inputs));
    EXPECT_EQ(exact.scalar_type(), torch::kFloat64) << info->name;
    EXPECT_TRUE(torch::allclose(exact.to(whole.scalar_type()), whole, 1e-3, 1e-4)) << info->name;
  }
}

TEST(Zoo, ATraceOfAMiniModelAnswersOtherInputsAsTheModelDoes) {
  for (const auto* info : zoo()) {
    if (reads_values_back(info->name)) continue;
    const ModelOptions options{.batch_size = info->fixed_batch ? info->eval_batch : 2};
    torch::manual_seed(1);
    const auto model = info->make(options);
    model->eval();
    for (auto& parameter : model->parameters()) parameter.set_requires_grad(false);  // makes them constants
    const auto forward = [&](torch::jit::Stack stack) {
      Tensors inputs;
      for (const auto& value : stack) inputs.push_back(value.toTensor());
      return torch::jit::Stack{model->forward(inputs)};
    };
    const auto stack_of = [](const Tensors& inputs) { return torch::jit::Stack(inputs.begin(), inputs.end()); };
    const auto traced = torch::jit::tracer::trace(
        stack_of(model->example_inputs(options)), forward, [](const torch::Tensor&) { return std::string(); },
        /*strict=*/false);  // the output may be a dict
    const auto others = model->example_inputs(options);
    auto stack = stack_of(others);
    torch::jit::InterpreterState(torch::jit::Code(traced.first->graph, info->name)).run(stack);
    ASSERT_EQ(stack.size(), 1U) << info->name;
    const auto expected = flatten(model->forward(others)), found = flatten(stack[0]);
    ASSERT_EQ(found.size(), expected.size()) << info->name;
    for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(torch::equal(found[i], expected[i])) << info->name;
  }
}

TEST(Model, ADtypeLeavesIntegerBuffersAndTiesAlone) {
  Tied model;
  model.to(torch::kBFloat16);
  const auto state = state_of(model);
  EXPECT_EQ(state.at("first.weight").scalar_type(), torch::kBFloat16);
  EXPECT_EQ(state.at("norm.running_mean").scalar_type(), torch::kBFloat16);
  EXPECT_EQ(state.at("norm.num_batches_tracked").scalar_type(), torch::kInt64);
  EXPECT_EQ(state.at("places").scalar_type(), torch::kInt64);
  EXPECT_TRUE(state.at("first.weight").is_same(state.at("second.weight")));
  model.to(torch::kCPU, torch::kFloat32);
  EXPECT_EQ(state.at("first.weight").scalar_type(), torch::kFloat32);
}

TEST(Model, SharedParametersCountOnce) { EXPECT_EQ(count_parameters(Tied()), 9 + 3 + 3 + 3); }

TEST(Model, ACastRecurrentNetworkUsesTheCastWeights) {
  const auto* info = find_model("tts_angular");
  const auto model = info->make({});
  model->to(torch::kBFloat16);
  torch::NoGradGuard no_grad;
  const auto output = model->forward({model->example_inputs({})[0].to(torch::kBFloat16)}).toTensor();
  EXPECT_EQ(output.scalar_type(), torch::kBFloat16);
}

TEST(Chain, NestsNamesAsPythonDoes) {
  torch::nn::Sequential outer(Chain(torch::nn::Linear(2, 2), torch::nn::ReLU()), torch::nn::Linear(2, 1));
  std::vector<std::string> names;
  for (const auto& item : outer->named_parameters()) names.push_back(item.key());
  EXPECT_EQ(names, (std::vector<std::string>{"0.0.weight", "0.0.bias", "1.weight", "1.bias"}));
  EXPECT_EQ(outer->forward(torch::zeros({3, 2})).sizes().vec(), (std::vector<int64_t>{3, 1}));
}

TEST(Loss, IsTheMeanOfATensorAndTheMeanOverContainers) {
  const auto one = torch::tensor({1.0F, 3.0F}), two = torch::full({2, 2}, 6.0F);
  const auto loss = [](const c10::IValue& value) { return reduce_to_scalar_loss(value).item<float>(); };
  EXPECT_FLOAT_EQ(loss(one), 2);
  EXPECT_FLOAT_EQ(loss(std::make_tuple(one, two)), 4);
  EXPECT_FLOAT_EQ(loss(c10::List<torch::Tensor>({one, two, two})), 14.0F / 3);
  EXPECT_FLOAT_EQ(loss(std::make_tuple(one, std::make_tuple(one, two))), 3);
  c10::Dict<std::string, torch::Tensor> dict;
  dict.insert("a", one);
  dict.insert("b", two);
  EXPECT_FLOAT_EQ(loss(dict), 4);
}

TEST(Loss, RefusesWhatHasNone) {
  EXPECT_THAT([] { reduce_to_scalar_loss(c10::List<torch::Tensor>()); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("empty output")));
  EXPECT_THAT([] { reduce_to_scalar_loss(3); }, ThrowsMessage<std::invalid_argument>(HasSubstr("Int")));
}

/// Returns the path of a plug-in that the build writes to the folder of the libraries.
std::string plugin_path(const std::string& name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / "lib" / ("libplugin_" + name + ".so")).string();
}

TEST(Plugin, ItsModelsJoinTheRegistry) {
  ASSERT_EQ(find_model("plugin_doubler"), nullptr);
  load_plugin(plugin_path("one_model"));
  const auto* info = find_model("plugin_doubler");
  ASSERT_NE(info, nullptr);
  const auto model = info->make({.batch_size = 2});
  const auto inputs = model->example_inputs({.batch_size = 2});
  EXPECT_TRUE(torch::equal(model->forward(inputs).toTensor(), inputs[0] * 2));
  EXPECT_THAT([] { load_plugin(plugin_path("one_model")); },
              ThrowsMessage<std::runtime_error>(HasSubstr("not loaded before")));
}

TEST(Plugin, ATakenNameIsAnErrorAndNoCrash) {
  EXPECT_THAT([] { load_plugin(plugin_path("taken_name")); },
              ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("taken_name.cpp:"), HasSubstr("alexnet is already registered"))));
  // After loading, errors are thrown again and not collected.
  EXPECT_THROW(register_model({.name = "alexnet"}, "x", 1), std::invalid_argument);
}

TEST(Plugin, WhatIsNoPluginIsRefused) {
  EXPECT_THAT([] { load_plugin("/no/such/plugin.so"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/no/such/plugin.so: no such file")));
  EXPECT_THAT([] { load_plugin(TORCHSTONE_SOURCE_DIR "/CMakeLists.txt"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("CMakeLists.txt")));
}

TEST(Dimensions, AreThoseOfTheInputsAndHaveThreeSizesAtLeast) {
  size_t declared = 0;
  for (const auto* info : zoo()) {
    const auto model = info->make({});
    const auto dimensions = model->dimensions();
    declared += dimensions.empty() ? 0 : 1;
    const auto usual = model->example_inputs({});
    for (const auto& [name, size, minimum, maximum, step] : dimensions) {
      SCOPED_TRACE(info->name + ": " + name);
      EXPECT_TRUE(size % step == 0 && minimum % step == 0 && maximum % step == 0);
      EXPECT_TRUE(minimum <= size && size <= maximum && minimum >= 2);
      EXPECT_GE((maximum - minimum) / step, 2);
      ModelOptions options;
      options.sizes[name] = size;
      for (size_t i = 0; i < usual.size(); ++i) EXPECT_EQ(model->example_inputs(options)[i].sizes(), usual[i].sizes());
      options.sizes[name] = maximum == size ? minimum : maximum;
      const auto others = model->example_inputs(options);
      bool follows = false;
      for (size_t i = 0; i < usual.size(); ++i)
        for (int64_t d = 0; d < usual[i].dim(); ++d)
          follows |= usual[i].size(d) == size && others[i].size(d) == options.sizes[name];
      EXPECT_TRUE(follows) << "no input has this size";
    }
  }
  EXPECT_EQ(declared, 131U);
}

}  // namespace
}  // namespace torchstone
