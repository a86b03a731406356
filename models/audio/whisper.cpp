// Whisper: an encoder of spectrograms, two convolutions and a transformer, and a decoder of words.
// Paper: Radford et al., "Robust speech recognition via large-scale weak supervision", 2022.
// Originals, in transformers (mini: layers of width 64, 2 in each half, 16 x 64 features, 1000 words):
// - whisper_tiny: WhisperForConditionalGeneration. Features [N, 80, 3000] (30 s), the decoder's token ids [N, 128] and
//   labels → loss, logits [N, 128, 51865] and the encoder's last state [N, 1500, 384]; 37,760,640 parameters. mini: 32
//   tokens.
// - whisper_encoder: the encoder of Whisper small. Features → last state [N, 1500, 768]; 88,154,112 parameters.
// - whisper_decode: one more word of Whisper small (models/blocks/cached_step.h) after 127 words, mini 15.
//   Token ids [N, 1], keys and values of words [N, 12, 12, 127, 64] and of the encoder's output [N, 12, 12, 1500, 64] →
//   logits [N, 1, 51865], keys and values [N, 12, 12, 128, 64]; 139,415,808 parameters. It has no encoder, and no
//   projections of the encoder's output, because their results are its inputs.
// - hf_Whisper, hf_distil_whisper: WhisperForAudioClassification of the sizes of Whisper tiny and medium, as in
//   torchbench.py. Features → logits [N, 2]; 8,307,458 and 307,479,298 parameters.
#include <cmath>
#include <memory>
#include <vector>

#include "models/blocks/bart_model.h"
#include "models/blocks/cached_step.h"

namespace torchstone::whisper {
namespace {

/// The defaults are Whisper tiny.
struct WhisperShape {
  int64_t width = 384, layers = 4, heads = 6, feed_forward = 1536, vocabulary = 51865;
  int64_t bins = 80, positions = 1500;  ///< frequencies of the features, and positions of the encoder: half the frames
  int64_t longest = 448, tokens = 128, cached = 127, padding_word = 50256;
};

/// Attention with queries that are scaled before their product with the keys, which have no bias.
struct WhisperAttentionImpl : nn::Module {
  /// `projects`: false if the keys and values always come from a cache.
  WhisperAttentionImpl(const WhisperShape& shape, bool projects)
      : heads(shape.heads), scale(1 / std::sqrt(static_cast<double>(shape.width / shape.heads))) {
    if (projects) {
      k = register_module("k_proj", linear_without_bias(shape.width, shape.width));
      v = register_module("v_proj", nn::Linear(shape.width, shape.width));
    }
    q = register_module("q_proj", nn::Linear(shape.width, shape.width));
    out = register_module("out_proj", nn::Linear(shape.width, shape.width));
  }
  torch::Tensor forward(const torch::Tensor& x, const Cache& source, bool causal) {
    return out(join_heads(at::scaled_dot_product_attention(split(q(x) * scale), source.keys, source.values,
                                                           /*attn_mask=*/{}, /*dropout_p=*/0, causal, /*scale=*/1.0)));
  }
  /// Appends the keys and values of x to `cache`.
  void project(const torch::Tensor& x, Cache& cache) { cache.append(split(k(x)), split(v(x))); }
  torch::Tensor split(const torch::Tensor& x) const { return split_heads(x, heads).contiguous(); }

