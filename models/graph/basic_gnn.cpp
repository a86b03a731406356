// Graph networks of three layers: GCN, GIN and GraphSAGE, which differ in how a node aggregates its neighbours.
// Papers: Kipf, Welling, "Semi-supervised classification with graph convolutional networks", 2016; Xu et al., "How
// powerful are graph neural networks?", 2018; Hamilton et al., "Inductive representation learning on large graphs",
// 2017. Original: torch_geometric.nn.models GCN, GIN, GraphSAGE as pytorch/benchmark's basic_gnn_*. Input node features
// [10000, 64] and edges [2, 200000] → [10000, 64]; 12,480, 24,960 and 24,768 parameters. mini: 500 nodes, 4000 edges.
#include "models/blocks/graph_network.h"

namespace torchstone::basic_gnn {
namespace {

/// Returns the sum of each node's incoming messages: [edges, width] → [nodes, width], in the messages' dtype.
torch::Tensor sum_at_targets(const torch::Tensor& messages, const torch::Tensor& targets, int64_t nodes) {
  return torch::zeros({nodes, messages.size(1)}, messages.options()).index_add(0, targets, messages);
}

/// The sum over neighbours and the node itself, weighted by the degrees of both nodes. Ignores loops in the input.
struct GcnLayerImpl : nn::Module {
  GcnLayerImpl()
      : lin(register_module("lin", linear_without_bias(graph_width, graph_width))),
        bias(register_parameter("bias", torch::zeros({graph_width}))) {}
  torch::Tensor forward(const torch::Tensor& nodes, const Edges& edges) {
    const auto x = lin(nodes);
    const auto loops = torch::arange(x.size(0), edges.sources.options());
    const auto sources = torch::cat({edges.sources, loops}), targets = torch::cat({edges.targets, loops});
    const auto counts = edges.sources.ne(edges.targets).to(x.scalar_type());
    const auto weights = torch::cat({counts, torch::ones({x.size(0)}, x.options())});
    const auto factors = torch::zeros({x.size(0)}, x.options()).index_add(0, targets, weights).pow(-0.5);
    const auto scales = factors.index_select(0, sources) * weights * factors.index_select(0, targets);
    return sum_at_targets(scales.unsqueeze(1) * x.index_select(0, sources), targets, x.size(0)) + bias;
  }
  nn::Linear lin;
  torch::Tensor bias;
};
TORCH_MODULE(GcnLayer);

/// An MLP of the sum over neighbours and the node itself.
struct GinLayerImpl : nn::Module {
  GinLayerImpl() : eps(register_buffer("eps", torch::zeros({1}))) {
    auto network = register_module("nn", std::make_shared<nn::Module>("mlp"));
    nn::ModuleList list(first, second);
    network->register_module("lins", list);
  }
  torch::Tensor forward(const torch::Tensor& x, const Edges& edges) {
    const auto sum = sum_at_targets(x.index_select(0, edges.sources), edges.targets, x.size(0));
    return second(torch::relu(first(sum + (1 + eps) * x)));
  }
  nn::Linear first{graph_width, graph_width}, second{graph_width, graph_width};
  torch::Tensor eps;
};
TORCH_MODULE(GinLayer);

/// A linear layer of the mean over neighbours, plus one of the node itself.
struct SageLayerImpl : nn::Module {
  SageLayerImpl()
      : lin_l(register_module("lin_l", nn::Linear(graph_width, graph_width))),
        lin_r(register_module("lin_r", linear_without_bias(graph_width, graph_width))) {}
  torch::Tensor forward(const torch::Tensor& x, const Edges& edges) {
    const auto sum = sum_at_targets(x.index_select(0, edges.sources), edges.targets, x.size(0));
    const auto ones = torch::ones({edges.targets.size(0)}, x.options());
    const auto counts = torch::zeros({x.size(0)}, x.options()).index_add(0, edges.targets, ones).clamp_min(1);
    return lin_l(sum / counts.unsqueeze(1)) + lin_r(x);
  }
  nn::Linear lin_l, lin_r;
};
TORCH_MODULE(SageLayer);

TORCHSTONE_MODEL(basic_gnn_gcn, .family = "basic_gnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 12'480, .fixed_batch = true, .make = make_graph_network<GcnLayer>());
TORCHSTONE_MODEL(basic_gnn_gin, .family = "basic_gnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 24'960, .fixed_batch = true, .make = make_graph_network<GinLayer>());
TORCHSTONE_MODEL(basic_gnn_sage, .family = "basic_gnn", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 24'768, .fixed_batch = true, .make = make_graph_network<SageLayer>());

}  // namespace
}  // namespace torchstone::basic_gnn
