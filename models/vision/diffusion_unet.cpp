// The network that Stable Diffusion calls in each step: a U-Net with attention to the words of a prompt.
// Paper: Rombach et al., "High-resolution image synthesis with latent diffusion models", 2021. Original: diffusers'
// UNet2DConditionModel. stable_diffusion_unet has the sizes of stable-diffusion-2 and the inputs of pytorch/benchmark:
// noisy latents [N, 4, 128, 128], steps [N] (floating point), one word's features [N, 1, 1024] → noise
// [N, 4, 128, 128]; 865,910,724 parameters. stable_diffusion_15_unet has those of stable-diffusion-v1-5: latents
// [N, 4, 64, 64] and 77 words of width 768; 859,520,964 parameters. mini: two levels of 32 and 64 channels with one
// block each, latents of 16 x 16 and 7 words of width 32.
#include <string>
#include <vector>

#include "models/blocks/diffusion.h"
#include "models/blocks/transformer.h"

namespace torchstone::diffusion_unet {
namespace {

struct Shape {
  std::vector<int64_t> widths, heads;  ///< of each level
  int64_t blocks, groups, word_width, words, side;
  bool projects_maps = false;  ///< before and after attention by convolutions, otherwise by linear layers

  int64_t time_width() const { return 4 * widths.at(0); }
  nn::GroupNorm norm(int64_t channels, double eps = 1e-5) const {
    return nn::GroupNorm(nn::GroupNormOptions(groups, channels).eps(eps));
  }
};

/// The condition of every level: features of the step [N, T] and of the words [N, words, D].
struct Condition {
  torch::Tensor step, words;
};

/// Two convolutions, with a bias per channel from the step between them.
struct ResnetBlockImpl : nn::Module {
  ResnetBlockImpl(const Shape& s, int64_t in, int64_t out)
      : norm1(register_module("norm1", s.norm(in))),
        norm2(register_module("norm2", s.norm(out))),
        conv1(register_module("conv1", conv(in, out, 3, {.padding = 1}))),
        conv2(register_module("conv2", conv(out, out, 3, {.padding = 1}))),
        time_emb_proj(register_module("time_emb_proj", nn::Linear(s.time_width(), out))) {
    if (in != out) shortcut = register_module("conv_shortcut", conv(in, out, 1));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& step) {
    auto y = conv1(torch::silu(norm1(x)));
    y = y + time_emb_proj(torch::silu(step)).unsqueeze(-1).unsqueeze(-1);
    y = conv2(torch::silu(norm2(y)));
    return ((shortcut ? shortcut(x) : x) + y) / 1.0;  // the original divides by its output_scale_factor
  }
  nn::GroupNorm norm1, norm2;
  nn::Conv2d conv1, conv2, shortcut{nullptr};
  nn::Linear time_emb_proj;
};
TORCH_MODULE(ResnetBlock);

/// Attention of x to itself, or to other tokens of width `from`.
struct AttentionImpl : nn::Module {
  AttentionImpl(int64_t width, int64_t head_count, int64_t from)
      : heads(head_count),
        to_q(register_module("to_q", linear_without_bias(width, width))),
        to_k(register_module("to_k", linear_without_bias(from, width))),
        to_v(register_module("to_v", linear_without_bias(from, width))),
        to_out(width, width) {
    register_module("to_out", list_of<nn::Linear>({to_out}));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& tokens) {
    const auto query = to_q(x), key = to_k(tokens), value = to_v(tokens);
    return to_out(attention(query, key, value, heads)) / 1.0;  // the original divides by its rescale_output_factor
  }
  int64_t heads;
  nn::Linear to_q, to_k, to_v, to_out;
};
TORCH_MODULE(Attention);

/// Maps the width to eight times it, and multiplies one half by GELU of the other.
Block gated_gelu(int64_t width) {
  Block block;
  auto proj = block.add("proj", nn::Linear(width, 8 * width));
  return block.running([=](const torch::Tensor& x) mutable {
    const auto halves = proj(x).chunk(2, -1);
    return halves[0] * torch::gelu(halves[1]);
  });
}

/// Attention among the tokens, then to the words.
struct TransformerBlockImpl : nn::Module {
  TransformerBlockImpl(int64_t width, int64_t heads, int64_t word_width)
      : norm1(register_module("norm1", layer_norm(width, 1e-5))),
        norm2(register_module("norm2", layer_norm(width, 1e-5))),
        norm3(register_module("norm3", layer_norm(width, 1e-5))),
        attn1(register_module("attn1", Attention(width, heads, width))),
        attn2(register_module("attn2", Attention(width, heads, word_width))),
        ff(register_module("ff", feed_forward(width, gated_gelu(width)))) {}
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& words) {
    const auto y = norm1(x);
    x = attn1(y, y) + x;
    x = attn2(norm2(x), words) + x;
    return ff(norm3(x)) + x;
  }
  nn::LayerNorm norm1, norm2, norm3;
  Attention attn1, attn2;
  Chain ff;
};
TORCH_MODULE(TransformerBlock);

/// A transformer block whose tokens are the places of a map.
struct SpatialTransformerImpl : nn::Module {
  SpatialTransformerImpl(const Shape& s, int64_t width, int64_t heads)
      : norm(register_module("norm", s.norm(width, 1e-6))), block(width, heads, s.word_width) {
    if (s.projects_maps) {
      map_in = register_module("proj_in", conv(width, width, 1));
      map_out = register_module("proj_out", conv(width, width, 1));
    } else {
      proj_in = register_module("proj_in", nn::Linear(width, width));
      proj_out = register_module("proj_out", nn::Linear(width, width));
    }
    register_module("transformer_blocks", list_of<TransformerBlock>({block}));
  }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& words) {
    const auto rows = x.size(2), columns = x.size(3), width = x.size(1);
    auto map = norm(x);
    if (map_in) map = map_in(map);
    auto tokens = map.permute({0, 2, 3, 1}).reshape({x.size(0), rows * columns, width});
    tokens = block(proj_in ? proj_in(tokens) : tokens, words);
    if (proj_out) tokens = proj_out(tokens);
    map = tokens.reshape({x.size(0), rows, columns, width}).permute({0, 3, 1, 2}).contiguous();
    return (map_out ? map_out(map) : map) + x;
  }
  nn::GroupNorm norm;
  nn::Linear proj_in{nullptr}, proj_out{nullptr};
  nn::Conv2d map_in{nullptr}, map_out{nullptr};
  TransformerBlock block;
};
TORCH_MODULE(SpatialTransformer);