  int64_t heads;
  double scale;
  nn::Linear k{nullptr}, v{nullptr}, q{nullptr}, out{nullptr};
};
TORCH_MODULE(WhisperAttention);

enum class Kind {
  encoder,
  decoder,
  step,  ///< a decoder to which the keys and values of the encoder's output are given
};

/// Self-attention, attention to the encoder (in a decoder) and feed-forward, each of normalised input and added to it.
struct WhisperLayerImpl : nn::Module {
  WhisperLayerImpl(const WhisperShape& shape, Kind kind) : is_encoder(kind == Kind::encoder) {
    const auto add_norm = [&](const char* name) { return register_module(name, layer_norm(shape.width, 1e-5)); };
    self = register_module("self_attn", WhisperAttention(shape, /*projects=*/true));
    self_norm = add_norm("self_attn_layer_norm");
    if (!is_encoder) {
      cross = register_module("encoder_attn", WhisperAttention(shape, /*projects=*/kind == Kind::decoder));
      cross_norm = add_norm("encoder_attn_layer_norm");
    }
    fc1 = register_module("fc1", nn::Linear(shape.width, shape.feed_forward));
    fc2 = register_module("fc2", nn::Linear(shape.feed_forward, shape.width));
    last_norm = add_norm("final_layer_norm");
  }
  /// Appends this layer's keys and values to `caches.words`.
  torch::Tensor forward(torch::Tensor x, LayerCaches& caches) {
    const auto y = self_norm(x);
    self->project(y, caches.words);
    x = x + self(y, caches.words, /*causal=*/!is_encoder && x.size(1) > 1);
    if (cross) x = x + cross(cross_norm(x), caches.source, /*causal=*/false);
    x = x + fc2(torch::gelu(fc1(last_norm(x))));
    if (!is_encoder || x.scalar_type() != torch::kHalf) return x;
    constexpr double largest = 65504 - 1000;  // as the original keeps float16 finite
    return x.clamp(-largest, largest);
  }
  bool is_encoder;
  WhisperAttention self{nullptr}, cross{nullptr};
  nn::LayerNorm self_norm{nullptr}, cross_norm{nullptr}, last_norm{nullptr};
  nn::Linear fc1{nullptr}, fc2{nullptr};
};
TORCH_MODULE(WhisperLayer);

std::vector<WhisperLayer> layers_of(const WhisperShape& shape, Kind kind) {
  std::vector<WhisperLayer> layers;
  for (int64_t i = 0; i < shape.layers; ++i) layers.push_back(WhisperLayer(shape, kind));
  return layers;
}

/// Initialises the layers below `root` as the original does.
void init_layers(nn::Module& root) {
  init_linears_normal(root, 0.02);
  init_embeddings_normal(root, 0.02);
  each_layer<nn::Conv1d>(root, [](auto& conv) {
    nn::init::normal_(conv.weight, 0, 0.02);
    nn::init::zeros_(conv.bias);
  });
}

/// Features [N, bins, 2 * positions] → [N, positions, width].
struct WhisperEncoderImpl : nn::Module {
  explicit WhisperEncoderImpl(const WhisperShape& shape)
      : conv1(register_module("conv1", nn::Conv1d(nn::Conv1dOptions(shape.bins, shape.width, 3).padding(1)))),
        conv2(
            register_module("conv2", nn::Conv1d(nn::Conv1dOptions(shape.width, shape.width, 3).stride(2).padding(1)))),
        positions(register_module("embed_positions", nn::Embedding(shape.positions, shape.width))),
        layers(layers_of(shape, Kind::encoder)) {
    register_module("layers", list_of(layers));
    norm = register_module("layer_norm", layer_norm(shape.width, 1e-5));
    init_layers(*this);
    positions->weight.set_requires_grad(false);
    positions->weight.copy_(position_waves(shape.positions, shape.width, /*reaches_last=*/true));
  }
  torch::Tensor forward(const torch::Tensor& features) {
    auto x = torch::gelu(conv2(torch::gelu(conv1(features)))).permute({0, 2, 1});
    x = x + positions(torch::arange(positions->weight.size(0), x.options().dtype(torch::kInt64)));
    for (auto& layer : layers) {
      LayerCaches caches;
      x = layer(x, caches);
    }
    return norm(x);
  }
  nn::Conv1d conv1, conv2;
  nn::Embedding positions;
  std::vector<WhisperLayer> layers;
  nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(WhisperEncoder);

struct WhisperDecoderImpl : nn::Module {
  WhisperDecoderImpl(const WhisperShape& shape, Kind kind)
      : words(register_module(
            "embed_tokens",
            nn::Embedding(nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(shape.padding_word)))),
        positions(register_module("embed_positions", nn::Embedding(shape.longest, shape.width))),
        layers(layers_of(shape, kind)) {
    register_module("layers", list_of(layers));
    norm = register_module("layer_norm", layer_norm(shape.width, 1e-5));
    init_layers(*this);
    torch::NoGradGuard no_grad;
    words->weight[shape.padding_word].zero_();
  }
  /// Returns the logits [N, L, vocabulary] of the words after those in `caches`, to which it appends them.
  torch::Tensor forward(const torch::Tensor& ids, std::vector<LayerCaches>& caches) {
    const auto& before = caches.front().words;
    const auto places = torch::arange(ids.size(1), ids.options()) + (before.empty() ? 0 : before.keys.size(2));
    auto x = words(ids) + positions->weight.index({places.unsqueeze(0).repeat({ids.size(0), 1})});
    for (size_t i = 0; i < layers.size(); ++i) x = layers[i](x, caches[i]);
    return torch::linear(norm(x), words->weight);
  }
  nn::Embedding words, positions;
  std::vector<WhisperLayer> layers;
  nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(WhisperDecoder);

torch::Tensor random_features(const WhisperShape& shape, const ModelOptions& options) {
  return torch::randn({options.batch_size, shape.bins, 2 * shape.positions});
}

class Whisper : public TokenModel {
 public:
  explicit Whisper(const WhisperShape& shape)
      : TokenModel({.vocabulary = shape.vocabulary, .tokens = shape.tokens, .longest = shape.longest, .inputs = 2}),
        shape_(shape),
        encoder_(shape),
        decoder_(shape, Kind::decoder) {
    register_module("model", group({{"encoder", encoder_.ptr()}, {"decoder", decoder_.ptr()}}));
    register_module("proj_out", tied(decoder_->words->weight));
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto encoded = encoder_(inputs.at(0));
    std::vector<LayerCaches> caches(decoder_->layers.size());
    for (size_t i = 0; i < caches.size(); ++i) decoder_->layers[i]->cross->project(encoded, caches[i].source);
    return {decoder_(inputs.at(1), caches), encoded};
  }
  Tensors token_inputs(const ModelOptions& options) const override {
    auto features = random_features(shape_, options);
    return {features, random_words(options)};
  }

