// Published checkpoints: files, folders of Hugging Face, and state_dicts that training scripts wrap into other dicts.
// Also tests generated weights, weight files, and copies of state.

#include "models/formats/weights.h"

#include <fstream>

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "models/core/model_registry.h"
#include "models/core/model_state.h"
#include "models/formats/safetensors.h"
#include "tests/oracles/counter_fill.h"
#include "tests/temporary_folder.h"
#include "tests/unit/models/formats/weights_file.h"

namespace torchstone::formats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::ThrowsMessage;

const torch::Tensor one = torch::tensor({1.0F}), two = torch::tensor({2.0F, 3.0F});

struct Checkpoint : testing::Test {
  TemporaryFolder folder;

  std::string path(const std::string& name) const { return folder.path() / name; }
  void safetensors(const std::string& name, std::map<std::string, torch::Tensor> tensors) const {
    write_safetensors_file(path(name), {std::move(tensors), {}});
  }
  void text(const std::string& name, const std::string& content) const { std::ofstream(path(name)) << content; }
  std::string pickle(const std::string& name, const c10::IValue& value) const {
    const auto bytes = torch::pickle_save(value);
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
};

c10::impl::GenericDict dict(const std::vector<std::pair<std::string, c10::IValue>>& entries) {
  c10::impl::GenericDict result(c10::StringType::get(), c10::AnyType::get());
  for (const auto& [key, value] : entries) result.insert(key, value);
  return result;
}

TEST_F(Checkpoint, AFolderOfHuggingFaceMayBeOneFileOrAnIndexOfSeveral) {
  safetensors("part-1.safetensors", {{"a", one}});
  pickle("part-2.bin", dict({{"b", two}}));
  EXPECT_THAT([&] { read_checkpoint(folder.path()); },
              ThrowsMessage<std::runtime_error>(HasSubstr("has no checkpoint (expected model.safetensors, ")));
  text("pytorch_model.bin.index.json", R"({"weight_map": {"a": "part-1.safetensors", "b": "part-2.bin"}})");
  const auto both = read_checkpoint(folder.path());
  EXPECT_THAT(both, ElementsAre(Key("a"), Key("b")));
  EXPECT_TRUE(both.at("b").equal(two));
  safetensors("model.safetensors", {{"c", one}});
  EXPECT_THAT(read_checkpoint(folder.path()), ElementsAre(Key("c"))) << "safetensors come first, as in transformers";
}

TEST_F(Checkpoint, AnIndexNamesFilesBesideItAndEachTensorOnce) {
  const auto expect_error = [&](const std::string& index, const std::string& words) {
    text("model.safetensors.index.json", index);
    EXPECT_THAT([&] { read_checkpoint(folder.path()); }, ThrowsMessage<std::runtime_error>(HasSubstr(words)));
  };
  expect_error(R"({"weight_map": {"a": "../part"}})",
               "weight_map: a is \"../part\", expected the name of a file in the same folder");
  expect_error(R"({"weight_map": {"a": 3}})", "weight_map: a is 3");
  expect_error(R"({"weights": {}})", "expected a JSON object with a weight_map");
  expect_error("{", "model.safetensors.index.json: expected a JSON object");
  expect_error(R"({"weight_map": {"a": "none.safetensors"}})", "none.safetensors: no such file");
  safetensors("1.safetensors", {{"a", one}});
  safetensors("2.safetensors", {{"a", two}});
  expect_error(R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})", "a is in two files");
}

TEST_F(Checkpoint, WhatATrainingScriptWrapsAroundAStateDictIsTakenOff) {
  const auto state = dict({{"module.a", one}, {"module.b", two}});
  const auto file = pickle("x.pt", dict({{"epoch", 3}, {"state_dict", state}}));
  EXPECT_THAT(read_checkpoint(file), ElementsAre(Key("a"), Key("b")));
  EXPECT_THAT(read_checkpoint(pickle("y.pth", dict({{"module.a", one}, {"b", two}}))),
              ElementsAre(Key("b"), Key("module.a")));
}

TEST_F(Checkpoint, WhatIsNoStateDictIsSaid) {
  const auto expect_error = [&](const c10::IValue& value, const std::string& words) {
    const auto file = pickle("x.pt", value);
    EXPECT_THAT([&] { read_checkpoint(file); }, ThrowsMessage<std::runtime_error>(HasSubstr(words)));
  };
  expect_error(dict({{"a", one}, {"epoch", 3}}), "x.pt: epoch is ");
  expect_error(one, "expected a state_dict");
}

using testing::AllOf;
using testing::Not;

std::shared_ptr<Model> make_evaluated(const std::string& name) {
  auto model = find_model(name)->make({});
  model->eval();
  return model;
}

void expect_equal_states(const Model& one, const Model& two) {
  const auto other = state_of(two);
  for (const auto& [name, tensor] : state_of(one)) EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
}

// tests/oracles/counter_fill.py computed the numbers. All digits must be equal in float32.
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
    write_weights_file(*one, path);
    load_weights(*two, path);
    expect_equal_states(*one, *two);
  }
}

TEST(Weights, OneNameOfATiedTensorIsEnough) {
  const auto one = make_evaluated("BertForMaskedLM"), two = make_evaluated("BertForMaskedLM");
  const TemporaryFolder folder;
  const std::string path = folder.path() / "tied.safetensors";
  write_weights_file(*one, path);
  auto file = read_safetensors(path);
  EXPECT_EQ(file.tensors.erase("cls.predictions.decoder.weight"), 1U);
  EXPECT_EQ(file.tensors.erase("cls.predictions.decoder.bias"), 1U);
  write_safetensors_file(path, file);
  load_weights(*two, path);
  expect_equal_states(*one, *two);
  file.tensors["cls.predictions.decoder.bias"] = file.tensors.at("cls.predictions.bias") + 1;
  write_safetensors_file(path, file);
  EXPECT_THAT([&] { load_weights(*two, path); },
              ThrowsMessage<std::runtime_error>(HasSubstr("cls.predictions.decoder.bias: differs from another name")));
}

TEST(Weights, AllDifferencesAreListedAndNothingIsLoaded) {
  const auto model = make_evaluated("lennard_jones");
  const auto before = state_of(*model).at("4.weight").clone();
  const TemporaryFolder folder;
  const std::string path = folder.path() / "differences.safetensors";
  write_weights_file(*model, path);
  auto file = read_safetensors(path);
  file.tensors.erase("0.bias");
  file.tensors["extra"] = torch::zeros({2});
  file.tensors["2.weight"] = torch::zeros({16, 15});
  file.tensors["2.bias"] = torch::zeros({16}, torch::kInt64);
  file.tensors["4.weight"] += 1;
  write_safetensors_file(path, file);
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
  write_weights_file(*one, path);
  auto file = read_safetensors(path);
  for (auto& [name, tensor] : file.tensors) tensor = tensor.to(torch::kBFloat16);
  file.tensors["pooler.weight"] = torch::zeros({2});
  write_safetensors_file(path, file);
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