/// Blocks of one resolution, and a convolution that changes it. The middle has one transformer between two blocks.
struct LevelImpl : nn::Module {
  /// `inputs` has the input channels of each block. No transformers without heads.
  LevelImpl(const Shape& s, const std::vector<int64_t>& inputs, int64_t width, int64_t heads, size_t transformers) {
    for (const auto in : inputs) resnets.push_back(ResnetBlock(s, in, width));
    for (size_t i = 0; i < transformers; ++i) attentions.push_back(SpatialTransformer(s, width, heads));
    if (transformers > 0) register_module("attentions", list_of(attentions));
    register_module("resnets", list_of(resnets));
  }
  void add_resampling(const std::string& name, const nn::Conv2d& layer) {
    register_module(name, list_of<Chain>({chain({{"conv", layer}})}));
    resampling = layer;
  }
  torch::Tensor run(size_t i, torch::Tensor x, const Condition& condition) {
    x = resnets[i](x, condition.step);
    return i < attentions.size() ? attentions[i](x, condition.words) : x;
  }
  /// Appends the result of each block to `skips`.
  torch::Tensor down(torch::Tensor x, const Condition& condition, Tensors& skips) {
    for (size_t i = 0; i < resnets.size(); ++i) skips.push_back(x = run(i, x, condition));
    if (resampling) skips.push_back(x = resampling(x));
    return x;
  }
  torch::Tensor middle(torch::Tensor x, const Condition& condition) {
    for (size_t i = 0; i < resnets.size(); ++i) x = run(i, x, condition);
    return x;
  }
  /// Takes one of `skips` for each block, the last first.
  torch::Tensor up(torch::Tensor x, const Condition& condition, Tensors& skips) {
    for (size_t i = 0; i < resnets.size(); ++i) {
      x = run(i, torch::cat({x, skips.back()}, 1), condition);
      skips.pop_back();
    }
    if (!resampling) return x;
    const std::vector<double> twice = {2, 2};
    return resampling(at::upsample_nearest2d(x, at::OptionalIntArrayRef{}, twice));
  }
  std::vector<ResnetBlock> resnets;
  std::vector<SpatialTransformer> attentions;
  nn::Conv2d resampling{nullptr};
};
TORCH_MODULE(Level);