  WhisperShape shape_;
  WhisperEncoder encoder_;
  WhisperDecoder decoder_;
};

class WhisperStep : public CachedStep {
 public:
  explicit WhisperStep(const WhisperShape& shape)
      : CachedStep(
            {shape.vocabulary, shape.layers, shape.heads, shape.width / shape.heads, shape.positions, shape.cached}),
        decoder_(shape, Kind::step) {
    register_module("model", group({{"decoder", decoder_.ptr()}}));
    register_module("proj_out", tied(decoder_->words->weight));
  }

 private:
  torch::Tensor logits(const torch::Tensor& ids, std::vector<LayerCaches>& caches) override {
    return decoder_(ids, caches);
  }

  WhisperDecoder decoder_;
};

/// The encoder, as a child with a classifier of the mean of its states, or alone with its children as the model's.
class WhisperListener : public Model {
 public:
  WhisperListener(const WhisperShape& shape, bool classifies) : shape_(shape), encoder_(shape) {
    if (classifies) {
      register_module("encoder", encoder_);
      projector_ = register_module("projector", nn::Linear(shape.width, 256));
      classifier_ = register_module("classifier", nn::Linear(256, 2));
      init_linears_normal(*this, 0.02);
    } else {
      for (const auto& child : encoder_->named_children()) register_module(child.key(), child.value());
    }
  }
  c10::IValue forward(const Tensors& inputs) override {
    const auto encoded = encoder_(inputs.at(0));
    return classifier_ ? classifier_(projector_(encoded).mean(1)) : encoded;
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {random_features(shape_, options)}; }

 private:
  WhisperShape shape_;
  WhisperEncoder encoder_;
  nn::Linear projector_{nullptr}, classifier_{nullptr};
};

constexpr WhisperShape tiny{}, small{.width = 768, .layers = 12, .heads = 12, .feed_forward = 3072},
    medium{.width = 1024, .layers = 24, .heads = 16, .feed_forward = 4096},
    mini{.width = 64,
         .layers = 2,
         .heads = 4,
         .feed_forward = 128,
         .vocabulary = 1000,
         .bins = 16,
         .positions = 32,
         .longest = 64,
         .tokens = 32,
         .cached = 15,
         .padding_word = 999};

auto listener(const WhisperShape& full, bool classifies) {
  return by_preset<WhisperListener>(std::tuple(full, classifies), std::tuple(mini, classifies));
}

TORCHSTONE_MODEL(whisper_tiny, .family = "whisper", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 37'760'640, .make = by_preset<Whisper>(std::tuple(tiny), std::tuple(mini)));
TORCHSTONE_MODEL(whisper_encoder, .family = "whisper", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 88'154'112, .make = listener(small, /*classifies=*/false));
TORCHSTONE_MODEL(whisper_decode, .family = "whisper", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 139'415'808, .make = by_preset<WhisperStep>(std::tuple(small), std::tuple(mini)));
TORCHSTONE_MODEL(hf_Whisper, .family = "whisper", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 8'307'458, .make = listener(tiny, /*classifies=*/true));
TORCHSTONE_MODEL(hf_distil_whisper, .family = "whisper", .suites = {"torchbench"}, .train_batch = 8, .eval_batch = 1,
                 .parameters = 307'479'298, .make = listener(medium, /*classifies=*/true));

}  // namespace
}  // namespace torchstone::whisper
