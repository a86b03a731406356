// SAM: a vision transformer with attention in windows encodes an image. A decoder of two-way attention between prompts
// and image then predicts three masks a prompt and their quality.
// Paper: Kirillov et al., "Segment anything", 2023. Relative positions: Li et al., "MViTv2", 2021.
// Original: transformers' SamModel. Input: images [N, 3, 1024, 1024], points [N, 2, 2, 2], their labels [N, 2, 2] in
// {-1, 0, 1}, boxes [N, 2, 4] and masks [N, 1, 256, 256], two prompts an image → qualities [N, 2, 3] and masks
// [N, 2, 3, 256, 256]; 93,735,728 parameters (sam_vit_base). The embedding for the absence of a mask is unused and
// frozen. mini: 2 layers of width 64 with windows of 5, a decoder of width 32, 128 pixels.
#include <numbers>

#include "models/blocks/image_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::sam {
namespace {

constexpr int64_t patch = 16, prompts = 2, points_per_prompt = 2, mask_tokens = 4, mask_channels = 16;

struct SamShape {
  int64_t width = 768, heads = 12, layers = 12, window = 14, side = 1024;
  std::vector<int64_t> global_layers = {2, 5, 8, 11};  ///< layers that attend to the whole image
  int64_t prompt_width = 256, prompt_heads = 8, prompt_hidden = 2048;