class DiffusionUNet : public Model {
 public:
  explicit DiffusionUNet(const Shape& s) : shape_(s) {
    const auto levels = s.widths.size(), last = levels - 1;
    const auto same = [](int64_t width) { return conv(width, width, 3, {.padding = 1}); };
    conv_in_ = register_module("conv_in", conv(4, s.widths[0], 3, {.padding = 1}));
    time_embedding_ = register_module("time_embedding", condition_mlp(s.widths[0], s.time_width()));
    std::vector<int64_t> skips = {s.widths[0]};  // channels
    for (size_t i = 0; i < levels; ++i) {
      std::vector<int64_t> inputs(static_cast<size_t>(s.blocks), s.widths[i]);
      inputs[0] = skips.back();
      auto level = downs_.emplace_back(Level(s, inputs, s.widths[i], s.heads[i], i < last ? inputs.size() : 0));
      skips.insert(skips.end(), inputs.size(), s.widths[i]);
      if (i == last) continue;
      level->add_resampling("downsamplers", conv(s.widths[i], s.widths[i], 3, {.stride = 2, .padding = 1}));
      skips.push_back(s.widths[i]);
    }
    const auto deepest = s.widths[last];
    mid_ = Level(s, std::vector<int64_t>(2, deepest), deepest, s.heads[last], 1);
    auto above = deepest;
    for (size_t i = levels; i-- > 0;) {
      std::vector<int64_t> inputs;
      for (int64_t block = 0; block <= s.blocks; ++block) {
        inputs.push_back((block == 0 ? above : s.widths[i]) + skips.back());
        skips.pop_back();
      }
      above = s.widths[i];
      auto level = ups_.emplace_back(Level(s, inputs, above, s.heads[i], i < last ? inputs.size() : 0));
      if (i > 0) level->add_resampling("upsamplers", same(above));
    }
    register_module("down_blocks", list_of(downs_));
    register_module("up_blocks", list_of(ups_));
    register_module("mid_block", mid_);
    conv_norm_out_ = register_module("conv_norm_out", s.norm(s.widths[0]));
    conv_out_ = register_module("conv_out", conv(s.widths[0], 4, 3, {.padding = 1}));
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& latents = inputs.at(0);
    const auto waves = step_waves(inputs.at(1), shape_.widths[0], latents.scalar_type());
    const Condition condition{time_embedding_(waves), inputs.at(2)};
    Tensors skips = {conv_in_(latents)};
    auto x = skips.back();
    for (auto& level : downs_) x = level->down(x, condition, skips);
    x = mid_->middle(x, condition);
    for (auto& level : ups_) x = level->up(x, condition, skips);
    return conv_out_(torch::silu(conv_norm_out_(x)));
  }

  /// Returns upstream's inputs. Each step is 1.
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto n = options.batch_size;
    auto latents = torch::randn({n, 4, shape_.side, shape_.side});
    return {latents, torch::ones({n}), torch::randn({n, shape_.words, shape_.word_width})};
  }

 private:
  Shape shape_;
  nn::Conv2d conv_in_{nullptr}, conv_out_{nullptr};
  Chain time_embedding_{nullptr};
  std::vector<Level> downs_, ups_;
  Level mid_{nullptr};
  nn::GroupNorm conv_norm_out_{nullptr};
};

const Shape version_2{.widths = {320, 640, 1280, 1280},
                      .heads = {5, 10, 20, 20},
                      .blocks = 2,
                      .groups = 32,
                      .word_width = 1024,
                      .words = 1,
                      .side = 128};
const Shape version_15{.widths = {320, 640, 1280, 1280},
                       .heads = {8, 8, 8, 8},
                       .blocks = 2,
                       .groups = 32,
                       .word_width = 768,
                       .words = 77,
                       .side = 64,
                       .projects_maps = true};

auto make(const Shape& full) {
  const Shape mini{.widths = {32, 64},
                   .heads = {2, 4},
                   .blocks = 1,
                   .groups = 8,
                   .word_width = 32,
                   .words = 7,
                   .side = 16,
                   .projects_maps = full.projects_maps};
  return by_preset<DiffusionUNet>(full, mini);
}

TORCHSTONE_MODEL(stable_diffusion_unet, .family = "diffusion_unet", .suites = {"torchbench"}, .train_batch = 1,
                 .eval_batch = 1, .parameters = 865'910'724, .fixed_batch = true, .make = make(version_2));
TORCHSTONE_MODEL(stable_diffusion_15_unet, .family = "diffusion_unet", .suites = {"torchbench"}, .train_batch = 1,
                 .eval_batch = 1, .parameters = 859'520'964, .make = make(version_15));

}  // namespace
}  // namespace torchstone::diffusion_unet
