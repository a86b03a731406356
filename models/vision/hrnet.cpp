// HRNet: parallel branches of several resolutions, which exchange their maps after every few blocks.
// Paper: Wang et al., "Deep high-resolution representation learning for visual recognition", 2019. Original: timm's
// HighResolutionNet as hrnet_w18. Input [N, 3, 224, 224] → logits [N, 1000]; 21,299,004 parameters.
// mini: stages of one module of one block, width 8, 64 pixels.
#include "models/blocks/conv_blocks.h"
#include "models/blocks/image_model.h"

namespace torchstone::hrnet {
namespace {

/// A 3x3 convolution that halves the image (or keeps it), with BatchNorm.
Chain step(int64_t in, int64_t out, int64_t stride, Act act) {
  return conv_norm(in, out, {.kernel = 3, .stride = stride, .act = act});
}

Chain bottlenecks(int64_t in, int64_t width, int64_t count) {
  Chain blocks;
  for (int64_t i = 0; i < count; ++i) blocks->push_back(bottleneck(i == 0 ? in : bottleneck_expansion * width, width));
  return blocks;
}

Chain basic_blocks(int64_t width, int64_t count) {
  Chain blocks;
  for (int64_t i = 0; i < count; ++i) blocks->push_back(basic_block(width, width));
  return blocks;
}

/// Resizes a map of branch `from` for branch `to`, whose image is smaller by 2^(to - from).
Chain exchange(const std::vector<int64_t>& widths, size_t from, size_t to) {
  const auto in = widths[from], out = widths[to];
  Chain layers;
  if (from > to) {
    layers = conv_norm(in, out, {.act = Act::none});
    const auto factor = static_cast<double>(1 << (from - to));
    layers->push_back(
        nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector{factor, factor}).mode(torch::kNearest)));
  }
  for (size_t i = from; i < to; ++i) {
    const bool last = i + 1 == to;
    layers->push_back(step(in, last ? out : in, 2, last ? Act::none : Act::relu));
  }
  return layers;
}

/// Runs each branch, then replaces each by the sum of all.
struct ExchangingImpl : nn::Module {
  ExchangingImpl(const std::vector<int64_t>& widths, int64_t depth) : ways(widths.size()) {
    nn::ModuleList fuse;
    for (size_t to = 0; to < widths.size(); ++to) {
      branches.push_back(basic_blocks(widths[to], depth));
      for (size_t from = 0; from < widths.size(); ++from) ways[to].push_back(exchange(widths, from, to));
      fuse->push_back(list_of(ways[to]));
    }
    register_module("branches", list_of(branches));
    register_module("fuse_layers", fuse);
  }
  Tensors forward(Tensors x) {
    for (size_t i = 0; i < x.size(); ++i) x[i] = branches[i](x[i]);
    Tensors sums;
    for (auto& into : ways) {
      auto sum = into[0](x[0]);
      for (size_t from = 1; from < x.size(); ++from) sum = sum + into[from](x[from]);
      sums.push_back(torch::relu(sum));
    }
    return sums;
  }
  std::vector<Chain> branches;
  std::vector<std::vector<Chain>> ways;
};
TORCH_MODULE(Exchanging);

struct HrShape {
  int64_t width, depth, side;    ///< of the finest branch; blocks between two exchanges
  std::vector<int64_t> modules;  ///< of the stages with two, three and four branches
};

class HrNet : public ByteImageModel {
 public:
  explicit HrNet(const HrShape& shape) : ByteImageModel(shape.side, 32) {
    for (const auto* number : {"1", "2"}) {
      const auto in = stem_.empty() ? 3 : 64;
      auto layers = step(in, 64, 2, Act::relu);
      register_module(std::string("conv") + number, layers->ptr(0));
      register_module(std::string("bn") + number, layers->ptr(1));
      stem_.push_back(layers);
    }
    stem_.push_back(register_module("layer1", bottlenecks(64, 64, shape.depth)));
    std::vector<int64_t> widths = {256};
    for (size_t i = 0; i < shape.modules.size(); ++i) add_stage(shape, widths, i);
    add_head(widths);
    init_convolutions_he(*this);
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = inputs.at(0);
    for (auto& layers : stem_) x = layers(x);
    Tensors maps = {x};
    for (auto& stage : stages_) {
      const auto coarsest = maps.back();
      maps.resize(stage.enter.size());
      for (size_t i = 0; i < maps.size(); ++i) {
        if (!stage.enter[i]->is_empty()) maps[i] = stage.enter[i](coarsest);
      }
      for (auto& module : stage.modules) maps = module(maps);
    }
    x = widen_[0](maps[0]);
    for (size_t i = 1; i < maps.size(); ++i) x = widen_[i](maps[i]) + narrow_[i - 1](x);
    return classifier_(torch::adaptive_avg_pool2d(last_(x), {1, 1}).flatten(1));
  }

 private:
  struct Stage {
    std::vector<Chain> enter;  ///< from the coarsest earlier branch; empty: the branch continues
    std::vector<Exchanging> modules;
  };

  /// `widths` has the widths of the branches so far. One branch is added.
  void add_stage(const HrShape& shape, std::vector<int64_t>& widths, size_t index) {
    Stage stage;
    const auto before = widths;
    widths.push_back(0);
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = shape.width << i;
      Chain layers;
      if (i == before.size())
        layers->push_back(step(before.back(), widths[i], 2, Act::relu));
      else if (before[i] != widths[i])
        layers = step(before[i], widths[i], 1, Act::relu);
      stage.enter.push_back(layers);
    }
    for (int64_t i = 0; i < shape.modules[index]; ++i) stage.modules.push_back(Exchanging(widths, shape.depth));
    register_module("transition" + std::to_string(index + 1), list_of(stage.enter));
    register_module("stage" + std::to_string(index + 2), list_of(stage.modules));
    stages_.push_back(stage);
  }

  /// Joins all branches, from fine to coarse.
  void add_head(const std::vector<int64_t>& widths) {
    const auto with_bias = [](int64_t in, int64_t out, int64_t kernel, ConvShape shape) {
      return Chain(conv(in, out, kernel, shape), nn::BatchNorm2d(out), relu());
    };
    for (size_t i = 0; i < widths.size(); ++i) {
      const int64_t width = 32 << i;
      widen_.push_back(bottlenecks(widths[i], width, 1));
      if (i > 0) narrow_.push_back(with_bias(2 * width, 4 * width, 3, {.stride = 2, .padding = 1}));
    }
    register_module("incre_modules", list_of(widen_));
    register_module("downsamp_modules", list_of(narrow_));
    last_ = register_module("final_layer", with_bias(1024, 2048, 1, {}));
    classifier_ = register_module("classifier", nn::Linear(2048, 1000));
  }

  std::vector<Chain> stem_, widen_, narrow_;
  std::vector<Stage> stages_;
  Chain last_{nullptr};
  nn::Linear classifier_{nullptr};
};

TORCHSTONE_MODEL(hrnet_w18, .family = "hrnet", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 21'299'004,
                 .make = by_preset<HrNet>(HrShape{18, 4, 224, {1, 4, 3}}, HrShape{8, 1, 64, {1, 1, 1}}));

}  // namespace
}  // namespace torchstone::hrnet