  int64_t grid() const { return side / patch; }
};

Block mlp(int64_t width, int64_t hidden, Act act) {
  Block block;
  auto lin1 = block.add("lin1", nn::Linear(width, hidden)), lin2 = block.add("lin2", nn::Linear(hidden, width));
  return block.running([=](const torch::Tensor& x) mutable { return lin2(activate(act, lin1(x))); });
}

/// Returns a learned vector for each pair of positions along an axis: [2 * side - 1, D] → [side, side, D].
torch::Tensor by_distance(const torch::Tensor& table, int64_t side) {
  const auto rows = 2 * side - 1;
  const auto resized = at::upsample_linear1d(table.reshape({1, table.size(0), -1}).transpose(1, 2), {rows}, false);
  const auto axis = torch::arange(side, torch::dtype(torch::kInt64).device(table.device()));
  return resized.reshape({-1, rows}).permute({1, 0}).index({axis.unsqueeze(1) - axis.unsqueeze(0) + (side - 1)});
}

/// Attention over [N, side, side, width]. The bias of its scores is a sum of products of the query with vectors for
/// both distances.
Block image_attention(int64_t width, int64_t heads, int64_t side) {
  Block block;
  auto qkv = block.add("qkv", nn::Linear(width, 3 * width)), proj = block.add("proj", nn::Linear(width, width));
  const auto table = [&](const char* name) {
    return block.add(name, 0.02 * torch::randn({2 * side - 1, width / heads}));
  };
  const auto rel_pos_h = table("rel_pos_h"), rel_pos_w = table("rel_pos_w");
  return block.running([=](const torch::Tensor& x) mutable {
    const auto batch = x.size(0), length = side * side;
    const auto parts = qkv(x)
                           .reshape({batch, length, 3, heads, -1})
                           .permute({2, 0, 3, 1, 4})
                           .reshape({3, batch * heads, length, -1})
                           .unbind(0);
    const auto query = parts[0].reshape({batch * heads, side, side, -1});
    const auto rows = torch::einsum("bhwc,hkc->bhwk", {query, by_distance(rel_pos_h, side)}).unsqueeze(4);
    const auto columns = torch::einsum("bhwc,wkc->bhwk", {query, by_distance(rel_pos_w, side)}).unsqueeze(3);
    const auto bias = (rows + columns).reshape({batch, heads, length, length});
    const auto by_head = [&](size_t i) { return parts[i].view({batch, heads, length, -1}); };
    const auto mixed = at::scaled_dot_product_attention(by_head(0), by_head(1), by_head(2), bias);
    return proj(mixed.view({batch, heads, side, side, -1}).permute({0, 2, 3, 1, 4}).reshape(x.sizes()));
  });
}

/// Applies a layer to windows of an image, which is padded to whole windows: [N, H, W, C] → the same.
template <class Layer>
torch::Tensor in_windows(const torch::Tensor& x, int64_t window, Layer layer) {
  const auto height = x.size(1), width = x.size(2), channels = x.size(3);
  const auto rows = (height + window - 1) / window, columns = (width + window - 1) / window;
  const auto padded = torch::constant_pad_nd(x, {0, 0, 0, columns * window - width, 0, rows * window - height});
  const auto windows = layer(padded.reshape({-1, rows, window, columns, window, channels})
                                 .permute({0, 1, 3, 2, 4, 5})
                                 .contiguous()
                                 .reshape({-1, window, window, channels}));
  return windows.reshape({-1, rows, columns, window, window, channels})
      .permute({0, 1, 3, 2, 4, 5})
      .contiguous()
      .reshape({-1, rows * window, columns * window, channels})
      .slice(1, 0, height)
      .slice(2, 0, width)
      .contiguous();
}

Block image_layer(const SamShape& shape, bool whole) {
  Block block;
  auto norm1 = block.add("layer_norm1", layer_norm(shape.width));
  auto norm2 = block.add("layer_norm2", layer_norm(shape.width));
  auto attn = block.add("attn", image_attention(shape.width, shape.heads, whole ? shape.grid() : shape.window));
  auto feed = block.add("mlp", mlp(shape.width, 4 * shape.width, Act::gelu));
  return block.running([=, window = shape.window](torch::Tensor x) mutable {
    x = x + (whole ? attn(norm1(x)) : in_windows(norm1(x), window, attn));
    return x + feed(norm2(x));
  });
}

/// [N, 3, side, side] → [N, prompt_width, grid, grid].
Block image_encoder(const SamShape& shape) {
  Block block;
  auto projection = conv(3, shape.width, patch, {.stride = patch});
  block.add("patch_embed", group({{"projection", projection.ptr()}}));
  const auto places = block.add("pos_embed", 0.02 * torch::randn({1, shape.grid(), shape.grid(), shape.width}));
  Chain layers;
  for (int64_t i = 0; i < shape.layers; ++i) {
    const auto& global = shape.global_layers;
    layers->push_back(image_layer(shape, std::find(global.begin(), global.end(), i) != global.end()));
  }
  block.add("layers", layers);
  const auto out = shape.prompt_width;
  auto neck = block.add("neck", chain({{"conv1", conv(shape.width, out, 1, {.bias = false})},
                                       {"layer_norm1", ChannelNorm(out)},
                                       {"conv2", conv(out, out, 3, {.padding = 1, .bias = false})},
                                       {"layer_norm2", ChannelNorm(out)}}));
  return block.running([=](const torch::Tensor& x) mutable {
    return neck(layers(projection(x).permute({0, 2, 3, 1}) + places).permute({0, 3, 1, 2}));
  });
}

/// Sines and cosines of random projections of points in the unit square: […, 2] → […, width].
Block position_waves(int64_t width) {
  Block block;
  const auto projection = block.add("positional_embedding", torch::randn({2, width / 2}));
  return block.running([=](const torch::Tensor& points) {
    const auto angles = 2 * std::numbers::pi * (2 * points - 1).to(projection.scalar_type()).matmul(projection);
    return torch::cat({angles.sin(), angles.cos()}, -1);
  });
}

/// Embeds points, labels and boxes as tokens, and masks as an image.
struct PromptEncoderImpl : nn::Module {
  PromptEncoderImpl(const SamShape& shape, const Block& position_embedding)
      : side(shape.side), waves(register_module("shared_embedding", position_embedding)) {
    const auto width = shape.prompt_width;
    masks = register_module("mask_embed", chain({{"conv1", conv(1, mask_channels / 4, 2, {.stride = 2})},
                                                 {"layer_norm1", ChannelNorm(mask_channels / 4)},
                                                 {"act1", activation(Act::gelu)},
                                                 {"conv2", conv(mask_channels / 4, mask_channels, 2, {.stride = 2})},
                                                 {"layer_norm2", ChannelNorm(mask_channels)},
                                                 {"act2", activation(Act::gelu)},
                                                 {"conv3", conv(mask_channels, width, 1)}}));
    const auto no_mask = register_module("no_mask_embed", nn::Embedding(1, width));
    no_mask->weight.set_requires_grad(false);
    for (int64_t i = 0; i < 4; ++i) kinds.emplace_back(1, width);
    register_module("point_embed", list_of(kinds));
    no_point = register_module("not_a_point_embed", nn::Embedding(1, width));
  }

  torch::Tensor tokens(const torch::Tensor& points, const torch::Tensor& labels, const torch::Tensor& boxes) {
    auto found = waves((points + 0.5) / side);
    const auto is = [kind = labels.unsqueeze(3)](int64_t label) { return kind == label; };
    found = torch::where(is(-1), no_point->weight, found);
    found = torch::where(is(0), found + kinds[0]->weight, found);
    found = torch::where(is(1), found + kinds[1]->weight, found);
    const auto corners = (boxes + 0.5).reshape({boxes.size(0), boxes.size(1), 2, 2});
    return torch::cat({found, waves(corners / side) + torch::cat({kinds[2]->weight, kinds[3]->weight})}, 2);
  }

