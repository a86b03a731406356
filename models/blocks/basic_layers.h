#pragma once

#include <functional>
#include <tuple>

#include <torch/torch.h>
#include <torchstone/model.h>

// Layers, containers and initialisations for all models of the zoo, with the defaults of the Python originals. Also the
// factory of a model with two presets.

namespace torchstone {

/// LibTorch's layers, except those that compute in another way than the Python originals.
namespace nn {
using namespace torch::nn;

/// A linear layer that adds its bias within the product. LibTorch's layer does so for matrices only. For other inputs
/// it adds the bias in a second operator, which reads and writes the whole output again.
struct LinearImpl : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
  torch::Tensor forward(const torch::Tensor& input) {
    return input.dim() == 2 ? torch::nn::LinearImpl::forward(input) : torch::linear(input, weight, bias);
  }
};
TORCH_MODULE(Linear);

}  // namespace nn

struct ConvShape {
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  bool bias = true;
  int64_t dilation = 1;
};

/// Square convolution: [N, in, H, W] → [N, out, H', W'].
inline nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, ConvShape shape = {}) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, kernel)
                        .stride(shape.stride)
                        .padding(shape.padding)
                        .groups(shape.groups)
                        .bias(shape.bias)
                        .dilation(shape.dilation));
}

struct PoolShape {
  int64_t padding = 0;
  bool ceil = false;  ///< includes windows that extend beyond the edge
};

inline nn::MaxPool2d max_pool(int64_t kernel, int64_t stride, PoolShape shape = {}) {
  return nn::MaxPool2d(nn::MaxPool2dOptions(kernel).stride(stride).padding(shape.padding).ceil_mode(shape.ceil));
}

// Activations in place, as in the originals.
inline nn::ReLU relu() { return nn::ReLU(nn::ReLUOptions(true)); }
inline nn::LeakyReLU leaky_relu(double slope) {
  return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(slope).inplace(true));
}

enum class Act { none, relu, relu6, leaky_relu, hardswish, silu, gelu, tanh_gelu, quick_gelu, sigmoid, hardsigmoid };

/// Applies an activation to each element. Never works in place.
inline torch::Tensor activate(Act act, const torch::Tensor& x) {
  switch (act) {
    case Act::none:
      return x;
    case Act::relu:
      return torch::relu(x);
    case Act::relu6:
      return torch::hardtanh(x, 0, 6);
    case Act::leaky_relu:
      return torch::leaky_relu(x, 0.01);
    case Act::hardswish:
      return torch::hardswish(x);
    case Act::silu:
      return torch::silu(x);
    case Act::gelu:
      return torch::gelu(x);
    case Act::tanh_gelu:
      return torch::gelu(x, "tanh");
    case Act::quick_gelu:
      return x * torch::sigmoid(1.702 * x);
    case Act::sigmoid:
      return torch::sigmoid(x);
    case Act::hardsigmoid:
      return torch::hardsigmoid(x);
  }
  throw std::invalid_argument("no such activation");
}

/// Returns activate() as a layer without parameters, so that the indices of a Sequential equal Python's.
inline nn::Functional activation(Act act) {
  return nn::Functional([act](const torch::Tensor& x) { return activate(act, x); });
}

inline nn::Linear linear_without_bias(int64_t in, int64_t out) {
  return nn::Linear(nn::LinearOptions(in, out).bias(false));
}

inline nn::LayerNorm layer_norm(int64_t width, double eps = 1e-6) {
  return nn::LayerNorm(nn::LayerNormOptions({width}).eps(eps));
}

