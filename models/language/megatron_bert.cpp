// Megatron's BERT: norms before each part of a layer and after the last one, in place of after each part.
// Paper: Shoeybi et al., "Megatron-LM: training multi-billion parameter language models using model parallelism", 2019.
// Original: transformers.MegatronBertForCausalLM (as an encoder, as upstream runs it) and
// MegatronBertForQuestionAnswering. Token ids and labels, both [N, 512] → loss of the next words and logits [N, 512,
// 29056]; ids and the first and last positions of answers, both [N] → loss and two logits [N, 512]; 333,671,808 and
// 332,593,154 parameters. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::megatron_bert {
namespace {

/// Words, token types and positions, summed without a norm.
struct SumsImpl : nn::Module {
  explicit SumsImpl(const BertShape& shape)
      : words(nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(shape.padding_word)),
        positions(shape.positions, shape.width),
        types(shape.token_types, shape.width),
        dropout(shape.dropout) {
    register_module("word_embeddings", words);
    register_module("position_embeddings", positions);
    register_module("token_type_embeddings", types);
    register_module("dropout", dropout);
    position_ids = register_buffer("position_ids", torch::arange(shape.positions).unsqueeze(0));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    return dropout(words(ids) + types(torch::zeros_like(ids)) + positions(position_ids.slice(1, 0, ids.size(1))));
  }
  nn::Embedding words, positions, types;
  nn::Dropout dropout;
  torch::Tensor position_ids;
};
TORCH_MODULE(Sums);

Block megatron_layer(const BertShape& shape) {
  Block block;
  auto self = self_attention(shape);
  auto first = layer_norm(shape.width, bert_epsilon), second = block.add("ln", layer_norm(shape.width, bert_epsilon));
  nn::Linear attended(shape.width, shape.width), widen(shape.width, shape.feed_forward),
      narrow(shape.feed_forward, shape.width);
  nn::Dropout dropout(shape.dropout);
  const auto output = [&](const nn::Linear& dense) {
    return group({{"dense", dense.ptr()}, {"dropout", dropout.ptr()}}).ptr();
  };
  block.add("attention", group({{"ln", first.ptr()}, {"self", self.ptr()}, {"output", output(attended)}}));
  block.add("intermediate", group({{"dense", widen.ptr()}}));
  block.add("output", nn::ModuleDict(output(narrow)));
  return block.running([=](torch::Tensor x) mutable {
    x = x + dropout(attended(self(first(x))));
    return x + dropout(narrow(torch::gelu(widen(second(x)))));
  });
}

class MegatronBert : public WordEncoder<Sums> {
 public:
  MegatronBert(const BertShape& shape, Labels labels)
      : WordEncoder(shape, megatron_layer, labels), norm_(layer_norm(shape.width, bert_epsilon)) {
    register_as_bert("bert")["encoder"]->register_module("ln", norm_);
    init();
  }

 private:
  Tensors head(const torch::Tensor& states) override { return WordEncoder::head(norm_(states)); }

  nn::LayerNorm norm_;
};

auto make(Labels labels) {
  constexpr BertShape full{.vocabulary = 29056, .width = 1024, .layers = 24, .heads = 16, .feed_forward = 4096};
  return by_preset<MegatronBert>(std::tuple(full, labels), std::tuple(mini_bert_shape, labels));
}

TORCHSTONE_MODEL(MegatronBertForCausalLM, .family = "megatron_bert", .suites = {"huggingface"}, .train_batch = 16,
                 .eval_batch = 16, .parameters = 333'671'808, .make = make(Labels::next_words));
TORCHSTONE_MODEL(MegatronBertForQuestionAnswering, .family = "megatron_bert", .suites = {"huggingface"},
                 .train_batch = 16, .eval_batch = 16, .parameters = 332'593'154, .make = make(Labels::span));

}  // namespace
}  // namespace torchstone::megatron_bert
