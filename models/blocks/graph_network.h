#pragma once
// The parts that graph networks share: layers of one kind, each with a graph's edges, and ReLU between them.
#include <tuple>
#include <vector>

#include "models/blocks/basic_layers.h"

namespace torchstone {

constexpr int64_t graph_width = 64;  // of all layers

/// Edges from sources[i] to targets[i].
struct Edges {
  torch::Tensor sources, targets;
};

/// Node features [nodes, 64] and edges [2, edges] → [nodes, 64]. A layer takes features and Edges.
template <class Layer>
class GraphNetwork : public Model {
 public:
  GraphNetwork(int64_t nodes, int64_t edges) : nodes_(nodes), edges_(edges) {
    register_module("convs", list_of(layers_));
  }

  c10::IValue forward(const Tensors& inputs) override {
    const Edges edges{inputs.at(1).select(0, 0), inputs.at(1).select(0, 1)};
    auto x = inputs.at(0);
    for (size_t i = 0; i < layers_.size(); ++i) {
      if (i > 0) x = torch::relu(x);
      x = layers_[i](x, edges);
    }
    return x;
  }

  Tensors example_inputs(const ModelOptions&) const override {
    auto features = torch::randn({nodes_, graph_width});
    return {features, torch::randint(nodes_, {2, edges_}, torch::kInt64)};
  }

 private:
  int64_t nodes_, edges_;
  std::vector<Layer> layers_{Layer(), Layer(), Layer()};
};

/// Returns a factory of graph networks in the sizes of pytorch/benchmark's basic_gnn_*.
template <class Layer>
auto make_graph_network() {
  return by_preset<GraphNetwork<Layer>>(std::tuple(10'000, 200'000), std::tuple(500, 4000));
}

}  // namespace torchstone