/// LayerNorm over the channels of [N, C, H, W].
struct ChannelNormImpl : nn::LayerNormImpl {
  explicit ChannelNormImpl(int64_t channels, double eps = 1e-6)
      : nn::LayerNormImpl(nn::LayerNormOptions({channels}).eps(eps)) {}
  torch::Tensor forward(torch::Tensor x) {
    return nn::LayerNormImpl::forward(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
  }
};
TORCH_MODULE(ChannelNorm);

/// Returns x in float32, and in float64 if it is.
inline torch::Tensor at_least_float32(const torch::Tensor& x) {
  return x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
}

/// x divided by its root mean square, times a weight (Zhang, Sennrich, "Root mean square layer normalization", 2019).
/// Half precision is squared in float32. A weight that is stored less 1 also multiplies in float32, and so does any
/// weight of a norm with `multiplies_wide`.
struct RmsNormImpl : nn::Module {
  explicit RmsNormImpl(int64_t width, double epsilon = 1e-6, bool weight_less_one = false, bool multiplies_wide = false)
      : weight(register_parameter("weight", weight_less_one ? torch::zeros({width}) : torch::ones({width}))),
        eps(epsilon),
        less_one(weight_less_one),
        wide_product(multiplies_wide) {}
  torch::Tensor forward(const torch::Tensor& x) {
    const auto wide = at_least_float32(x);
    const auto unit = wide * torch::rsqrt(wide.pow(2).mean(-1, /*keepdim=*/true) + eps);
    if (less_one) return (unit * (1.0 + weight.to(unit.scalar_type()))).to(x.scalar_type());
    if (wide_product) return (weight * unit).to(x.scalar_type());
    return weight * unit.to(x.scalar_type());
  }
  torch::Tensor weight;
  double eps;
  bool less_one, wide_product;
};
TORCH_MODULE(RmsNorm);

/// Returns initial values of a learned scale of a residual branch (LayerScale): 0.5. The originals start at about 1e-6.
/// An untrained branch would then contribute too little for an error in it to be detected.
inline torch::Tensor first_scale(int64_t width) { return torch::full({width}, 0.5); }

/// Divides x by its Euclidean norm along a dimension (torch.nn.functional.normalize).
inline torch::Tensor unit_length(const torch::Tensor& x, int64_t dim) {
  return x / x.norm(2, {dim}, /*keepdim=*/true).clamp_min(1e-12).expand_as(x);
}

// Containers of layers.

/// A Sequential of tensor → tensor layers that can be nested in a Sequential, as in the originals
/// (`features.0.1.weight`). LibTorch's own cannot, because its forward is a template.
struct ChainImpl : nn::SequentialImpl {
  using nn::SequentialImpl::SequentialImpl;
  torch::Tensor forward(torch::Tensor x) { return is_empty() ? x : nn::SequentialImpl::forward(x); }
};
TORCH_MODULE(Chain);

/// Returns a chain of named layers: chain({{"conv", …}, {"bn", …}}).
inline Chain chain(std::initializer_list<nn::NamedAnyModule> layers) {
  return Chain(std::make_shared<ChainImpl>(layers));
}

/// Returns the mean of each channel over the image: [N, C, H, W] → [N, C].
inline nn::Functional average_pool() {
  return nn::Functional([](const torch::Tensor& x) { return torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1); });
}

struct BlockImpl : nn::Module {
  torch::Tensor forward(torch::Tensor x) { return run(std::move(x)); }
  std::function<torch::Tensor(torch::Tensor)> run{};
};

/// A module that is a function of its children. Its maker adds them, and returns it with the function:
///   auto norm = block.add("norm", layer_norm(8));
///   return block.running([=](torch::Tensor x) mutable { return x + norm(x); });
class Block : public nn::ModuleHolder<BlockImpl> {
 public:
  using nn::ModuleHolder<BlockImpl>::ModuleHolder;
  using Impl = BlockImpl;
  template <class Layer>
  Layer add(const std::string& name, Layer layer) {
    get()->register_module(name, layer);
    return layer;
  }
  /// Adds a parameter.
  torch::Tensor add(const std::string& name, torch::Tensor tensor) {
    return get()->register_parameter(name, std::move(tensor));
  }
  torch::Tensor add_buffer(const std::string& name, torch::Tensor tensor) {
    return get()->register_buffer(name, std::move(tensor));
  }
  Block running(std::function<torch::Tensor(torch::Tensor)> run) {
    get()->run = std::move(run);
    return *this;
  }
};

/// A model of one input that runs its layers one after another.
template <class Base>
class Layered : public Base {
 public:
  using Base::Base;
  c10::IValue forward(const Tensors& inputs) override { return layers_(inputs.at(0)); }

 protected:
  /// Adds the next layer, a child of the model if it has a name.
  template <class Layer>
  void add(const std::string& name, const Layer& layer) {
    this->register_module(name, layer);
    add(layer);
  }
  template <class Layer>
  void add(const Layer& layer) {
    layers_->push_back(layer);
  }

 private:
  Chain layers_;
};

/// Returns a module without forward that gives its children a common prefix.
inline nn::ModuleDict group(std::vector<std::pair<std::string, std::shared_ptr<nn::Module>>> children) {
  return nn::ModuleDict(std::move(children));
}

/// Returns layers of one type as a list, to be registered under one name. The owner calls them one by one.
template <class Layer>
nn::ModuleList list_of(const std::vector<Layer>& layers) {
  nn::ModuleList list;
  for (const auto& layer : layers) list->push_back(layer);
  return list;
}

