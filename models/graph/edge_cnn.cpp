// EdgeCNN: a graph network of three layers. Each edge passes a message of both of its nodes through an MLP, and a node
// takes the largest value of its messages. Paper: Wang et al., "Dynamic graph CNN for learning on point clouds", 2018.
// Original: torch_geometric.nn.models.EdgeCNN as pytorch/benchmark's basic_gnn_edgecnn. Input node features [10000, 64]
// and edges [2, 200000] → [10000, 64]; 37,248 parameters. mini: 500 nodes, 4000 edges.
#include "models/blocks/graph_network.h"

namespace torchstone::edge_cnn {
namespace {

/// Returns the largest of each node's incoming messages, 0 without any: [edges, width] → [nodes, width].
torch::Tensor largest_at_targets(const torch::Tensor& messages, const torch::Tensor& targets, int64_t nodes) {
  return torch::zeros({nodes, messages.size(1)}, messages.options())
      .scatter_reduce_(0, targets.unsqueeze(1).expand_as(messages), messages, "amax", /*include_self=*/false);
}

/// The MLP takes the target's features, and how the source's differ from them.
struct EdgeLayerImpl : nn::Module {
  EdgeLayerImpl() {
    auto network = register_module("nn", std::make_shared<nn::Module>("mlp"));
    network->register_module("lins", nn::ModuleList(first, second).ptr());
  }
  torch::Tensor forward(const torch::Tensor& x, const Edges& edges) {
    const auto target = x.index_select(0, edges.targets), source = x.index_select(0, edges.sources);
    const auto messages = second(torch::relu(first(torch::cat({target, source - target}, -1))));
    return largest_at_targets(messages, edges.targets, x.size(0));
  }
  nn::Linear first{2 * graph_width, graph_width}, second{graph_width, graph_width};
};
TORCH_MODULE(EdgeLayer);

TORCHSTONE_MODEL(basic_gnn_edgecnn, .family = "basic_gnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 37'248, .fixed_batch = true, .make = make_graph_network<EdgeLayer>());

}  // namespace
}  // namespace torchstone::edge_cnn
