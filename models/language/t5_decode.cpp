// One more word of T5 base (models/blocks/cached_step.h) after 127 words, with an encoder's output of 512 words.
// Paper: Raffel et al., "Exploring the limits of transfer learning with a unified text-to-text transformer", 2019.
// Original: transformers.T5ForConditionalGeneration with past keys and values, without the encoder and the projections
// of its output, whose results are inputs. Token ids [N, 1], keys and values [N, 12, 12, 127, 64] and [N, 12, 12, 512,
// 64] → logits [N, 1, 32128], keys and values [N, 12, 12, 128, 64]; 123,793,536 parameters.
// mini: 2 layers of width 64, 1000 words, 15 words so far, 32 of the encoder.
#include <cmath>
#include <tuple>
#include <vector>

#include "models/blocks/cached_step.h"
#include "models/blocks/t5_stack.h"
#include "models/blocks/token_model.h"

namespace torchstone::t5 {
namespace {

class T5Step : public CachedStep {
 public:
  /// `cached`: number of words so far.
  T5Step(const T5Shape& shape, int64_t cached)
      : CachedStep({shape.vocabulary, shape.layers, shape.heads, shape.head_width, shape.tokens, cached}),
        scale_(std::pow(static_cast<double>(shape.width), -0.5)),
        words_(register_module("shared", nn::Embedding(shape.vocabulary, shape.width))),
        decoder_(register_module("decoder", T5Stack(shape, words_, Kind::step))) {
    register_module("lm_head", tied(words_->weight));
  }

 private:
  torch::Tensor logits(const torch::Tensor& ids, std::vector<LayerCaches>& caches) override {
    return torch::linear(decoder_->step(ids, caches) * scale_, words_->weight);
  }

  double scale_;  ///< factor of the states before the head
  nn::Embedding words_;
  T5Stack decoder_;
};

constexpr T5Shape base_shape{.width = 768, .layers = 12, .heads = 12, .feed_forward = 3072, .tokens = 512};
TORCHSTONE_MODEL(t5_decode, .family = "t5", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 123'793'536,
                 .make = by_preset<T5Step>(std::tuple(base_shape, 127), std::tuple(mini_shape, 15)));

}  // namespace
}  // namespace torchstone::t5
