// MobileBERT: narrow layers between linear bottlenecks, four feed-forward parts in each, and scales and shifts instead
// of norms. Paper: Sun et al., "MobileBERT: a compact task-agnostic BERT for resource-limited devices", 2020. Original:
// transformers.MobileBertForMaskedLM and MobileBertForQuestionAnswering. Token ids and labels, both [N, 128] → loss and
// logits [N, 128, 30522]; ids and the first and last positions of answers, both [N] → loss and two logits [N, 128];
// 36,596,538 and 24,582,914 parameters. mini: 2 layers of width 64 with bottlenecks and words of width 32, 1000 words,
// 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::mobilebert {
namespace {

/// The defaults' `embedding` is also the width of the bottlenecks.
constexpr BertShape full_shape{
    .width = 512, .layers = 24, .heads = 4, .feed_forward = 512, .tokens = 128, .embedding = 128};
BertShape mini_shape() {
  auto shape = mini_bert_shape;
  shape.feed_forward = 64;
  shape.embedding = 32;
  return shape;
}

Block scale_and_shift(int64_t width) {
  Block block;
  const auto weight = block.add("weight", torch::ones({width})), bias = block.add("bias", torch::zeros({width}));
  return block.running([=](const torch::Tensor& x) { return x * weight + bias; });
}

/// norm(dense(x)), or norm(dense(x) + residual).
struct DenseImpl : nn::Module {
  DenseImpl(int64_t in, int64_t out)
      : dense(register_module("dense", nn::Linear(in, out))),
        norm(register_module("LayerNorm", scale_and_shift(out))) {}
  torch::Tensor forward(const torch::Tensor& x) { return norm(dense(x)); }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& residual) { return norm(dense(x) + residual); }
  nn::Linear dense;
  Block norm;
};
TORCH_MODULE(Dense);

/// A feed-forward part, and the modules that hold it.
struct FeedForward {
  FeedForward(int64_t width, int64_t hidden) : first(width, hidden), second(hidden, width) {}
  torch::Tensor operator()(const torch::Tensor& x) { return second->forward(torch::relu(first(x)), x); }
  nn::ModuleDict intermediate() const { return group({{"dense", first.ptr()}}); }
  nn::Linear first;
  Dense second;
};

Block mobile_layer(const BertShape& shape) {
  const auto narrow = shape.embedding;
  Block block;
  Dense input(shape.width, narrow), shared(shape.width, narrow), attended(narrow, narrow), widen(narrow, shape.width);
  nn::Linear query(narrow, narrow), key(narrow, narrow), value(shape.width, narrow);
  const nn::Dropout dropout(shape.dropout);
  block.add("bottleneck", group({{"input", input.ptr()}, {"attention", shared.ptr()}}));
  const auto self =
      group({{"query", query.ptr()}, {"key", key.ptr()}, {"value", value.ptr()}, {"dropout", dropout.ptr()}});
  block.add("attention", group({{"self", self.ptr()}, {"output", attended.ptr()}}));
  std::vector<FeedForward> parts;
  nn::ModuleList modules;
  for (int64_t i = 0; i < 4; ++i) {
    const auto& part = parts.emplace_back(narrow, shape.feed_forward);
    if (i < 3) modules->push_back(group({{"intermediate", part.intermediate().ptr()}, {"output", part.second.ptr()}}));
  }
  block.add("ffn", modules);
  block.add("intermediate", parts.back().intermediate());
  parts.back().second->register_module("bottleneck", widen);
  block.add("output", parts.back().second);
  return block.running([=, heads = shape.heads](const torch::Tensor& x) mutable {
    const auto source = shared->forward(x);
    const auto mixed = attention(query(source), key(source), value(x), heads, {.dropout = active_rate(dropout)});
    auto y = attended->forward(mixed, input->forward(x));
    for (auto& part : parts) y = part(y);
    return widen->forward(y, x);
  });
}

