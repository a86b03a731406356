// Compares every model with its Python original (parity.py). Both sides generate the same weights and inputs.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

#include <ATen/Version.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "fixtures/checks/subject/model_preparation.h"
#include "models/blocks/basic_layers.h"
#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "models/formats/safetensors.h"
#include "tests/oracles/counter_fill.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path golden_folder = fs::path(TORCHSTONE_TEST_DIR) / "oracles" / "golden";
constexpr int64_t sample_size = 1024;  // maximum number of elements per output in a golden file, as in parity.py

/// The content of one golden file: results of the original, and facts about the run.
struct Golden {
  std::map<std::string, torch::Tensor> samples;
  json facts;
  std::string vectors;  ///< instruction set of the recording processor, as in at::get_cpu_capability()
};

Golden load_golden(const std::string& name) {
  auto file = formats::read_safetensors((golden_folder / (name + ".safetensors")).string());
  const auto versions = json::parse(file.metadata.at("versions"));
  return {std::move(file.tensors), json::parse(file.metadata.at("facts")), versions.value("vectors", "AVX512")};
}

ModelOptions options_of(const json& facts) {
  return {.preset = facts["preset"] == "full" ? Preset::full : Preset::mini,
          .mode = facts.value("training", false) ? Mode::training : Mode::inference,
          .batch_size = facts["batch"]};
}

/// Makes the model without random weights, whose generation takes most of the time for large models. counter_fill
/// writes all weights, and a weight that it missed would be NaN.
std::shared_ptr<Model> make_model(const json& facts) {
  const checks::SkipInit no_draws;
  const auto* info = find_model(facts["model"]);
  if (!info) throw std::runtime_error("no model of that name is registered");
  auto model = info->make(options_of(facts));
  model->eval();
  return model;
}

/// Makes the model with the weights of the original, in the dtype of the comparison.
std::shared_ptr<Model> make_filled_model(const json& facts) {
  auto model = make_model(facts);
  counter_fill(*model);
  if (facts.contains("double")) model->to(torch::kDouble);
  return model;
}

/// Does the same as input_of in counter_fill.py.
torch::Tensor make_input(const std::string& name, const json& spec) {
  const auto shape = spec["shape"].get<std::vector<int64_t>>();
  if (spec["high"].is_null()) {
    const auto values = counter_input(name, shape);
    if (!spec.contains("range")) return values;
    const double low = spec["range"][0], high = spec["range"][1];
    const auto spread = low + (high - low) * (values.to(torch::kFloat64) / (2 * std::sqrt(3.0)) + 0.5);
    return spec.value("single", false) ? spread.to(torch::kFloat32) : spread;
  }
  const int64_t low = spec.value("low", 0), high = spec["high"];
  auto values = low + counter_input(name, shape, high - low);
  if (spec.value("ascending", false)) {
    values = std::get<0>(values.sort(-1));
    values.select(-1, 0).zero_();
  }
  if (spec.value("ragged", false)) {
    for (int64_t row = 1; row < shape[0]; ++row) values[row].slice(0, shape[1] - row, shape[1]).fill_(-1);
  }
  return values;
}

Tensors make_inputs(const json& facts) {
  Tensors inputs;
  for (const auto& spec : facts["inputs"]) {
    inputs.push_back(make_input("input." + std::to_string(inputs.size()), spec));
    if (facts.contains("double") && inputs.back().is_floating_point()) inputs.back() = inputs.back().to(torch::kDouble);
  }
  return inputs;
}

Tensors leaves(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  Tensors all;
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) all.push_back(entry.value().toTensor());
    return all;
  }
  const auto items = value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
  for (const auto& item : items) {
    for (auto& leaf : leaves(item)) all.push_back(leaf);
  }
  return all;
}

double worst_of(const torch::Tensor& ratios) { return ratios.max().item<double>(); }

