// T5: encoder and decoder without biases, whose attention adds a learned value for each bucket of distances.
// Paper: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2019.
// Original: transformers.T5ForConditionalGeneration; 60,506,624, 222,903,552 (hf_T5_base) and 737,668,096 (hf_T5_large)
// parameters; and transformers.MT5ForConditionalGeneration, 172,119,424 parameters, 128 words of 250112. T5Small runs
// as in upstream's huggingface.py: token ids [N, 1024], the same ids for the decoder, and labels → loss, logits [N,
// 1024, 32128] and the encoder's last state [N, 1024, 512]. hf_T5 runs as in torchbench.py: in inference 2048 tokens
// (on the CPU 512) and the decoder's, without labels and loss; in training 1024 tokens and labels, from which the
// decoder's tokens are made. hf_T5_base is wider and deeper, and has 2048 tokens on the CPU too; hf_T5_large has 512.
// mini: 2 + 2 layers of width 64, 1000 words, 32 tokens.
#include <cmath>
#include <memory>
#include <optional>

#include "models/blocks/t5_stack.h"
#include "models/blocks/token_model.h"

namespace torchstone::t5 {
namespace {

/// A task with one input requires labels, from which the decoder's input is made.
class T5 : public TokenModel {
 public:
  T5(const T5Shape& shape, Harness harness, size_t inputs)
      : TokenModel({shape.vocabulary, shape.tokens, shape.longest, Labels::words, harness, inputs}),
        words_(register_module("shared", nn::Embedding(shape.vocabulary, shape.width))),
        encoder_(register_module("encoder", T5Stack(shape, words_, Kind::encoder))),
        decoder_(register_module("decoder", T5Stack(shape, words_, Kind::decoder))) {
    register_module("lm_head", tied(words_->weight));
    if (!shape.is_mt5) scale_ = std::pow(static_cast<double>(shape.width), -0.5);
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto encoded = encoder_(inputs.at(0), torch::Tensor());
    constexpr int64_t padding = 0;
    auto x = decoder_(task().inputs == 1 ? shifted_right(inputs.at(1), padding, padding) : inputs.at(1), encoded);
    if (scale_) x = x * *scale_;
    return {torch::linear(x, words_->weight), encoded};
  }
  Tensors token_inputs(const ModelOptions& options) const override {
    Tensors inputs{random_words(options)};
    if (task().inputs == 2) inputs.push_back(inputs[0].clone());
    return inputs;
  }

  std::optional<double> scale_;  ///< factor of the states before the head
  nn::Embedding words_;
  T5Stack encoder_, decoder_;
};

TORCHSTONE_MODEL(T5Small, .family = "t5", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 60'506'624,
                 .make = by_preset<T5>(std::tuple(T5Shape{.tokens = 1024}, Harness::huggingface, /*inputs=*/2U),
                                       std::tuple(mini_shape, Harness::huggingface, 2U)));

constexpr T5Shape mt5_shape{
    .vocabulary = 250112, .layers = 8, .heads = 6, .feed_forward = 1024, .tokens = 128, .is_mt5 = true};
/// Multilingual T5. Paper: Xue et al., "mT5: a massively multilingual pre-trained text-to-text transformer", 2020.
TORCHSTONE_MODEL(
    MT5ForConditionalGeneration, .family = "t5", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 172'119'424, .make = [](const ModelOptions& options) {
      auto mini = mini_shape;
      mini.is_mt5 = true;
      const auto& shape = options.preset == Preset::full ? mt5_shape : mini;
      return std::make_shared<T5>(shape, Harness::huggingface, /*inputs=*/2);
    });

/// Numbers of words that torchbench.py gives to a model: in training, and in inference on the CPU and elsewhere.
struct TextLengths {
  int64_t training, cpu, other;
};

/// Returns a factory for torchbench.py.
auto make(const T5Shape& full, const TextLengths& lengths) {
  return [=](const ModelOptions& options) -> std::shared_ptr<Model> {
    const bool training = options.mode == Mode::training;
    auto shape = options.preset == Preset::full ? full : mini_shape;
    if (options.preset == Preset::full)
      shape.tokens = shape.longest = training                  ? lengths.training
                                     : options.device == "cpu" ? lengths.cpu
                                                               : lengths.other;
    return std::make_shared<T5>(shape, Harness::torchbench, /*inputs=*/training ? 1 : 2);
  };
}

TORCHSTONE_MODEL(hf_T5, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 60'506'624, .make = make(T5Shape{}, {1024, 512, 2048}));
TORCHSTONE_MODEL(hf_T5_base, .family = "t5", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 222'903'552,
                 .make = make({.width = 768, .layers = 12, .heads = 12, .feed_forward = 3072}, {1024, 2048, 2048}));
TORCHSTONE_MODEL(hf_T5_large, .family = "t5", .suites = {"torchbench"}, .train_batch = 2, .eval_batch = 1,
                 .parameters = 737'668'096,
                 .make = make({.width = 1024, .layers = 24, .heads = 16, .feed_forward = 4096}, {512, 512, 512}));

}  // namespace
}  // namespace torchstone::t5