/// Several branches of a block, concatenated along the channels. A branch may end in two parallel layers.
struct BranchesImpl : nn::Module {
  struct Way {
    std::vector<Chain> layers;
    std::vector<Chain> fork{};
  };
  torch::Tensor forward(torch::Tensor x) {
    std::vector<torch::Tensor> maps;
    for (auto& way : ways) {
      auto y = x;
      for (auto& layer : way.layers) y = layer(y);
      if (way.fork.empty()) maps.push_back(y);
      for (auto& end : way.fork) maps.push_back(end(y));
    }
    return torch::cat(maps, 1);
  }
  std::vector<Way> ways;
};
TORCH_MODULE(Branches);

/// x + layers(x), or only layers(x) if the shapes differ. The layers are children of the block itself.
struct SkipChainImpl : ChainImpl {
  explicit SkipChainImpl(bool adds_input) : adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + ChainImpl::forward(x) : ChainImpl::forward(x); }
  bool adds;
};
TORCH_MODULE(SkipChain);

/// Like SkipChain, but with the layers in a child of this name.
struct SkipImpl : nn::Module {
  SkipImpl(const std::string& name, Chain layers, bool adds_input = true)
      : body(register_module(name, std::move(layers))), adds(adds_input) {}
  torch::Tensor forward(torch::Tensor x) { return adds ? x + body(x) : body(x); }
  Chain body;
  bool adds;
};
TORCH_MODULE(Skip);

/// Stochastic depth (Huang et al., "Deep networks with stochastic depth", 2016). In training, a residual branch is
/// dropped for a random part of the batch, and scaled up for the rest.
struct DropPathImpl : nn::Module {
  explicit DropPathImpl(double rate) : p(rate) {}
  torch::Tensor forward(const torch::Tensor& x) {
    if (!is_training() || p == 0) return x;
    std::vector<int64_t> sizes(static_cast<size_t>(x.dim()), 1);
    sizes[0] = x.size(0);
    const auto drawn = x.scalar_type() == torch::kDouble ? torch::kFloat : x.scalar_type();
    auto kept = torch::empty(sizes, x.options().dtype(drawn)).bernoulli_(1 - p);
    if (drawn != x.scalar_type()) kept = kept.to(x.scalar_type());
    return x * kept.div_(1 - p);
  }
  double p;  ///< probability that a sample's branch is dropped
};
TORCH_MODULE(DropPath);

// Initialisations that several architectures share. Random numbers come from torch's default generator.

/// Calls `visit` with every layer of one kind below `root`: each_layer<nn::Conv2d>(model, [](auto& conv) { … }).
template <class Layer, class Visit>
void each_layer(torch::nn::Module& root, Visit visit) {
  for (const auto& module : root.modules(/*include_self=*/false)) {
    if (auto* layer = module->template as<Layer>()) visit(*layer);
  }
}

/// Initialises convolutions: normal with variance 2 / fan_out (He et al. 2015, as torchvision applies it); bias 0.
inline void init_convolutions_he(torch::nn::Module& root) {
  each_layer<nn::Conv2d>(root, [](auto& conv) {
    nn::init::kaiming_normal_(conv.weight, 0, torch::kFanOut, torch::kReLU);
    if (conv.bias.defined()) nn::init::zeros_(conv.bias);
  });
}

/// Initialises linear layers: normal with this deviation; bias 0.
inline void init_linears_normal(torch::nn::Module& root, double deviation) {
  each_layer<nn::Linear>(root, [deviation](auto& linear) {
    nn::init::normal_(linear.weight, 0, deviation);
    if (linear.bias.defined()) nn::init::zeros_(linear.bias);
  });
}

/// Initialises embeddings: normal with this deviation, also for padding words.
inline void init_embeddings_normal(torch::nn::Module& root, double deviation) {
  each_layer<nn::Embedding>(root, [deviation](auto& embedding) { nn::init::normal_(embedding.weight, 0, deviation); });
}

/// Returns a factory of models: constructor arguments of the full and the mini preset, as tuples or single values.
template <class T, class Full, class Mini>
auto by_preset(Full full, Mini mini) {
  return [full = std::move(full), mini = std::move(mini)](const ModelOptions& options) -> std::shared_ptr<Model> {
    const auto make = [](const auto&... arguments) { return std::make_shared<T>(arguments...); };
    return options.preset == Preset::full ? std::apply(make, std::tuple(full)) : std::apply(make, std::tuple(mini));
  };
}

}  // namespace torchstone
