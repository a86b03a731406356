// XLNet: attention to all positions. One product with sinusoids, shifted for each query, gives the scores of distances.
// Paper: Yang et al., "XLNet: generalized autoregressive pretraining for language understanding", 2019. Original:
// transformers.XLNetLMHeadModel, without the parameters of segments and of masked words, which upstream's inputs do not
// reach. Token ids and labels, both [N, 512] → loss, logits [N, 512, 32000] and, in evaluation, the input of each layer
// [512, N, 1024], which the original keeps as memory; 360,226,048 parameters. mini: 2 layers of width 64, 1000 words,
// 32 tokens.
#include <cmath>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::xlnet {
namespace {

struct XlnetShape {
  int64_t vocabulary = 32000, width = 1024, layers = 24, heads = 16, feed_forward = 4096, tokens = 512, longest = 512;
};
constexpr double dropout_rate = 0.1, epsilon = 1e-12;

/// Moves each query's row of scores so that its columns are keys instead of distances: [N, heads, L, 2 L] → [N, heads,
/// L, keys].
torch::Tensor shifted(const torch::Tensor& x, int64_t keys) {
  const auto batch = x.size(0), heads = x.size(1), queries = x.size(2), distances = x.size(3);
  return x.reshape({batch, heads, distances, queries})
      .slice(2, 1)
      .reshape({batch, heads, queries, distances - 1})
      .slice(3, 0, keys);
}

/// Sines and cosines of the distances from `length` down to 1 - `length`: [2 * length, width].
torch::Tensor distance_waves(int64_t length, int64_t width, const torch::Tensor& like) {
  const auto wide = like.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
  const auto options = like.options().dtype(wide);
  const auto frequencies = 1 / torch::pow(10000.0, torch::arange(0, width, 2, options) / static_cast<double>(width));
  const auto angles = torch::arange(length, -length, -1, options).unsqueeze(1) * frequencies;
  return torch::cat({angles.sin(), angles.cos()}, 1).to(like.scalar_type());
}

struct RelativeAttentionImpl : nn::Module {
  explicit RelativeAttentionImpl(const XlnetShape& shape)
      : scale(1 / std::sqrt(static_cast<double>(shape.width / shape.heads))) {
    const auto head = shape.width / shape.heads;
    const auto add = [&](const char* name) {
      return register_parameter(name, torch::randn({shape.width, shape.heads, head}) * 0.02);
    };
    q = add("q");
    k = add("k");
    v = add("v");
    o = add("o");
    r = add("r");
    distance_bias = register_parameter("r_r_bias", torch::randn({shape.heads, head}) * 0.02);
    word_bias = register_parameter("r_w_bias", torch::randn({shape.heads, head}) * 0.02);
    norm = register_module("layer_norm", layer_norm(shape.width, epsilon));
  }
  /// x [L, N, width], waves [2 L, N, width].
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& waves) {
    const auto heads_of = [](const torch::Tensor& y, const torch::Tensor& weight) {
      return torch::einsum("ibh,hnd->ibnd", {y, weight});
    };
    const auto scores_of = [](const torch::Tensor& queries, const torch::Tensor& keys) {
      return torch::einsum("ibnd,jbnd->bnij", {queries, keys});
    };
    const auto query = heads_of(x, q), value = heads_of(x, v);
    const auto by_word = scores_of(query + word_bias, heads_of(x, k));
    const auto by_distance = shifted(scores_of(query + distance_bias, heads_of(waves, r)), x.size(0));
    const auto weights = dropout(((by_word + by_distance) * scale).softmax(3));
    const auto mixed = torch::einsum("bnij,jbnd->ibnd", {weights, value});
    return norm(dropout(torch::einsum("ibnd,hnd->ibh", {mixed, o})) + x);
  }
  double scale;
  torch::Tensor q, k, v, o, r, distance_bias, word_bias;
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout = register_module("dropout", nn::Dropout(dropout_rate));
};
TORCH_MODULE(RelativeAttention);

Block feed_forward(const XlnetShape& shape) {
  Block block;
  auto norm = block.add("layer_norm", layer_norm(shape.width, epsilon));
  auto first = block.add("layer_1", nn::Linear(shape.width, shape.feed_forward));
  auto second = block.add("layer_2", nn::Linear(shape.feed_forward, shape.width));
  auto dropout = block.add("dropout", nn::Dropout(dropout_rate));
  return block.running(
      [=](const torch::Tensor& x) mutable { return norm(dropout(second(dropout(torch::gelu(first(x))))) + x); });
}

class Xlnet : public TokenModel {
 public:
  explicit Xlnet(const XlnetShape& shape)
      : TokenModel({shape.vocabulary, shape.tokens, shape.longest}),
        width_(shape.width),
        words_(shape.vocabulary, shape.width) {
    nn::ModuleList layers;
    for (int64_t i = 0; i < shape.layers; ++i) {
      attentions_.push_back(RelativeAttention(shape));
      feed_forwards_.push_back(feed_forward(shape));
      layers->push_back(group({{"rel_attn", attentions_.back().ptr()}, {"ff", feed_forwards_.back().ptr()}}));
    }
    register_module("transformer", group({{"word_embedding", words_.ptr()}, {"layer", layers.ptr()}}));
    const auto head = tied(words_->weight);
    bias_ = head->register_parameter("bias", torch::zeros({shape.vocabulary}));
    register_module("lm_loss", head);
    init_linears_normal(*this, 0.02);
    nn::init::normal_(words_->weight, 0, 0.02);
  }

 private:
  Tensors outputs(const Tensors& inputs) override {
    auto x = dropout_(words_(inputs.at(0).transpose(0, 1).contiguous()));
    const auto waves = distance_waves(x.size(0), width_, x).unsqueeze(1).expand({-1, x.size(1), -1});
    const auto dropped = dropout_(waves);
    Tensors found(1);
    for (size_t i = 0; i < attentions_.size(); ++i) {
      if (!is_training()) found.push_back(x.detach());
      x = feed_forwards_[i](attentions_[i](x, dropped));
    }
    found[0] = torch::linear(dropout_(x).permute({1, 0, 2}).contiguous(), words_->weight, bias_);
    return found;
  }

  int64_t width_;
  nn::Embedding words_;
  std::vector<RelativeAttention> attentions_;
  std::vector<Block> feed_forwards_;
  torch::Tensor bias_;
  nn::Dropout dropout_ = register_module("dropout", nn::Dropout(dropout_rate));
};

constexpr XlnetShape mini_shape{
    .vocabulary = 1000, .width = 64, .layers = 2, .heads = 4, .feed_forward = 128, .tokens = 32, .longest = 64};

TORCHSTONE_MODEL(XLNetLMHeadModel, .family = "xlnet", .suites = {"huggingface"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 360'226'048, .make = by_preset<Xlnet>(XlnetShape{}, mini_shape));

}  // namespace
}  // namespace torchstone::xlnet
