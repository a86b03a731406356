// DLRM: dense features through a perceptron, sparse ones as sums over bags of embeddings, and all their dot products.
// Paper: Naumov et al., "Deep learning recommendation model for personalization and recommendation systems", 2019.
// Original: pytorch/benchmark dlrm. Input: dense [N, 512], offsets of the bags [8, N] and their entries [8, 100 N] →
// score [N, 1]; 514,499,137 parameters. Upstream's bags have 100 entries each. Here they are ragged, and the gradients
// of the tables are dense. As in the paper, the last layer is a sigmoid. Upstream's is a ReLU, and its untrained output
// is mostly 0. mini: tables of 1000 rows, layers of 64 and 16 below, of 32 above.
#include "models/blocks/basic_layers.h"

namespace torchstone::dlrm {
namespace {

constexpr int64_t table_count = 8, bag_size = 100;

struct DlrmShape {
  int64_t rows = 1'000'000;
  std::vector<int64_t> bottom = {512, 512, 64}, top = {1024, 1024, 1024, 1};
};

/// Adds a ReLU after each layer, except after the last one if it is the `end`.
nn::Sequential perceptron(const std::vector<int64_t>& widths, bool end) {
  nn::Sequential layers;
  for (size_t i = 1; i < widths.size(); ++i) {
    layers->push_back(nn::Linear(widths[i - 1], widths[i]));
    if (!end || i + 1 < widths.size()) layers->push_back(nn::ReLU());
  }
  return layers;
}

class Dlrm : public Model {
 public:
  explicit Dlrm(const DlrmShape& shape) : shape_(shape) {
    const auto width = shape.bottom.back();
    for (int64_t i = 0; i < table_count; ++i)
      tables_.emplace_back(nn::EmbeddingBagOptions(shape.rows, width).mode(torch::kSum));
    register_module("emb_l", list_of(tables_));
    bottom_ = register_module("bot_l", perceptron(shape.bottom, false));
    auto widths = shape.top;
    widths.insert(widths.begin(), width + (table_count + 1) * table_count / 2);
    top_ = register_module("top_l", perceptron(widths, true));
    const auto bound = 1 / std::sqrt(static_cast<double>(shape.rows));
    for (auto& table : tables_) nn::init::uniform_(table->weight, -bound, bound);
    each_layer<nn::Linear>(*this, [](auto& layer) { nn::init::xavier_normal_(layer.weight); });
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto x = bottom_->forward(inputs.at(0));
    Tensors features = {x};
    for (int64_t i = 0; i < table_count; ++i) {
      features.push_back(tables_[static_cast<size_t>(i)](inputs.at(2).select(0, i), inputs.at(1).select(0, i)));
    }
    const auto all = torch::stack(features, 1);
    const auto pairs =
        torch::tril_indices(table_count + 1, table_count + 1, -1, torch::dtype(torch::kInt64).device(x.device()));
    const auto products = torch::bmm(all, all.transpose(1, 2)).index({torch::indexing::Slice(), pairs[0], pairs[1]});
    return torch::sigmoid(top_->forward(torch::cat({x, products}, 1)));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto entries = bag_size * options.batch_size;
    auto dense = torch::rand({options.batch_size, shape_.bottom.front()});
    auto begins = std::get<0>(torch::randint(entries, {table_count, options.batch_size}, torch::kInt64).sort(1));
    begins.select(1, 0).zero_();
    return {dense, begins, torch::randint(shape_.rows, {table_count, entries}, torch::kInt64)};
  }

 private:
  DlrmShape shape_;
  std::vector<nn::EmbeddingBag> tables_;
  nn::Sequential bottom_{nullptr}, top_{nullptr};
};

TORCHSTONE_MODEL(dlrm, .family = "dlrm", .suites = {"torchbench"}, .train_batch = 2048, .eval_batch = 2048,
                 .parameters = 514'499'137,
                 .make = by_preset<Dlrm>(DlrmShape{},
                                         DlrmShape{.rows = 1000, .bottom = {512, 64, 16}, .top = {32, 32, 1}}));

}  // namespace
}  // namespace torchstone::dlrm
