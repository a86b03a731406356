// BERT: post-norm transformer encoder with a masked-language head tied to the word embeddings.
// Paper: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers", 2018.
// Original: transformers.BertForMaskedLM. Input token ids [N, 512] → logits [N, 512, 30522]; 109,514,298 parameters.
// mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/attention.h"
#include "models/blocks/init.h"
#include "models/blocks/layers.h"
#include "models/model.h"
#include "models/registry.h"

namespace torchstone {
namespace {

struct BertShape {
  int64_t vocabulary = 30522, width = 768, layers = 12, heads = 12, feed_forward = 3072, positions = 512, tokens = 512;
};
constexpr double kDropout = 0.1;

nn::LayerNorm layer_norm(int64_t width) { return nn::LayerNorm(nn::LayerNormOptions({width}).eps(1e-12)); }

struct EmbeddingsImpl : nn::Module {
  explicit EmbeddingsImpl(const BertShape& shape) {
    words = register_module("word_embeddings",
                            nn::Embedding(nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(0)));
    positions = register_module("position_embeddings", nn::Embedding(shape.positions, shape.width));
    types = register_module("token_type_embeddings", nn::Embedding(2, shape.width));
    norm = register_module("LayerNorm", layer_norm(shape.width));
    dropout = register_module("dropout", nn::Dropout(kDropout));
    position_ids = register_buffer("position_ids", torch::arange(shape.positions).unsqueeze(0));
    token_type_ids = register_buffer("token_type_ids", torch::zeros({1, shape.positions}, torch::kInt64));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    const auto places = position_ids.slice(1, 0, ids.size(1));
    const auto kinds = token_type_ids.gather(1, places).expand({ids.size(0), ids.size(1)});
    return dropout(norm(words(ids) + types(kinds) + positions(places)));
  }
  nn::Embedding words{nullptr}, positions{nullptr}, types{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
  torch::Tensor position_ids, token_type_ids;
};
TORCH_MODULE(Embeddings);

struct SelfAttentionImpl : nn::Module {
  explicit SelfAttentionImpl(const BertShape& shape) : heads(shape.heads) {
    query = register_module("query", nn::Linear(shape.width, shape.width));
    key = register_module("key", nn::Linear(shape.width, shape.width));
    value = register_module("value", nn::Linear(shape.width, shape.width));
    dropout = register_module("dropout", nn::Dropout(kDropout));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return attention(query(x), key(x), value(x), heads, is_training() ? dropout->options.p() : 0.0);
  }
  int64_t heads;
  nn::Linear query{nullptr}, key{nullptr}, value{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(SelfAttention);

/// LayerNorm(dropout(dense(x)) + residual): what ends both halves of a layer.
struct AddAndNormImpl : nn::Module {
  AddAndNormImpl(int64_t in, int64_t width) {
    dense = register_module("dense", nn::Linear(in, width));
    norm = register_module("LayerNorm", layer_norm(width));
    dropout = register_module("dropout", nn::Dropout(kDropout));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& residual) {
    return norm(dropout(dense(x)) + residual);
  }
  nn::Linear dense{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
};
TORCH_MODULE(AddAndNorm);

/// A module without forward that only lends its name to its children.
nn::ModuleDict group(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> children) {
  return nn::ModuleDict(std::move(children));
}

struct BertLayerImpl : nn::Module {
  explicit BertLayerImpl(const BertShape& shape)
      : self(shape),
        attended(shape.width, shape.width),
        dense(shape.width, shape.feed_forward),
        output(shape.feed_forward, shape.width) {
    register_module("attention", group({{"self", self.ptr()}, {"output", attended.ptr()}}));
    register_module("intermediate", group({{"dense", dense.ptr()}}));
    register_module("output", output);
  }
  torch::Tensor forward(torch::Tensor x) {
    x = attended(self(x), x);
    return output(torch::gelu(dense(x)), x);
  }
  SelfAttention self;
  AddAndNorm attended;
  nn::Linear dense;
  AddAndNorm output;
};
TORCH_MODULE(BertLayer);

/// LayerNorm(gelu(dense(x))) times the transposed word embeddings, plus a bias that stands under two names.
struct PredictionsImpl : nn::Module {
  PredictionsImpl(const BertShape& shape, const torch::Tensor& embeddings)
      : dense(shape.width, shape.width), norm(layer_norm(shape.width)), weight(embeddings) {
    register_module("transform", group({{"dense", dense.ptr()}, {"LayerNorm", norm.ptr()}}));
    bias = register_parameter("bias", torch::zeros({shape.vocabulary}));
    auto decoder = std::make_shared<nn::Module>("decoder");
    decoder->register_parameter("weight", weight);
    decoder->register_parameter("bias", bias);
    register_module("decoder", decoder);
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::linear(norm(torch::gelu(dense(x))), weight, bias); }
  nn::Linear dense;
  nn::LayerNorm norm;
  torch::Tensor weight, bias;
};
TORCH_MODULE(Predictions);

class BertForMaskedLM : public Model {
 public:
  explicit BertForMaskedLM(const BertShape& shape)
      : shape_(shape), embeddings_(shape), predictions_(shape, embeddings_->words->weight) {
    nn::ModuleList layers;
    for (int64_t i = 0; i < shape.layers; ++i) {
      layers_.push_back(BertLayer(shape));
      layers->push_back(layers_.back());
    }
    register_module("bert",
                    group({{"embeddings", embeddings_.ptr()}, {"encoder", group({{"layer", layers.ptr()}}).ptr()}}));
    register_module("cls", group({{"predictions", predictions_.ptr()}}));
    init_linears_normal(*this, 0.02);
    each_layer<nn::Embedding>(*this, [](auto& embedding) { nn::init::normal_(embedding.weight, 0, 0.02); });
    torch::NoGradGuard no_grad;
    embeddings_->words->weight[0].zero_();
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = embeddings_(inputs.at(0));
    for (auto& layer : layers_) x = layer(x);
    return predictions_(x);
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    return {torch::randint(shape_.vocabulary, {options.batch_size, shape_.tokens}, torch::kInt64)};
  }

  bool in_state_dict(const std::string& name) const override { return !name.ends_with("_ids"); }

 private:
  BertShape shape_;
  Embeddings embeddings_;
  std::vector<BertLayer> layers_;
  Predictions predictions_;
};

constexpr BertShape kMini{
    .vocabulary = 1000, .width = 64, .layers = 2, .heads = 4, .feed_forward = 128, .positions = 64, .tokens = 32};

TORCHSTONE_MODEL(
    BertForMaskedLM, .family = "bert", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 109'514'298, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      return std::make_shared<BertForMaskedLM>(options.preset == Preset::full ? BertShape{} : kMini);
    });

}  // namespace
}  // namespace torchstone