/// Words with their neighbours on both sides, projected to the layers' width.
struct TrigramsImpl : nn::Module {
  explicit TrigramsImpl(const BertShape& shape) {
    words = register_module(
        "word_embeddings",
        nn::Embedding(nn::EmbeddingOptions(shape.vocabulary, shape.embedding).padding_idx(shape.padding_word)));
    positions = register_module("position_embeddings", nn::Embedding(shape.positions, shape.width));
    types = register_module("token_type_embeddings", nn::Embedding(shape.token_types, shape.width));
    widen = register_module("embedding_transformation", nn::Linear(3 * shape.embedding, shape.width));
    norm = register_module("LayerNorm", scale_and_shift(shape.width));
    position_ids = register_buffer("position_ids", torch::arange(shape.positions).unsqueeze(0));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    const auto x = words(ids);
    const auto next = torch::constant_pad_nd(x.slice(1, 1), {0, 0, 0, 1});
    const auto previous = torch::constant_pad_nd(x.slice(1, 0, -1), {0, 0, 1, 0});
    const auto places = position_ids.slice(1, 0, ids.size(1));
    return norm(widen(torch::cat({next, x, previous}, 2)) + positions(places) + types(torch::zeros_like(ids)));
  }
  nn::Embedding words{nullptr}, positions{nullptr}, types{nullptr};
  nn::Linear widen{nullptr};
  Block norm{nullptr};
  torch::Tensor position_ids;
};
TORCH_MODULE(Trigrams);

class MobileBert : public TokenModel {
 public:
  MobileBert(const BertShape& shape, Labels labels)
      : TokenModel({shape.vocabulary, shape.tokens, shape.positions, labels}), embeddings_(shape) {
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(mobile_layer(shape));
    register_module("mobilebert", group({{"embeddings", embeddings_.ptr()},
                                         {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
  }

 protected:
  torch::Tensor states(const torch::Tensor& ids) {
    auto x = embeddings_(ids);
    for (auto& layer : layers_) x = layer(x);
    return x;
  }
  /// Initialises the weights at the end of a constructor.
  void init() {
    init_linears_normal(*this, 0.02);
    init_embeddings_normal(*this, 0.02);
    torch::NoGradGuard no_grad;
    words()[full_shape.padding_word].zero_();
  }
  const torch::Tensor& words() { return embeddings_->words->weight; }

 private:
  Trigrams embeddings_;
  std::vector<Block> layers_;
};

/// In the head, a word's vector is its embedding, extended by `more_` to the width of the layers.
class MaskedWords : public MobileBert {
 public:
  explicit MaskedWords(const BertShape& shape)
      : MobileBert(shape, Labels::words),
        dense_(shape.width, shape.width),
        norm_(layer_norm(shape.width, bert_epsilon)),
        more_(linear_without_bias(shape.vocabulary, shape.width - shape.embedding)) {
    const auto transform = group({{"dense", dense_.ptr()}, {"LayerNorm", norm_.ptr()}});
    const auto decoder = tied(words());
    bias_ = decoder->register_parameter("bias", torch::zeros({shape.vocabulary}));
    auto predictions = group({{"transform", transform.ptr()}, {"dense", more_.ptr()}, {"decoder", decoder}});
    predictions->register_parameter("bias", bias_);
    register_module("cls", group({{"predictions", predictions.ptr()}}));
    init();
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    const auto x = norm_(torch::relu(dense_(states(inputs.at(0)))));
    return {torch::matmul(x, torch::cat({words().t(), more_->weight}, 0)) + bias_};
  }

  nn::Linear dense_;
  nn::LayerNorm norm_;
  nn::Linear more_;
  torch::Tensor bias_;
};

class Answers : public MobileBert {
 public:
  explicit Answers(const BertShape& shape) : MobileBert(shape, Labels::span) {
    answer_ = register_module("qa_outputs", nn::Linear(shape.width, 2));
    init();
  }

 private:
  Tensors outputs(const Tensors& inputs) override { return answer_scores(answer_, states(inputs.at(0))); }

  nn::Linear answer_{nullptr};
};

TORCHSTONE_MODEL(MobileBertForMaskedLM, .family = "mobilebert", .suites = {"huggingface"}, .train_batch = 256,
                 .eval_batch = 256, .parameters = 36'596'538, .make = by_preset<MaskedWords>(full_shape, mini_shape()));
TORCHSTONE_MODEL(MobileBertForQuestionAnswering, .family = "mobilebert", .suites = {"huggingface"}, .train_batch = 256,
                 .eval_batch = 256, .parameters = 24'582'914, .make = by_preset<Answers>(full_shape, mini_shape()));

}  // namespace
}  // namespace torchstone::mobilebert
