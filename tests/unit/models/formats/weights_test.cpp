// Generated weights, weight files, and copies of state.
#include "models/formats/weights.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "models/core/counter_fill.h"
#include "models/core/registry.h"
#include "models/core/state.h"
#include "models/formats/safetensors.h"
#include "tests/temporary_folder.h"

namespace torchstone::formats {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

std::shared_ptr<Model> make_evaluated(const std::string& name) {
  auto model = find_model(name)->make({});
  model->eval();
  return model;
}

void expect_equal_states(const Model& one, const Model& two) {
  const auto other = state_of(two);
  for (const auto& [name, tensor] : state_of(one)) EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
}

// The numbers were computed with tests/oracles/counter_fill.py, digit by digit the same in float32.
TEST(CounterFill, GivesTheBitsOfThePythonTwin) {
  const auto input = counter_input("input.0", {2, 2});
  const std::vector<float> expected = {1.117746353149414F, 0.18569673597812653F, 0.31685250997543335F,
                                       -0.7306201457977295F};
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(input.view(-1)[i].item<float>(), expected[static_cast<size_t>(i)]) << i;
  const auto ids = counter_input("input.0", {4}, 30522);
  EXPECT_TRUE(torch::equal(ids, torch::tensor({17063, 28108, 24165, 25156})));
}

TEST(CounterFill, KeepsNormsNearOneVariancesPositiveAndIntegersUntouched) {
  const auto model = make_evaluated("resnet18");
  counter_fill(*model);
  const auto state = state_of(*model);
  const auto& variance = state.at("bn1.running_var");
  EXPECT_GE(variance.min().item<float>(), 0.75F);
  EXPECT_LT(variance.max().item<float>(), 1.25F);
  EXPECT_NEAR(state.at("bn1.weight").mean().item<float>(), 1, 0.05);
  EXPECT_EQ(state.at("bn1.num_batches_tracked").item<int64_t>(), 0);
  const auto& weight = state.at("layer4.0.conv2.weight");  // fan-in 512 * 9
  EXPECT_NEAR(weight.var().item<float>() * 512 * 9, 1.5, 0.01);
  EXPECT_LT(state.at("fc.bias").abs().max().item<float>(), 0.0626F);
}

TEST(CounterFill, FillsATiedTensorOnceAndLeavesConstants) {
  const auto model = make_evaluated("BertForMaskedLM");
  counter_fill(*model);
  const auto state = state_of(*model);
  EXPECT_TRUE(torch::equal(state.at("bert.embeddings.position_ids"), torch::arange(64).unsqueeze(0)));
  EXPECT_TRUE(state.at("cls.predictions.decoder.weight").is_same(state.at("bert.embeddings.word_embeddings.weight")));
}

TEST(Weights, GoThroughAFileUnchanged) {
  for (const auto* name : {"mobilenet_v2", "BertForMaskedLM", "tts_angular"}) {
    const auto one = make_evaluated(name), two = make_evaluated(name);
    const TemporaryFolder folder;
    const std::string path = folder.path() / (std::string(name) + ".safetensors");
    save_weights(*one, path);
    load_weights(*two, path);
    expect_equal_states(*one, *two);
    EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  }
}

TEST(Weights, OneNameOfATiedTensorIsEnough) {
  const auto one = make_evaluated("BertForMaskedLM"), two = make_evaluated("BertForMaskedLM");
  const TemporaryFolder folder;
  const std::string path = folder.path() / "tied.safetensors";
  save_weights(*one, path);
  auto file = read_safetensors(path);
  EXPECT_EQ(file.tensors.erase("cls.predictions.decoder.weight"), 1U);
  EXPECT_EQ(file.tensors.erase("cls.predictions.decoder.bias"), 1U);
  write_safetensors(path, file);
  load_weights(*two, path);
  expect_equal_states(*one, *two);
  file.tensors["cls.predictions.decoder.bias"] = file.tensors.at("cls.predictions.bias") + 1;
  write_safetensors(path, file);
  EXPECT_THAT([&] { load_weights(*two, path); },
              ThrowsMessage<std::runtime_error>(HasSubstr("cls.predictions.decoder.bias: differs from another name")));
}

TEST(Weights, AllDifferencesAreListedAndNothingIsLoaded) {
  const auto model = make_evaluated("lennard_jones");
  const auto before = state_of(*model).at("4.weight").clone();
  const TemporaryFolder folder;
  const std::string path = folder.path() / "differences.safetensors";
  save_weights(*model, path);
  auto file = read_safetensors(path);
  file.tensors.erase("0.bias");
  file.tensors["extra"] = torch::zeros({2});
  file.tensors["2.weight"] = torch::zeros({16, 15});
  file.tensors["2.bias"] = torch::zeros({16}, torch::kInt64);
  file.tensors["4.weight"] += 1;
  write_safetensors(path, file);
  EXPECT_THAT(
      [&] { load_weights(*model, path); },
      ThrowsMessage<UnfitWeights>(
          AllOf(HasSubstr(path + ": 3 tensors do not fit the model, 1 are left over"),
                HasSubstr("0.bias: missing (float32 tensor [16])"), HasSubstr("extra: left over (float32 tensor [2])"),
                HasSubstr("2.weight: float32 tensor [16, 15], expected float32 tensor [16, 16]"),
                HasSubstr("2.bias: int64 tensor [16], expected float32 tensor [16]"), Not(HasSubstr("4.weight")))));
  EXPECT_TRUE(torch::equal(state_of(*model).at("4.weight"), before));
}

TEST(Weights, WhatTheModelHasNoUseForIsNamedAndHalfPrecisionIsCast) {
  const auto one = make_evaluated("lennard_jones"), two = make_evaluated("lennard_jones");
  const TemporaryFolder folder;
  const std::string path = folder.path() / "half.safetensors";
  save_weights(*one, path);
  auto file = read_safetensors(path);
  for (auto& [name, tensor] : file.tensors) tensor = tensor.to(torch::kBFloat16);
  file.tensors["pooler.weight"] = torch::zeros({2});
  write_safetensors(path, file);
  EXPECT_THAT(load_weights(*two, path), testing::ElementsAre("pooler.weight"));
  for (const auto& [name, tensor] : state_of(*two)) {
    EXPECT_EQ(tensor.scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::equal(tensor, file.tensors.at(name).to(torch::kFloat32))) << name;
  }
}

TEST(Weights, AMissingFileIsNamed) {
  const auto model = make_evaluated("lennard_jones");
  EXPECT_THAT([&] { load_weights(*model, "/no/such.safetensors"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/no/such.safetensors: no such file")));
}

TEST(CopyState, MakesTheAnswersEqualInAnyDtype) {
  torch::NoGradGuard no_grad;
  const auto one = make_evaluated("BertForMaskedLM"), two = make_evaluated("BertForMaskedLM");
  const auto inputs = one->example_inputs({.batch_size = 2});
  const auto logits = [&](Model& model) { return model.forward(inputs).toTupleRef().elements().at(1).toTensor(); };
  EXPECT_FALSE(torch::equal(logits(*one), logits(*two)));
  copy_state(*one, *two);
  EXPECT_TRUE(torch::equal(logits(*one), logits(*two)));
  two->to(torch::kFloat64);
  copy_state(*one, *two);
  const auto exact = logits(*two);
  EXPECT_EQ(exact.scalar_type(), torch::kFloat64);
  EXPECT_TRUE(torch::allclose(exact.to(torch::kFloat32), logits(*one), 1e-4, 1e-5));
}

TEST(CopyState, RefusesAnotherArchitecture) {
  const auto one = make_evaluated("resnet18"), two = make_evaluated("resnet50");
  EXPECT_THAT([&] { copy_state(*one, *two); }, ThrowsMessage<std::invalid_argument>(HasSubstr("copy_state: ")));
  EXPECT_THAT([&] { copy_state(*two, *one); }, ThrowsMessage<std::invalid_argument>(HasSubstr("copy_state: ")));
}

}  // namespace
}  // namespace torchstone::formats
