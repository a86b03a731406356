// Inputs and losses as upstream's suites make them.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/blocks/token_model.h"
#include "models/core/registry.h"

namespace torchstone {
namespace {

constexpr int64_t ignored = -100;

bool belongs_to(const ModelInfo& info, const std::string& suite) {
  return info.file.starts_with(TORCHSTONE_SOURCE_DIR "/models/") &&
         std::find(info.suites.begin(), info.suites.end(), suite) != info.suites.end();
}

torch::Tensor places(std::initializer_list<int64_t> labels) {
  return torch::tensor(std::vector<int64_t>(labels)).unsqueeze(0);
}

/// Three places, two words: their probabilities are 1/4 and 3/4, 1/2 and 1/2, 3/4 and 1/4.
torch::Tensor three_places() { return torch::tensor({{1.0, 3.0}, {1.0, 1.0}, {3.0, 1.0}}).log().unsqueeze(0); }

double loss_of(Labels kind, std::initializer_list<int64_t> labels) {
  return label_loss(three_places(), places(labels), kind).item<double>();
}

TEST(LabelLoss, IsTheMeanOverTheLabelsThatAreNotIgnored) {
  EXPECT_NEAR(loss_of(Labels::words, {0, 1, 0}), (std::log(4.0) + std::log(2.0) + std::log(4.0 / 3)) / 3, 1e-6);
  EXPECT_NEAR(loss_of(Labels::words, {0, 1, ignored}), (std::log(4.0) + std::log(2.0)) / 2, 1e-6);
}

TEST(LabelLoss, OfTheNextWordsComparesEachPlaceWithTheLabelAfterIt) {
  EXPECT_NEAR(loss_of(Labels::next_words, {0, 1, 0}), (std::log(4.0 / 3) + std::log(2.0)) / 2, 1e-6);
  EXPECT_NEAR(loss_of(Labels::next_words, {1, ignored, 0}), std::log(2.0), 1e-6);
}

TEST(LabelLoss, OfTheNextWordsIsTakenInFloat32AtLeast) {
  const auto dtype = [](torch::Dtype logits, Labels kind) {
    return label_loss(three_places().to(logits), places({0, 1, 0}), kind).scalar_type();
  };
  EXPECT_EQ(dtype(torch::kBFloat16, Labels::next_words), torch::kFloat32);
  EXPECT_EQ(dtype(torch::kFloat64, Labels::next_words), torch::kFloat64);
  EXPECT_EQ(dtype(torch::kBFloat16, Labels::words), torch::kBFloat16);
}

TEST(TokenModels, OfHuggingFaceAreTrainedOnTheCrossEntropyOfTheirLabels) {
  int seen = 0;
  for (const auto* info : all_models()) {
    if (!belongs_to(*info, "huggingface") || info->family == "llama") continue;
    const ModelOptions options{.mode = Mode::training, .batch_size = 2};
    torch::manual_seed(3);
    const auto model = info->make(options);
    model->eval();
    const auto inputs = model->example_inputs(options);
    EXPECT_EQ(inputs.back().scalar_type(), torch::kInt64) << info->name;
    const auto output = model->forward(inputs);
    const auto& parts = output.toTupleRef().elements();
    ASSERT_EQ(parts.size(), 2U) << info->name;
    const auto logits = parts[1].toTensor();
    const auto words = logits.size(-1);
    // Of a model that was not trained every label is about as likely as any other.
    if (info->name != "T5Small") {  // whose first logits are large
      EXPECT_NEAR(parts[0].toTensor().item<double>(), std::log(static_cast<double>(words)), 0.5) << info->name;
    }
    EXPECT_TRUE(model->loss(output).is_same(parts[0].toTensor())) << info->name;
    auto other = inputs;
    other.back() = torch::full_like(other.back(), words - 1);
    EXPECT_FALSE(torch::equal(model->loss(model->forward(other)), model->loss(output))) << info->name;
    EXPECT_TRUE(model->forward(model->example_inputs({.batch_size = 2})).isTensor()) << info->name << " in inference";
    ++seen;
  }
  EXPECT_EQ(seen, 9);
}

TEST(ImageModels, OfTimmGetNormalisedBytes) {
  int seen = 0;
  for (const auto* info : all_models()) {
    if (!belongs_to(*info, "timm")) continue;
    const ModelOptions options{.batch_size = 2};
    torch::manual_seed(3);
    const auto images = info->make(options)->example_inputs(options).at(0);
    EXPECT_NEAR(images.mean().item<float>(), 0, 1e-3) << info->name;
    EXPECT_NEAR(images.std().item<float>(), 1, 1e-3) << info->name;
    // 0 and 255 lie the square root of 3 away from the mean of an even draw.
    EXPECT_NEAR(images.max().item<float>(), std::sqrt(3.0), 0.1) << info->name;
    EXPECT_LE(std::get<0>(at::_unique(images)).numel(), 256) << info->name;
    ++seen;
  }
  EXPECT_EQ(seen, 33);
}

}  // namespace
}  // namespace torchstone
