// LayoutLM: BERT of scanned pages, which also sees the box that each word stands in.
// Paper: Xu et al., "LayoutLM: pre-training of text and layout for document image understanding", 2019.
// Original: transformers.LayoutLMForMaskedLM, without the pooler, whose answer its head does not use. Input token ids
// and labels, both [N, 512] → loss and logits [N, 512, 30522]; 112,660,026 parameters. Upstream gives no boxes, and
// the original then puts all words into a box of zeros. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include <torchstone/model.h>

#include "models/blocks/bert_encoder.h"

namespace torchstone::layoutlm {
namespace {

constexpr int64_t page_side = 1024;  // places along each side of a page

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
  /// `boxes`: left, top, right, bottom of each word, [N, L, 4].
  torch::Tensor forward(const torch::Tensor& ids, const torch::Tensor& boxes) {
    const auto left = boxes.select(2, 0), top = boxes.select(2, 1), right = boxes.select(2, 2),
               bottom = boxes.select(2, 3);
    const auto layout = x(left) + y(top) + x(right) + y(bottom) + h(bottom - top) + w(right - left);
    const auto place = positions(position_ids.slice(1, 0, ids.size(1)));
    return dropout(norm(words(ids) + place + layout + types(torch::zeros_like(ids))));
  }
  nn::Embedding words{nullptr}, positions{nullptr}, x{nullptr}, y{nullptr}, h{nullptr}, w{nullptr}, types{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Dropout dropout{nullptr};
  torch::Tensor position_ids;
};
TORCH_MODULE(LayoutEmbeddings);

class LayoutLm : public WordEncoder<LayoutEmbeddings, BertLayer> {
 public:
  explicit LayoutLm(const BertShape& shape) : WordEncoder(shape) {
    register_as_bert("layoutlm");
    init();
  }

 protected:
  torch::Tensor embed(const Tensors& inputs) override {
    const auto& ids = inputs.at(0);
    return embeddings_->forward(ids, torch::zeros({ids.size(0), ids.size(1), 4}, ids.options()));
  }
};

TORCHSTONE_MODEL(
    LayoutLMForMaskedLM, .family = "layoutlm", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
    .parameters = 112'660'026, .make = [](const ModelOptions& options) -> std::shared_ptr<Model> {
      return std::make_shared<LayoutLm>(options.preset == Preset::full ? BertShape{} : mini_bert_shape);
    });

}  // namespace
}  // namespace torchstone::layoutlm