/// Returns a factor for the tolerances. If the vector width differs from that of the recording processor, sums have
/// another order. Outputs recorded with AVX2 differed by up to 13 times their tolerance with AVX-512
/// (RobertaForQuestionAnswering, full). The gradient of ReLU can change where a value is close to 0, measured by up to
/// 0.006 (hrnet_w18).
double allowance(const Golden& golden) { return at::get_cpu_capability() == golden.vectors ? 1 : 100; }

/// Returns the largest absolute difference of all outputs, each relative to the original's largest absolute value.
double relative_error(const Tensors& outputs, const Golden& golden) {
  std::vector<torch::Tensor> errors;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto expected = golden.samples.at("output." + std::to_string(i));
    const auto flat = outputs[i].flatten();
    const auto sample = flat.slice(0, 0, flat.numel(), (flat.numel() + sample_size - 1) / sample_size);
    if (sample.sizes() != expected.sizes()) throw std::runtime_error("the golden file holds another sample");
    errors.push_back((sample - expected).abs().max() / expected.abs().max());
  }
  return worst_of(torch::stack(errors));
}

/// Returns the same for norms of different magnitude. Each difference is relative to its own value plus a thousandth of
/// the largest value.
double relative_error_of_norms(const torch::Tensor& found, const torch::Tensor& expected) {
  return worst_of((found - expected).abs() / (expected.abs() + 1e-3 * expected.abs().max()));
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(golden_folder)) names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

template <typename Condition>
std::vector<std::string> golden_names(Condition condition) {
  auto names = golden_names();
  std::erase_if(names, [&](const auto& name) { return !condition(name); });
  return names;
}

/// Returns the models that take longest. They run only on request (label `large`, docs/tests.md).
const std::set<std::string>& large_names() {
  static const std::set<std::string> names = [] {
    std::ifstream file(golden_folder.parent_path() / "large.txt");
    return std::set<std::string>(std::istream_iterator<std::string>(file), {});
  }();
  return names;
}

bool is_large(const std::string& name) { return large_names().contains(name); }

void expect_example_inputs(const Model& model, const json& facts) {
  const auto inputs = model.example_inputs(options_of(facts));
  ASSERT_EQ(inputs.size(), facts["inputs"].size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto& fact = facts["inputs"][i];
    EXPECT_EQ(inputs[i].sizes().vec(), fact["shape"].get<std::vector<int64_t>>()) << "example input " << i;
    const auto floating = fact.contains("range") && !fact.value("single", false) ? torch::kFloat64 : torch::kFloat32;
    EXPECT_EQ(inputs[i].scalar_type(), fact["high"].is_null() ? floating : torch::kInt64) << "example input " << i;
  }
}

class Parity : public testing::TestWithParam<std::string> {};

TEST_P(Parity, OutputsAndExampleInputsEqualThePythonOriginals) {
  const auto golden = load_golden(GetParam());
  const auto model = make_filled_model(golden.facts);
  expect_example_inputs(*model, golden.facts);
  if (golden.facts["preset"] == "full") {
    EXPECT_EQ(count_parameters(*model), find_model(golden.facts["model"])->parameters) << "as published";
  }
  torch::NoGradGuard no_grad;
  const auto outputs = leaves(model->forward(make_inputs(golden.facts)));
  ASSERT_EQ(outputs.size(), golden.facts["outputs"].size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].sizes().vec(), golden.facts["outputs"][i].get<std::vector<int64_t>>());
  }
  const auto error = relative_error(outputs, golden);
  RecordProperty("relative_error", std::to_string(error * 1e9) + "e-9");
  printf("%s: relative error %.2g\n", GetParam().c_str(), error);
  EXPECT_LE(error, golden.facts["tolerance"].get<double>() * allowance(golden));
}

/// Names and training passes are recorded for the mini presets.
class MiniParity : public Parity {};

