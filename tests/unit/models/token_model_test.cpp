// Inputs and losses of transformers' models must be like those of upstream's suites.
#include "models/blocks/token_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>
#include <torch/torch.h>
#include <torchstone/model.h>

#include "models/core/model_registry.h"

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

/// Returns logits of two words at three positions. The probabilities are 1/4 and 3/4, 1/2 and 1/2, 3/4 and 1/4.
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

/// Model of the zoo with inputs of this mode, and its output for them.
struct MiniRun {
  MiniRun(const std::string& name, Mode mode)
      : options{.mode = mode, .batch_size = 2}, model(find_model(name)->make(options)) {
    torch::manual_seed(3);
    model->eval();
    inputs = model->example_inputs(options);
    output = model->forward(inputs);
  }
  torch::Tensor part(size_t i) const { return output.toTupleRef().elements().at(i).toTensor(); }
  size_t parts() const { return output.isTuple() ? output.toTupleRef().elements().size() : 1; }
  ModelOptions options;
  std::shared_ptr<Model> model;
  Tensors inputs;
  c10::IValue output;
};

std::vector<std::string> models_of_hugging_face() {
  std::vector<std::string> names;
  for (const auto* info : all_models())
    if (belongs_to(*info, "huggingface") &&
        std::ranges::none_of(std::array{"_prefill", "_decode", "_encoder"},
                             [&](const char* part) { return info->name.ends_with(part); }))
      names.push_back(info->name);
  return names;
}

TEST(TokenModels, OfHuggingFaceHaveTheCrossEntropyOfTheirLabelsInBothModes) {
  torch::manual_seed(3);
  EXPECT_EQ(models_of_hugging_face().size(), 40U);
  for (const auto& name : models_of_hugging_face())
    for (const auto mode : {Mode::inference, Mode::training}) {
      const MiniRun run(name, mode);
      const bool encodes_and_decodes =
          name == "T5Small" || name == "whisper_tiny" || name.ends_with("ForConditionalGeneration");
      const bool marks_spans = name.ends_with("ForQuestionAnswering");  // labels of the first and last word of a span
      // XLNet also returns its memories.
      const size_t parts = name == "XLNetLMHeadModel" ? 4 : encodes_and_decodes || marks_spans ? 3 : 2;
      EXPECT_EQ(run.parts(), parts) << name;
      EXPECT_EQ(run.inputs.back().scalar_type(), torch::kInt64) << name;
      EXPECT_EQ(run.part(0).dim(), 0) << name;
      const auto words = run.part(1).size(-1);
      // In a model that was not trained, all labels have about the same probability.
      if (!encodes_and_decodes) {  // their initial logits are large
        EXPECT_NEAR(run.part(0).item<double>(), std::log(static_cast<double>(words)), 0.5) << name;
      }
      EXPECT_TRUE(run.model->loss(run.output).is_same(run.part(0))) << name << " is trained on it";
      auto other = run.inputs;
      other.back() = torch::full_like(other.back(), words - 1);
      EXPECT_FALSE(torch::equal(run.model->loss(run.model->forward(other)), run.part(0))) << name;
    }
}

TEST(TokenModels, OfTorchBenchHaveLabelsInTrainingAloneAndTrainOnTheMeanOfTheirLogits) {
  for (const std::string name : {"hf_DistilBert", "hf_T5"}) {
    const size_t states = name == "hf_T5" ? 1 : 0;  // the encoder's states
    const MiniRun inference(name, Mode::inference), training(name, Mode::training);
    EXPECT_EQ(inference.parts(), 1 + states) << name;
    EXPECT_EQ(training.parts(), 2 + states) << name;
    EXPECT_EQ(training.part(0).dim(), 0) << name;
    EXPECT_TRUE(torch::allclose(training.model->loss(training.output), training.part(1).mean(), 1e-4, 1e-6)) << name;
  }
}

TEST(TokenModels, OfTorchBenchReadAsManyTokensAsUpstream) {
  const auto tokens = [](const std::string& name, Mode mode, const std::string& device) {
    const ModelOptions options{.preset = Preset::full, .mode = mode, .batch_size = 1, .device = device};
    return find_model(name)->make(options)->example_inputs(options).at(0).size(1);
  };
  for (const std::string device : {"cpu", "cuda:1"}) {
    EXPECT_EQ(tokens("hf_DistilBert", Mode::inference, device), 512);
    EXPECT_EQ(tokens("hf_DistilBert", Mode::training, device), 512);
    EXPECT_EQ(tokens("hf_T5", Mode::inference, device), device == "cpu" ? 512 : 2048);
    EXPECT_EQ(tokens("hf_T5", Mode::training, device), 1024);
  }
}

TEST(TokenModels, DecodersOfT5ReadTheLabelBeforeEachPlace) {
  const MiniRun training("hf_T5", Mode::training);
  // Returns the positions whose logits change with the label at `place`.
  const auto changed_by = [&](int64_t place) {
    const auto labels = training.inputs[1].clone();
    labels.select(1, place).add_(1).remainder_(1000);
    const auto output = training.model->forward({training.inputs[0], labels});
    return output.toTupleRef().elements()[1].toTensor().ne(training.part(1)).any(2).any(0);
  };
  EXPECT_FALSE(changed_by(-1).any().item<bool>()) << "no position reads the last label";
  EXPECT_FALSE(changed_by(0)[0].item<bool>()) << "the first place reads the padding word";
  EXPECT_TRUE(changed_by(0)[1].item<bool>()) << "the second place reads the first label";
}

TEST(TokenModels, RobertaReadsPaddingAlone) {
  const MiniRun run("RobertaForCausalLM", Mode::inference);
  ASSERT_EQ(run.inputs.size(), 2U);
  EXPECT_FALSE(run.inputs[0].any().item<bool>()) << "upstream's random ids are below 1";
  // All tokens have the position of the padding word, so that the answer is the same at each position.
  EXPECT_TRUE(torch::allclose(run.part(1), run.part(1).slice(1, 0, 1).expand_as(run.part(1)), 1e-4, 1e-5));
}

TEST(TokenModels, LayoutLmGetsNoBoxes) {
  const MiniRun run("LayoutLMForMaskedLM", Mode::inference);
  ASSERT_EQ(run.inputs.size(), 2U);
  EXPECT_EQ(run.inputs[1].sizes(), run.inputs[0].sizes()) << "ids and labels, no boxes";
}

}  // namespace
}  // namespace torchstone