  int64_t side;
  Block waves;
  Chain masks;
  std::vector<nn::Embedding> kinds{};
  nn::Embedding no_point{nullptr};
};
TORCH_MODULE(PromptEncoder);

/// Attention between sequences [N * prompts, L, width], in a space of `inner` dimensions.
struct PromptAttentionImpl : nn::Module {
  PromptAttentionImpl(int64_t width, int64_t inner, int64_t head_count)
      : heads(head_count),
        q(register_module("q_proj", nn::Linear(width, inner))),
        k(register_module("k_proj", nn::Linear(width, inner))),
        v(register_module("v_proj", nn::Linear(width, inner))),
        out(register_module("out_proj", nn::Linear(inner, width))) {}
  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& key, const torch::Tensor& value) {
    return out(attention(q(query), k(key), v(value), heads));
  }
  int64_t heads;
  nn::Linear q, k, v, out;
};
TORCH_MODULE(PromptAttention);

/// Tokens attend to themselves and to the image, then the image attends to the tokens.
struct TwoWayLayerImpl : nn::Module {
  TwoWayLayerImpl(const SamShape& shape, bool is_first) : first(is_first) {
    const auto width = shape.prompt_width;
    const auto attend = [&](const char* name, int64_t inner) {
      return register_module(name, PromptAttention(width, inner, shape.prompt_heads));
    };
    self = attend("self_attn", width);
    to_image = attend("cross_attn_token_to_image", width / 2);
    to_tokens = attend("cross_attn_image_to_token", width / 2);
    feed = register_module("mlp", mlp(width, shape.prompt_hidden, Act::relu));
    for (int i = 1; i <= 4; ++i) norms.push_back(register_module("layer_norm" + std::to_string(i), layer_norm(width)));
  }

  /// Updates the tokens and the image. Neither contains its positions.
  void forward(torch::Tensor& tokens, torch::Tensor& image, const torch::Tensor& token_places,
               const torch::Tensor& image_places) {
    const auto placed = first ? tokens : tokens + token_places;
    const auto own = self(placed, placed, tokens);
    tokens = norms[0](first ? own : tokens + own);
    tokens = norms[1](tokens + to_image(tokens + token_places, image + image_places, image));
    tokens = norms[2](tokens + feed(tokens));
    image = norms[3](image + to_tokens(image + image_places, tokens + token_places, tokens));
  }

  bool first;
  PromptAttention self{nullptr}, to_image{nullptr}, to_tokens{nullptr};
  Block feed{};
  std::vector<nn::LayerNorm> norms{};
};
TORCH_MODULE(TwoWayLayer);

/// Three linear layers with ReLU between them.
Block perceptron(int64_t width, int64_t out) {
  Block block;
  auto in = block.add("proj_in", nn::Linear(width, width)), hidden = nn::Linear(width, width);
  block.add("layers", list_of<nn::Linear>({hidden}));
  auto last = block.add("proj_out", nn::Linear(width, out));
  return block.running([=](const torch::Tensor& x) mutable { return last(torch::relu(hidden(torch::relu(in(x))))); });
}

struct MaskDecoderImpl : nn::Module {
  explicit MaskDecoderImpl(const SamShape& shape) {
    const auto width = shape.prompt_width;
    quality_token = register_module("iou_token", nn::Embedding(1, width));
    tokens_of_masks = register_module("mask_tokens", nn::Embedding(mask_tokens, width));
    layers = {TwoWayLayer(shape, true), TwoWayLayer(shape, false)};
    last = PromptAttention(width, width / 2, shape.prompt_heads);
    last_norm = layer_norm(width, 1e-5);
    register_module("transformer", group({{"layers", list_of(layers).ptr()},
                                          {"final_attn_token_to_image", last.ptr()},
                                          {"layer_norm_final_attn", last_norm.ptr()}}));
    const auto twice = [](int64_t in, int64_t out) {
      return nn::ConvTranspose2d(nn::ConvTranspose2dOptions(in, out, 2).stride(2));
    };
    upscale1 = register_module("upscale_conv1", twice(width, width / 4));
    upscale2 = register_module("upscale_conv2", twice(width / 4, width / 8));
    norm = register_module("upscale_layer_norm", ChannelNorm(width / 4));
    for (int64_t i = 0; i < mask_tokens; ++i) weights.push_back(perceptron(width, width / 8));
    register_module("output_hypernetworks_mlps", list_of(weights));
    qualities = register_module("iou_prediction_head", perceptron(width, mask_tokens));
  }

