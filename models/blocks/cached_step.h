#pragma once
// One more word of a decoder that attends to an encoder's output. The keys and values of both are inputs.
#include <tuple>
#include <vector>

#include <torchstone/model.h>

#include "models/blocks/cache.h"

namespace torchstone {

/// Sizes of the inputs of a cached step.
struct StepShape {
  int64_t vocabulary, layers, heads, head_width, source;  ///< `source`: length of the encoder's output
  int64_t cached = 127;
};

/// Keys and values that one layer has computed in earlier steps.
struct LayerCaches {
  Cache words{};   ///< of the decoder's words so far
  Cache source{};  ///< of the encoder's output
};

/// Token ids [N, 1], keys and values of the words so far [N, layers, heads, cached, D], keys and values of the
/// encoder's output [N, layers, heads, source, D] → logits [N, 1, vocabulary], keys and values of the words [N, layers,
/// heads, cached + 1, D].
class CachedStep : public Model {
 public:
  explicit CachedStep(const StepShape& shape) : shape_(shape) {}

  c10::IValue forward(const Tensors& inputs) final {
    std::vector<LayerCaches> caches;
    for (int64_t i = 0; i < shape_.layers; ++i) {
      const auto of_layer = [&](size_t input) { return inputs.at(input).select(1, i); };
      caches.push_back({.words = {of_layer(1), of_layer(2)}, .source = {of_layer(3), of_layer(4)}});
    }
    const auto scores = logits(inputs.at(0), caches);
    Tensors keys, values;
    for (const auto& cache : caches) {
      keys.push_back(cache.words.keys);
      values.push_back(cache.words.values);
    }
    return std::make_tuple(scores, torch::stack(keys, 1), torch::stack(values, 1));
  }

  Tensors example_inputs(const ModelOptions& options) const final {
    const auto random_cache = [&](int64_t length) {
      return torch::randn({options.batch_size, shape_.layers, shape_.heads, length, shape_.head_width});
    };
    const auto cached = options.size_of("cache", shape_.cached);
    Tensors inputs{torch::randint(shape_.vocabulary, {options.batch_size, 1}, torch::kInt64)};
    for (const auto length : {cached, cached, shape_.source, shape_.source}) inputs.push_back(random_cache(length));
    return inputs;
  }

  /// Returns the number of words so far.
  std::vector<ModelDimension> dimensions() const final { return {{"cache", shape_.cached, 2, 2 * shape_.cached, 1}}; }

 private:
  /// Returns the logits, and appends the word's keys and values to `caches`.
  virtual torch::Tensor logits(const torch::Tensor& ids, std::vector<LayerCaches>& caches) = 0;

  StepShape shape_;
};

}  // namespace torchstone
