// MMDiT, the transformer that Stable Diffusion 3 calls in each step. Patches of the image and words of the prompt have
// weights of their own, and attend to each other in one attention.
// Paper: Esser et al., "Scaling rectified flow transformers for high-resolution image synthesis", 2024. Original:
// diffusers' SD3Transformer2DModel with the sizes of stable-diffusion-3-medium, with 6 of its 24 layers so that it fits
// into 16 GB with its float64 reference. Inputs: noisy latents [N, 16, 128, 128], words [N, 333, 4096], the prompt as a
// whole [N, 2048], steps [N] → noise [N, 16, 128, 128]; 498,674,752 parameters. mini: 2 layers of width 64, latents of
// 16 x 16 and 7 words of width 48.
#include <string>
#include <utility>
#include <vector>

#include "models/blocks/diffusion.h"
#include "models/blocks/transformer.h"

namespace torchstone::diffusion_transformer {
namespace {

constexpr int64_t latent_channels = 16, patch = 2;

/// Layer normalisation without weights.
torch::Tensor plain_norm(const torch::Tensor& x) { return torch::layer_norm(x, {x.size(-1)}, {}, {}, 1e-6); }

/// Scales and shifts tokens [N, L, D] by factors of their sample [N, D].
torch::Tensor modulated(const torch::Tensor& x, const torch::Tensor& scale, const torch::Tensor& shift) {
  return plain_norm(x) * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1);
}

struct Heads {
  torch::Tensor query, key, value;  ///< [N, heads, L, D]
};

/// The layers of a block for the tokens of one kind, as children of the block and of its attention.
class Stream {
 public:
  struct Names {
    std::string suffix, query, key, value, out;
    bool out_is_list;
  };
  /// Without `continues`, the stream ends in this block's attention: only its queries, keys and values are used.
  Stream(nn::Module& block, nn::Module& attention, int64_t width, int64_t heads, bool continues, const Names& names)
      : heads_(heads),
        modulation_(width, (continues ? 6 : 2) * width),
        query_(width, width),
        key_(width, width),
        value_(width, width) {
    block.register_module("norm1" + names.suffix, group({{"linear", modulation_.ptr()}}));
    attention.register_module(names.query, query_);
    attention.register_module(names.key, key_);
    attention.register_module(names.value, value_);
    if (!continues) return;
    out_ = nn::Linear(width, width);
    if (names.out_is_list)
      attention.register_module(names.out, list_of<nn::Linear>({out_}));
    else
      attention.register_module(names.out, out_);
    ff_ = block.register_module(
        "ff" + names.suffix,
        feed_forward(width, chain({{"proj", nn::Linear(width, 4 * width)}, {"act", activation(Act::tanh_gelu)}})));
  }

  /// Returns queries, keys and values of x [N, L, D], and keeps in `factors` how the rest of the block is modulated.
  Heads before_attention(const torch::Tensor& x, const torch::Tensor& condition, Tensors& factors) {
    factors = modulation_(torch::silu(condition)).chunk(ff_ ? 6 : 2, 1);
    // AdaLayerNormZero begins with the shift, AdaLayerNormContinuous with the scale.
    const auto y = ff_ ? modulated(x, factors[1], factors[0]) : modulated(x, factors[0], factors[1]);
    return {split_heads(query_(y), heads_), split_heads(key_(y), heads_), split_heads(value_(y), heads_)};
  }
  /// Adds the result of the attention to x, and then that of the feed-forward part.
  torch::Tensor after_attention(torch::Tensor x, const torch::Tensor& attended, const Tensors& factors) {
    x = x + factors[2].unsqueeze(1) * out_(attended);
    return x + factors[5].unsqueeze(1) * ff_(modulated(x, factors[4], factors[3]));
  }
  bool continues() const { return !ff_.is_empty(); }

