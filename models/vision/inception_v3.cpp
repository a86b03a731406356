// Inception v3: blocks of several parallel branches, with 7x7 convolutions split into 1x7 and 7x1.
// Paper: Szegedy et al., "Rethinking the Inception architecture for computer vision", 2015.
// Original: timm's InceptionV3 (without the auxiliary classifier). Input [N, 3, 299, 299] → logits [N, 1000];
// 23,834,568 parameters. mini: one block of each kind (Mixed_5b, 6a, 6b, 7a and 7b), 107 pixels.
#include "models/blocks/image_model.h"

namespace torchstone::inception_v3 {
namespace {

/// Returns a convolution with a kernel of rows x columns, padded to keep the size unless it has a stride.
struct Kernel {
  int64_t rows = 1, columns = 1, stride = 1;
  bool pads = true;
};
constexpr Kernel k1{}, k3{3, 3}, k5{5, 5}, k1x7{1, 7}, k7x1{7, 1}, k1x3{1, 3}, k3x1{3, 1}, k3by2{3, 3, 2, false};

Chain conv_bn(int64_t in, int64_t out, Kernel kernel) {
  const auto padding = [&](int64_t size) { return kernel.pads ? size / 2 : 0; };
  const auto options = nn::Conv2dOptions(in, out, {kernel.rows, kernel.columns})
                           .stride(kernel.stride)
                           .padding({padding(kernel.rows), padding(kernel.columns)})
                           .bias(false);
  return chain(
      {{"conv", nn::Conv2d(options)}, {"bn", nn::BatchNorm2d(nn::BatchNorm2dOptions(out).eps(1e-3))}, {"act", relu()}});
}

struct Step {
  const char* name;
  int64_t out;
  Kernel kernel;
};

/// A block whose branches are lists of layers. `fork` names the last two layers of a branch that splits.
class Mixed {
 public:
  explicit Mixed(int64_t in) : in_(in) {}
  Mixed& way(const std::vector<Step>& steps, const std::vector<Step>& fork = {}) {
    BranchesImpl::Way way;
    auto in = in_;
    for (const auto& step : steps) {
      way.layers.push_back(block_->register_module(step.name, conv_bn(in, step.out, step.kernel)));
      in = step.out;
    }
    for (const auto& step : fork)
      way.fork.push_back(block_->register_module(step.name, conv_bn(in, step.out, step.kernel)));
    block_->ways.push_back(way);
    return *this;
  }
  /// An average over 3x3 neighbours (the padding counts), then a 1x1 convolution.
  Branches averaged(int64_t out) {
    const Chain pool(nn::AvgPool2d(nn::AvgPool2dOptions(3).stride(1).padding(1)));
    block_->ways.push_back({{pool, block_->register_module("branch_pool", conv_bn(in_, out, k1))}});
    return block_;
  }
  Branches pooled() {
    block_->ways.push_back({{Chain(max_pool(3, 2))}});
    return block_;
  }

 private:
  int64_t in_;
  Branches block_;
};

Branches block_a(int64_t in, int64_t pool) {
  return Mixed(in)
      .way({{"branch1x1", 64, k1}})
      .way({{"branch5x5_1", 48, k1}, {"branch5x5_2", 64, k5}})
      .way({{"branch3x3dbl_1", 64, k1}, {"branch3x3dbl_2", 96, k3}, {"branch3x3dbl_3", 96, k3}})
      .averaged(pool);
}

Branches block_b(int64_t in) {
  return Mixed(in)
      .way({{"branch3x3", 384, k3by2}})
      .way({{"branch3x3dbl_1", 64, k1}, {"branch3x3dbl_2", 96, k3}, {"branch3x3dbl_3", 96, k3by2}})
      .pooled();
}

Branches block_c(int64_t in, int64_t middle) {
  return Mixed(in)
      .way({{"branch1x1", 192, k1}})
      .way({{"branch7x7_1", middle, k1}, {"branch7x7_2", middle, k1x7}, {"branch7x7_3", 192, k7x1}})
      .way({{"branch7x7dbl_1", middle, k1},
            {"branch7x7dbl_2", middle, k7x1},
            {"branch7x7dbl_3", middle, k1x7},
            {"branch7x7dbl_4", middle, k7x1},
            {"branch7x7dbl_5", 192, k1x7}})
      .averaged(192);
}

Branches block_d(int64_t in) {
  return Mixed(in)
      .way({{"branch3x3_1", 192, k1}, {"branch3x3_2", 320, k3by2}})
      .way({{"branch7x7x3_1", 192, k1},
            {"branch7x7x3_2", 192, k1x7},
            {"branch7x7x3_3", 192, k7x1},
            {"branch7x7x3_4", 192, k3by2}})
      .pooled();
}

Branches block_e(int64_t in) {
  return Mixed(in)
      .way({{"branch1x1", 320, k1}})
      .way({{"branch3x3_1", 384, k1}}, {{"branch3x3_2a", 384, k1x3}, {"branch3x3_2b", 384, k3x1}})
      .way({{"branch3x3dbl_1", 448, k1}, {"branch3x3dbl_2", 384, k3}},
           {{"branch3x3dbl_3a", 384, k1x3}, {"branch3x3dbl_3b", 384, k3x1}})
      .averaged(192);
}

class InceptionV3 : public Layered<ByteImageModel> {
 public:
  explicit InceptionV3(bool full) : Layered(full ? 299 : 107, 1, 80) {
    add("Conv2d_1a_3x3", conv_bn(3, 32, k3by2));
    add("Conv2d_2a_3x3", conv_bn(32, 32, {3, 3, 1, false}));
    add("Conv2d_2b_3x3", conv_bn(32, 64, k3));
    add("Pool1", Chain(max_pool(3, 2)));
    add("Conv2d_3b_1x1", conv_bn(64, 80, k1));
    add("Conv2d_4a_3x3", conv_bn(80, 192, {3, 3, 1, false}));
    add("Pool2", Chain(max_pool(3, 2)));
    add("Mixed_5b", block_a(192, 32));
    if (full) {
      add("Mixed_5c", block_a(256, 64));
      add("Mixed_5d", block_a(288, 64));
    }
    add("Mixed_6a", block_b(full ? 288 : 256));
    add("Mixed_6b", block_c(full ? 768 : 736, 128));
    if (full) {
      add("Mixed_6c", block_c(768, 160));
      add("Mixed_6d", block_c(768, 160));
      add("Mixed_6e", block_c(768, 192));
    }
    add("Mixed_7a", block_d(768));
    add("Mixed_7b", block_e(1280));
    if (full) add("Mixed_7c", block_e(2048));
    add(average_pool());
    add("fc", nn::Linear(2048, 1000));
  }
};

TORCHSTONE_MODEL(inception_v3, .family = "inception_v3", .suites = {"timm"}, .train_batch = 128, .eval_batch = 128,
                 .parameters = 23'834'568, .make = by_preset<InceptionV3>(/*full=*/true, false));

}  // namespace
}  // namespace torchstone::inception_v3
