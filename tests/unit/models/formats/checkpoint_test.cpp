// Published checkpoints: files, folders of Hugging Face, what training scripts wrap around a state_dict.
#include "models/formats/checkpoint.h"

#include <fstream>

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "models/formats/safetensors.h"
#include "tests/temporary_folder.h"

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
    write_safetensors(path(name), {std::move(tensors), {}});
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
              ThrowsMessage<std::runtime_error>(HasSubstr("holds no checkpoint (expected model.safetensors, ")));
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
               "weight_map: a is \"../part\", expected the name of a file beside");
  expect_error(R"({"weight_map": {"a": 3}})", "weight_map: a is 3");
  expect_error(R"({"weights": {}})", "expected a JSON object with a weight_map");
  expect_error("{", "model.safetensors.index.json: expected a JSON object");
  expect_error(R"({"weight_map": {"a": "none.safetensors"}})", "none.safetensors: no such file");
  safetensors("1.safetensors", {{"a", one}});
  safetensors("2.safetensors", {{"a", two}});
  expect_error(R"({"weight_map": {"a": "1.safetensors", "b": "2.safetensors"}})", "a stands in two files");
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

}  // namespace
}  // namespace torchstone::formats
