// GAT: a graph network of three layers, each with eight heads of width 8 by which a node attends to its neighbours and
// itself. Paper: Veličković et al., "Graph attention networks", 2017. Original: torch_geometric.nn.models.GAT with the
// paper's heads, in the sizes of pytorch/benchmark's basic_gnn_*, which have no GAT. The original removes loops of the
// input, so that sizes depend on data. Here their scores are -inf. Input node features [10000, 64] and edges [2,
// 200000] → [10000, 64]; 12,864 parameters. mini: 500 nodes, 4000 edges.
#include <limits>

#include "models/blocks/graph_network.h"

namespace torchstone::gat {
namespace {

constexpr int64_t heads = 8, head_width = graph_width / heads;
constexpr double slope = 0.2;  // of LeakyReLU below 0

/// Returns `targets` as an index of each element of `messages` [edges, …].
torch::Tensor index_like(const torch::Tensor& messages, const torch::Tensor& targets) {
  std::vector<int64_t> sizes(static_cast<size_t>(messages.dim()), 1);
  sizes[0] = -1;
  return targets.view(sizes).expand_as(messages);
}

/// Returns the sum of each node's incoming messages: [edges, …] → [nodes, …].
torch::Tensor sum_at_targets(const torch::Tensor& messages, const torch::Tensor& targets, int64_t nodes) {
  auto sizes = messages.sizes().vec();
  sizes[0] = nodes;
  return torch::zeros(sizes, messages.options()).scatter_add_(0, index_like(messages, targets), messages);
}

/// Computes softmax over each node's incoming edges: scores [edges, heads] → the same shape.
torch::Tensor softmax_at_targets(const torch::Tensor& scores, const torch::Tensor& targets, int64_t nodes) {
  const auto fixed = scores.detach();
  const auto largest = torch::zeros({nodes, heads}, scores.options())
                           .scatter_reduce_(0, index_like(fixed, targets), fixed, "amax", /*include_self=*/false);
  const auto shares = (scores - largest.index_select(0, targets)).exp();
  return shares / (sum_at_targets(shares, targets, nodes) + 1e-16).index_select(0, targets);
}

struct AttentionLayerImpl : nn::Module {
  AttentionLayerImpl() {
    lin = register_module("lin", linear_without_bias(graph_width, heads * head_width));
    att_src = register_parameter("att_src", torch::empty({1, heads, head_width}));
    att_dst = register_parameter("att_dst", torch::empty({1, heads, head_width}));
    bias = register_parameter("bias", torch::zeros({heads * head_width}));
    for (auto& weight : {lin->weight, att_src, att_dst}) nn::init::xavier_uniform_(weight);
  }
  torch::Tensor forward(const torch::Tensor& nodes, const Edges& edges) {
    const auto x = lin(nodes).view({-1, heads, head_width});
    const auto source_scores = (x * att_src).sum(-1), target_scores = (x * att_dst).sum(-1);
    const auto loops = torch::arange(x.size(0), edges.sources.options());
    const auto sources = torch::cat({edges.sources, loops}), targets = torch::cat({edges.targets, loops});
    const auto removed = torch::cat({edges.sources.eq(edges.targets), torch::zeros_like(loops, torch::kBool)});
    const auto scores =
        torch::leaky_relu(source_scores.index_select(0, sources) + target_scores.index_select(0, targets), slope)
            .masked_fill(removed.unsqueeze(1), -std::numeric_limits<double>::infinity());
    const auto shares = softmax_at_targets(scores, targets, x.size(0));
    const auto messages = shares.unsqueeze(-1) * x.index_select(0, sources);
    return sum_at_targets(messages, targets, x.size(0)).view({-1, heads * head_width}) + bias;
  }
  nn::Linear lin{nullptr};
  torch::Tensor att_src, att_dst, bias;
};
TORCH_MODULE(AttentionLayer);

TORCHSTONE_MODEL(basic_gnn_gat, .family = "basic_gnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 12'864, .fixed_batch = true, .make = make_graph_network<AttentionLayer>());

}  // namespace
}  // namespace torchstone::gat
