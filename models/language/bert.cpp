// Models with BERT's encoder: BERT, RoBERTa, CamemBERT and LayoutLM. All take token ids and labels, both [N, 512], and
// return loss and logits. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bert_encoder.h"

namespace torchstone::bert {
namespace {

/// Post-norm transformer encoder with a masked-language head tied to the word embeddings.
/// Paper: Devlin, Chang, Lee, Toutanova, "BERT: pre-training of deep bidirectional transformers", 2018.
/// Original: transformers.BertForMaskedLM; logits [N, 512, 30522]; 109,514,298 parameters.
class Bert : public WordEncoder<Embeddings> {
 public:
  Bert(const BertShape& shape, Labels labels, Harness harness = Harness::huggingface)
      : WordEncoder(shape, bert_layer, labels, harness) {
    register_as_bert("bert");
    init();
  }
};

TORCHSTONE_MODEL(BertForMaskedLM, .family = "bert", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 109'514'298,
                 .make = by_preset<Bert>(std::tuple(BertShape{}, Labels::words),
                                         std::tuple(mini_bert_shape, Labels::words)));
/// The same encoder finds an answer: positions of its first and last word, both [N] → loss and two logits [N, 512].
TORCHSTONE_MODEL(BertForQuestionAnswering, .family = "bert", .suites = {"huggingface"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 108'893'186,
                 .make = by_preset<Bert>(std::tuple(BertShape{}, Labels::span),
                                         std::tuple(mini_bert_shape, Labels::span)));

/// BERT as torchbench.py runs it, with the depth and width of bert-large and the feed-forward parts of bert-base. There
/// are labels only in training. 284,818,234 parameters.
TORCHSTONE_MODEL(hf_Bert_large, .family = "bert", .suites = {"torchbench"}, .train_batch = 4, .eval_batch = 1,
                 .parameters = 284'818'234,
                 .make = by_preset<Bert>(std::tuple(BertShape{.width = 1024, .layers = 24, .heads = 16}, Labels::words,
                                                    Harness::torchbench),
                                         std::tuple(mini_bert_shape, Labels::words, Harness::torchbench)));

/// BERT's encoder with positions that count from the padding word's number, and a head of its own. CamemBERT has the
/// same architecture for French. Papers: Liu et al., "RoBERTa: a robustly optimized BERT pretraining approach", 2019;
/// Martin et al., "CamemBERT: a tasty French language model", 2019. Original: transformers.RobertaForCausalLM (as an
/// encoder, as upstream runs it) and CamembertForMaskedLM. Logits [N, 512, 50265] (RoBERTa, with the loss of the next
/// words) and [N, 512, 32005]; 124,696,665 and 110,656,261 parameters. Upstream draws RoBERTa's ids below 1 and has 0
/// as its padding word, so that all tokens are padding and share one position. CamemBERT's 512 tokens need 514
/// positions.
class Roberta : public WordEncoder<Embeddings> {
 public:
  Roberta(const BertShape& shape, Labels labels, Harness harness = Harness::huggingface)
      : WordEncoder(shape, bert_layer, labels, harness) {
    register_module("roberta", group({{"embeddings", embeddings_.ptr()},
                                      {"encoder", group({{"layer", list_of(layers_).ptr()}}).ptr()}}));
    if (head_) {
      auto head =
          group({{"dense", head_->dense.ptr()}, {"layer_norm", head_->norm.ptr()}, {"decoder", head_->decoder}});
      head->register_parameter("bias", head_->bias);
      register_module("lm_head", head);
    }
    init();
  }

 protected:
  torch::Tensor embed(const torch::Tensor& ids) override {
    const auto words = ids.ne(shape_.padding_word).to(torch::kInt64);
    return embeddings_->forward(ids, words.cumsum(1) * words + shape_.padding_word);
  }
};

/// RoBERTa whose input is only padding.
class PaddingRoberta : public Roberta {
 public:
  using Roberta::Roberta;

 private:
  Tensors token_inputs(const ModelOptions& options) const override {
    return {torch::full({options.batch_size, length_of(options)}, shape_.padding_word, torch::kInt64)};
  }
};

BertShape mini_roberta_shape(int64_t positions, int64_t padding_word) {
  auto shape = mini_bert_shape;
  shape.positions = positions;
  shape.padding_word = padding_word;
  shape.padding_position = padding_word;
  return shape;
}

constexpr BertShape roberta_shape{.vocabulary = 50265, .padding_position = 0};
TORCHSTONE_MODEL(RobertaForCausalLM, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 124'696'665,
                 .make = by_preset<PaddingRoberta>(std::tuple(roberta_shape, Labels::next_words),
                                                   std::tuple(mini_roberta_shape(64, 0), Labels::next_words)));
/// If all words are padding, all positions have one score and the gradients are 0. Thus mini takes random words.
TORCHSTONE_MODEL(
    RobertaForQuestionAnswering, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 124'055'810, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      if (options.preset == Preset::full) return std::make_shared<PaddingRoberta>(roberta_shape, Labels::span);
      return std::make_shared<Roberta>(mini_roberta_shape(66, 1), Labels::span);
    });
constexpr BertShape camembert_shape{.vocabulary = 32005, .positions = 514, .padding_word = 1, .padding_position = 1};
TORCHSTONE_MODEL(CamemBert, .family = "roberta", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 110'656'261,
                 .make = by_preset<Roberta>(std::tuple(camembert_shape, Labels::words),
                                            std::tuple(mini_roberta_shape(66, 1), Labels::words)));

/// xlm-roberta-base as torchbench.py runs it: labels only in training. Paper: Conneau et al., "Unsupervised
/// cross-lingual representation learning at scale", 2019. Original: transformers.XLMRobertaForMaskedLM.
constexpr BertShape xlm_shape{
    .vocabulary = 250002, .positions = 514, .padding_word = 1, .padding_position = 1, .token_types = 1};
TORCHSTONE_MODEL(hf_Roberta_base, .family = "roberta", .suites = {"torchbench"}, .train_batch = 4, .eval_batch = 1,
                 .parameters = 278'295'186,
                 .make = by_preset<Roberta>(std::tuple(xlm_shape, Labels::words, Harness::torchbench),
                                            std::tuple(mini_roberta_shape(66, 1), Labels::words, Harness::torchbench)));

constexpr int64_t page_side = 1024;  // positions along each side of a page

struct LayoutEmbeddingsImpl : nn::Module {
  explicit LayoutEmbeddingsImpl(const BertShape& shape) {
    const auto add = [&](const char* name, nn::EmbeddingOptions options) {
      return register_module(std::string(name) + "_embeddings", nn::Embedding(options));
    };
    words = add("word", nn::EmbeddingOptions(shape.vocabulary, shape.width).padding_idx(shape.padding_word));
    positions = add("position", {shape.positions, shape.width});
    x = add("x_position", {page_side, shape.width});
    y = add("y_position", {page_side, shape.width});
    h = add("h_position", {page_side, shape.width});
    w = add("w_position", {page_side, shape.width});
    types = add("token_type", {2, shape.width});
    norm = register_module("LayerNorm", layer_norm(shape.width, bert_epsilon));
    dropout = register_module("dropout", nn::Dropout(shape.dropout));
    position_ids = register_buffer("position_ids", torch::arange(shape.positions).unsqueeze(0));
  }
  torch::Tensor forward(const torch::Tensor& ids) {
    const auto boxes = torch::zeros({ids.size(0), ids.size(1), 4}, ids.options());  // left, top, right and bottom
    const auto left = boxes.select(2, 0), top = boxes.select(2, 1), right = boxes.select(2, 2),
               bottom = boxes.select(2, 3);
    const auto layout = x(left) + y(top) + x(right) + y(bottom) + h(bottom - top) + w(right - left);
    const auto position = positions(position_ids.slice(1, 0, ids.size(1)));
    return dropout(norm(words(ids) + position + layout + types(torch::zeros_like(ids))));
  }
  nn::Embedding words{nullptr}, positions{nullptr}, x{nullptr}, y{nullptr}, h{nullptr}, w{nullptr}, types{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
  torch::Tensor position_ids;
};
TORCH_MODULE(LayoutEmbeddings);

/// BERT for scanned pages, which also takes the box around each word.
/// Paper: Xu et al., "LayoutLM: pre-training of text and layout for document image understanding", 2019.
/// Original: transformers.LayoutLMForMaskedLM, without the pooler, which its head does not use; logits [N, 512, 30522];
/// 112,660,026 parameters. Upstream passes no boxes, and the original then gives all words a box of zeros.
class LayoutLm : public WordEncoder<LayoutEmbeddings> {
 public:
  explicit LayoutLm(const BertShape& shape) : WordEncoder(shape, bert_layer) {
    register_as_bert("layoutlm");
    init();
  }
};

/// The same encoder with a class for each page, from the state of its first word. Original:
/// transformers.LayoutLMForSequenceClassification; logits [N, 2]; 112,629,506 parameters.
class PageClassifier : public WordEncoder<LayoutEmbeddings> {
 public:
  explicit PageClassifier(const BertShape& shape)
      : WordEncoder(shape, bert_layer, Labels::classes), pooler_(shape.width, shape.width) {
    register_as_bert("layoutlm")->register_module("pooler", group({{"dense", pooler_.ptr()}}));
    dropout_ = register_module("dropout", nn::Dropout(shape.dropout));
    classifier_ = register_module("classifier", nn::Linear(shape.width, class_count));
    init();
  }

 private:
  static constexpr int64_t class_count = 2;

  Tensors head(const torch::Tensor& states) override {
    return {classifier_(dropout_(torch::tanh(pooler_(states.select(1, 0)))))};
  }
  /// Returns class 0 for all, because upstream generates labels below the last class.
  torch::Tensor random_labels(const ModelOptions& options) const override {
    return torch::randint(class_count - 1, {options.batch_size}, torch::kInt64);
  }

  nn::Linear pooler_, classifier_{nullptr};
  nn::Dropout dropout_{nullptr};
};

TORCHSTONE_MODEL(LayoutLMForMaskedLM, .family = "layoutlm", .suites = {"huggingface"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 112'660'026,
                 .make = by_preset<LayoutLm>(BertShape{}, mini_bert_shape));
TORCHSTONE_MODEL(LayoutLMForSequenceClassification, .family = "layoutlm", .suites = {"huggingface"}, .train_batch = 32,
                 .eval_batch = 32, .parameters = 112'629'506,
                 .make = by_preset<PageClassifier>(BertShape{}, mini_bert_shape));

}  // namespace
}  // namespace torchstone::bert