  /// Returns qualities and masks, except those of the first mask token, which is for a single answer.
  Tensors forward(const torch::Tensor& image, const torch::Tensor& image_places, const torch::Tensor& prompt_tokens) {
    const auto batch = image.size(0), side = image.size(2), count = prompt_tokens.size(1);
    const auto own = torch::cat({quality_token->weight, tokens_of_masks->weight}).repeat({batch, count, 1, 1});
    const auto token_places = torch::cat({own, prompt_tokens}, 2).flatten(0, 1);
    const auto sequence = [&](const torch::Tensor& x) {
      return x.repeat_interleave(count, 0).flatten(2).transpose(1, 2);
    };
    const auto places = sequence(image_places);
    auto tokens = token_places, pixels = sequence(image);
    for (auto& layer : layers) layer->forward(tokens, pixels, token_places, places);
    tokens = last_norm(tokens + last(tokens + token_places, pixels + places, pixels));
    tokens = tokens.view({batch, count, -1, image.size(1)});

    const auto map = pixels.transpose(1, 2).reshape({batch * count, image.size(1), side, side});
    const auto large = torch::gelu(upscale2(torch::gelu(norm(upscale1(map)))));
    Tensors rows;
    for (size_t i = 0; i < weights.size(); ++i)
      rows.push_back(weights[i](tokens.select(2, 1 + static_cast<int64_t>(i))));
    const auto masks = torch::stack(rows, 2).matmul(large.reshape({batch, count, large.size(1), -1}));
    return {qualities(tokens.select(2, 0)).slice(2, 1),
            masks.reshape({batch, count, -1, large.size(2), large.size(3)}).slice(2, 1)};
  }

  nn::Embedding quality_token{nullptr}, tokens_of_masks{nullptr};
  std::vector<TwoWayLayer> layers{};
  PromptAttention last{nullptr};
  nn::LayerNorm last_norm{nullptr};
  nn::ConvTranspose2d upscale1{nullptr}, upscale2{nullptr};
  ChannelNorm norm{nullptr};
  std::vector<Block> weights{};
  Block qualities{};
};
TORCH_MODULE(MaskDecoder);

class Sam : public ImageModel {
 public:
  explicit Sam(const SamShape& shape)
      : ImageModel(shape.side),
        shape_(shape),
        waves_(register_module("shared_image_embedding", position_waves(shape.prompt_width))),
        image_(register_module("vision_encoder", image_encoder(shape))),
        prompts_(register_module("prompt_encoder", PromptEncoder(shape, waves_))),
        masks_(register_module("mask_decoder", MaskDecoder(shape))) {}

  c10::IValue forward(const Tensors& inputs) override {
    const auto image = image_(inputs.at(0)) + prompts_->masks(inputs.at(4));
    const auto tokens = prompts_->tokens(inputs.at(1), inputs.at(2), inputs.at(3));
    const auto axis = (torch::arange(shape_.grid(), image.options()) + 0.5) / shape_.grid();
    const auto axes = torch::meshgrid({axis, axis}, "xy");
    const auto places = waves_(torch::stack({axes[0], axes[1]}, -1)).permute({2, 0, 1}).unsqueeze(0);
    const auto found = masks_(image, places.repeat({image.size(0), 1, 1, 1}), tokens);
    return std::tuple(found[0], found[1]);
  }

  /// Draws points, the first and the opposite corner of boxes in pixels, and masks as logits.
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto batch = options.batch_size;
    const auto first = torch::rand({batch, prompts, 2}) / 2, size = torch::rand({batch, prompts, 2}) / 2;
    return {torch::randn(image_sizes(options)), torch::rand({batch, prompts, points_per_prompt, 2}) * shape_.side,
            torch::randint(-1, 2, {batch, prompts, points_per_prompt}, torch::kInt64),
            torch::cat({first, first + size}, -1) * shape_.side,
            torch::randn({batch, 1, 4 * shape_.grid(), 4 * shape_.grid()})};
  }

 private:
  SamShape shape_;
  Block waves_, image_;
  PromptEncoder prompts_;
  MaskDecoder masks_;
};

const SamShape mini_shape{.width = 64,
                          .heads = 2,
                          .layers = 2,
                          .window = 5,
                          .side = 128,
                          .global_layers = {1},
                          .prompt_width = 32,
                          .prompt_heads = 4,
                          .prompt_hidden = 64};
TORCHSTONE_MODEL(sam_vit_base, .family = "sam", .suites = {"torchbench"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 93'735'728, .make = by_preset<Sam>(SamShape{}, mini_shape));

}  // namespace
}  // namespace torchstone::sam