 private:
  int64_t heads_;
  nn::Linear modulation_, query_, key_, value_, out_{nullptr};
  Chain ff_{nullptr};
};

/// The tokens of the image and of the prompt: [N, L, D] each.
struct Tokens {
  torch::Tensor image, words;
};

struct JointBlockImpl : nn::Module {
  JointBlockImpl(int64_t width, int64_t heads, bool is_last)
      : attn(register_module("attn", std::make_shared<nn::Module>("attn"))),
        image(*this, *attn, width, heads, true, {"", "to_q", "to_k", "to_v", "to_out", true}),
        words(*this, *attn, width, heads, !is_last,
              {"_context", "add_q_proj", "add_k_proj", "add_v_proj", "to_add_out", false}) {}
  /// Returns no words in the last block.
  Tokens forward(const Tokens& tokens, const torch::Tensor& condition) {
    Tensors of_image, of_words;
    const auto a = image.before_attention(tokens.image, condition, of_image);
    const auto b = words.before_attention(tokens.words, condition, of_words);
    const auto attended = join_heads(at::scaled_dot_product_attention(
        torch::cat({a.query, b.query}, 2), torch::cat({a.key, b.key}, 2), torch::cat({a.value, b.value}, 2)));
    const auto length = tokens.image.size(1);
    Tokens result;
    if (words.continues()) result.words = words.after_attention(tokens.words, attended.slice(1, length), of_words);
    result.image = image.after_attention(tokens.image, attended.slice(1, 0, length), of_image);
    return result;
  }
  std::shared_ptr<nn::Module> attn;
  Stream image, words;
};
TORCH_MODULE(JointBlock);

/// Returns sines and cosines of each place on a square grid: [1, grid^2, width]. Places are counted in patches of the
/// image that has `side` of them.
torch::Tensor grid_waves(int64_t width, int64_t grid, int64_t side) {
  const auto half = width / 2;
  const auto omega = 1.0 / torch::pow(10000.0, torch::arange(half / 2, torch::kFloat64) / (half / 2.0));
  const auto places = torch::arange(grid, torch::kFloat32) / (static_cast<double>(grid) / static_cast<double>(side));
  const auto angles = torch::outer(places.to(torch::kFloat64), omega);
  const auto waves = torch::cat({angles.sin(), angles.cos()}, 1);  // [grid, half]
  const auto columns = waves.unsqueeze(0).expand({grid, grid, half}),
             rows = waves.unsqueeze(1).expand({grid, grid, half});
  return torch::cat({columns, rows}, 2).reshape({1, grid * grid, width}).to(torch::kFloat32);
}

struct Shape {
  int64_t layers, heads, head_width, word_width, prompt_width, words, side, grid;
};

class DiffusionTransformer : public Model {
 public:
  explicit DiffusionTransformer(const Shape& s)
      : shape_(s), width_(s.heads * s.head_width), patches_(patch, width_, latent_channels) {
    places_ = patches_->register_buffer("pos_embed", grid_waves(width_, s.grid, s.side / patch));
    register_module("pos_embed", patches_);
    step_mlp_ = condition_mlp(step_width, width_);
    prompt_mlp_ = condition_mlp(s.prompt_width, width_);
    register_module("time_text_embed",
                    group({{"timestep_embedder", step_mlp_.ptr()}, {"text_embedder", prompt_mlp_.ptr()}}));
    context_embedder_ = register_module("context_embedder", nn::Linear(s.word_width, width_));
    for (int64_t i = 0; i < s.layers; ++i) blocks_.push_back(JointBlock(width_, s.heads, i + 1 == s.layers));
    register_module("transformer_blocks", list_of(blocks_));
    last_modulation_ = nn::Linear(width_, 2 * width_);
    register_module("norm_out", group({{"linear", last_modulation_.ptr()}}));
    proj_out_ = register_module("proj_out", nn::Linear(width_, patch * patch * latent_channels));
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto& latents = inputs.at(0);
    const auto rows = latents.size(2) / patch, columns = latents.size(3) / patch;
    Tokens tokens;
    tokens.image = (patches_(latents) + places_of(rows, columns)).contiguous();
    const auto waves = step_waves(inputs.at(3), step_width, latents.scalar_type());
    const auto condition = step_mlp_(waves) + prompt_mlp_(inputs.at(2));
    tokens.words = context_embedder_(inputs.at(1));
    for (auto& block : blocks_) tokens = block->forward(tokens, condition);
    const auto factors = last_modulation_(torch::silu(condition)).chunk(2, 1);
    const auto out = proj_out_(modulated(tokens.image, factors[0], factors[1]));
    return out.reshape({out.size(0), rows, columns, patch, patch, latent_channels})
        .permute({0, 5, 1, 3, 2, 4})
        .reshape({out.size(0), latent_channels, rows * patch, columns * patch});
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto n = options.batch_size;
    auto latents = torch::randn({n, latent_channels, shape_.side, shape_.side});
    auto features = torch::randn({n, options.size_of("words", shape_.words), shape_.word_width});
    auto prompt = torch::randn({n, shape_.prompt_width});
    return {latents, features, prompt, torch::randint(1000, {n}, torch::kInt64)};
  }
  /// Returns only the length of the prompt, because the cut-out of the places depends on the sides of the latents.
  std::vector<ModelDimension> dimensions() const override { return {{"words", shape_.words, 2, 2 * shape_.words, 1}}; }

 private:
  static constexpr int64_t step_width = 256;

  /// Cuts the middle out of the grid of places: [1, rows * columns, D].
  torch::Tensor places_of(int64_t rows, int64_t columns) const {
    const auto top = (shape_.grid - rows) / 2, left = (shape_.grid - columns) / 2;
    return places_.reshape({1, shape_.grid, shape_.grid, -1})
        .slice(1, top, top + rows)
        .slice(2, left, left + columns)
        .reshape({1, -1, width_});
  }

  Shape shape_;
  int64_t width_;
  PatchEmbed patches_;
  torch::Tensor places_;
  Chain step_mlp_{nullptr}, prompt_mlp_{nullptr};
  nn::Linear context_embedder_{nullptr}, last_modulation_{nullptr}, proj_out_{nullptr};
  std::vector<JointBlock> blocks_;
};

const Shape full{.layers = 6,
                 .heads = 24,
                 .head_width = 64,
                 .word_width = 4096,
                 .prompt_width = 2048,
                 .words = 333,
                 .side = 128,
                 .grid = 192};
const Shape mini{.layers = 2,
                 .heads = 4,
                 .head_width = 16,
                 .word_width = 48,
                 .prompt_width = 32,
                 .words = 7,
                 .side = 16,
                 .grid = 12};

TORCHSTONE_MODEL(sd3_transformer, .family = "diffusion_transformer", .suites = {"torchbench"}, .train_batch = 1,
                 .eval_batch = 1, .parameters = 498'674'752, .make = by_preset<DiffusionTransformer>(full, mini));

}  // namespace
}  // namespace torchstone::diffusion_transformer