TEST_P(MiniParity, ATrainingPassEqualsThePythonOriginals) {
  const auto golden = load_golden(GetParam());
  const auto model = make_filled_model(golden.facts);
  ASSERT_EQ(golden.samples.count("train.loss"), model->parameters().empty() ? 0U : 1U);
  if (model->parameters().empty()) return;
  model->train();
  torch::manual_seed(0);  // for models that generate random numbers
  each_layer<torch::nn::Dropout>(*model, [](auto& dropout) { dropout.options.p(0); });
  each_layer<DropPathImpl>(*model, [](auto& drop_path) { drop_path.p = 0; });
  const auto loss = model->loss(model->forward(make_inputs(golden.facts)));
  loss.backward();
  Tensors gradients, buffers;
  for (const auto& [name, tensor] : state_of(*model)) {
    if (!model->in_state_dict(name) || !tensor.is_floating_point()) continue;
    tensor.requires_grad() ? gradients.push_back(tensor.grad().norm()) : buffers.push_back(tensor.norm());
  }
  const auto tolerance = golden.facts["train_tolerance"].get<double>() * allowance(golden);
  const auto compare = [&](const std::string& what, const torch::Tensor& found) {
    const auto error = relative_error_of_norms(found.detach(), golden.samples.at("train." + what));
    printf("%s: relative error of %s %.2g\n", GetParam().c_str(), what.c_str(), error);
    EXPECT_LE(error, tolerance) << what;
  };
  compare("loss", loss.reshape(1));
  compare("gradients", torch::stack(gradients));
  EXPECT_EQ(golden.samples.count("train.buffers"), buffers.empty() ? 0U : 1U);
  if (!buffers.empty()) compare("buffers", torch::stack(buffers));
}

TEST_P(MiniParity, StateHasTheNamesAndShapesOfThePythonOriginals) {
  const auto facts = load_golden(GetParam()).facts;
  const auto model = make_model(facts);
  json state = json::object();
  json constants = json::array();
  for (const auto& [name, tensor] : state_of(*model)) {
    auto* place = &state;
    std::istringstream parts(name);
    for (std::string part; std::getline(parts, part, '.');) place = &(*place)[part];
    *place = tensor.sizes().vec();
    if (!model->in_state_dict(name)) constants.push_back(name);
  }
  EXPECT_EQ(state, facts["state"]);
  EXPECT_EQ(constants, facts["constants"]);
}

const auto own_name = [](const auto& test) { return test.param; };

INSTANTIATE_TEST_SUITE_P(Originals, Parity, testing::ValuesIn(golden_names(std::not_fn(is_large))), own_name);
INSTANTIATE_TEST_SUITE_P(Large, Parity, testing::ValuesIn(golden_names(is_large)), own_name);
INSTANTIATE_TEST_SUITE_P(Originals, MiniParity,
                         testing::ValuesIn(golden_names([](const auto& name) { return name.ends_with("_mini"); })),
                         own_name);

TEST(ParityOfTheZoo, EveryRegisteredModelHasGoldenFilesOfBothPresets) {
  const auto names = golden_names();
  const std::set<std::string> present(names.begin(), names.end());
  for (const auto* info : all_models()) {
    if (!info->file.starts_with(TORCHSTONE_SOURCE_DIR "/models/")) continue;  // plug-ins
    if (info->family == "lstm") continue;  // their original is nn.LSTM itself: fastrnns_test.cpp
    EXPECT_TRUE(present.count(info->name + "_mini")) << info->name;
    EXPECT_TRUE(present.count(info->name + "_full")) << info->name;
  }
}

TEST(ParityOfTheZoo, NoLargeModelIsMisspelt) {
  EXPECT_EQ(golden_names(is_large).size(), large_names().size())
      << "each line of large.txt is the name of a golden file";
}

TEST(ParityOfTheZoo, AChangedWeightIsSeen) {
  const auto golden = load_golden("resnet18_mini");
  const auto model = make_filled_model(golden.facts);
  torch::NoGradGuard no_grad;
  state_of(*model).at("layer1.0.conv1.weight").view(-1)[0] += 0.01;
  EXPECT_GT(relative_error(leaves(model->forward(make_inputs(golden.facts))), golden),
            golden.facts["tolerance"].get<double>());
}

}  // namespace
}  // namespace torchstone
