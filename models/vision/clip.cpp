// CLIP: an encoder of texts and one of images, trained so that matching pairs have similar features.
// Paper: Radford et al., "Learning transferable visual models from natural language supervision", 2021.
// Original: transformers.CLIPModel with the sizes of openai/clip-vit-base-patch32. Token ids [N, 77] and images [N, 3,
// 224, 224] → scores of each image with each text [N, N], the same transposed, unit features of texts and images
// [N, 512], and of each encoder its last state ([N, 77, 512] and [N, 50, 768]) and its features before normalisation;
// 151,277,313 parameters. mini: 2 layers, texts of width 64 with 1000 words and 32 tokens, images of width 96 and 64
// pixels.
#include "models/blocks/bart_model.h"

namespace torchstone::clip {
namespace {

struct EncoderSizes {
  int64_t width, layers, heads;
};

struct ClipShape {
  EncoderSizes text, image;
  int64_t vocabulary, tokens, side, patch, features;
};

constexpr double norm_epsilon = 1e-5;

void init_normal(nn::Linear& linear, double variance) {
  nn::init::normal_(linear->weight, 0, std::sqrt(variance));
  if (linear->bias.defined()) nn::init::zeros_(linear->bias);
}

/// Initialises a layer as the original does.
void init_layer(BartAttentionImpl& attention, MlpImpl& mlp, const EncoderSizes& sizes) {
  const double unit = 1.0 / static_cast<double>(sizes.width), shared = unit / static_cast<double>(2 * sizes.layers);
  for (auto* linear : {&attention.q, &attention.k, &attention.v, &mlp.fc2}) init_normal(*linear, shared);
  init_normal(attention.out, unit);
  init_normal(mlp.fc1, unit / 2);
}

Block encoder_layer(const EncoderSizes& sizes, bool causal) {
  Block block;
  auto norm1 = block.add("layer_norm1", layer_norm(sizes.width, norm_epsilon));
  auto norm2 = block.add("layer_norm2", layer_norm(sizes.width, norm_epsilon));
  auto attn = block.add("self_attn", BartAttention(BartShape{.width = sizes.width, .heads = sizes.heads}));
  auto mlp = block.add("mlp", Mlp(sizes.width, 4 * sizes.width, Act::quick_gelu));
  init_layer(*attn, *mlp, sizes);
  return block.running([=](torch::Tensor x) mutable {
    const auto y = norm1(x);
    x = x + attn(y, y, causal);
    return x + mlp(norm2(x));
  });
}

/// Adds the layers to `parent` as `encoder.layers`.
Chain add_encoder(nn::Module& parent, const EncoderSizes& sizes, bool causal) {
  Chain layers;
  for (int64_t i = 0; i < sizes.layers; ++i) layers->push_back(encoder_layer(sizes, causal));
  parent.register_module("encoder", group({{"layers", layers.ptr()}}));
  return layers;
}

/// The last state of an encoder, and its state of the token that represents the text or the image.
struct Encoded {
  torch::Tensor last, pooled;
};

torch::Tensor numbered(int64_t rows) { return torch::arange(rows).expand({1, -1}); }

struct TextEncoderImpl : nn::Module {
  explicit TextEncoderImpl(const ClipShape& shape)
      : words(embeddings.add("token_embedding", nn::Embedding(shape.vocabulary, shape.text.width))),
        positions(embeddings.add("position_embedding", nn::Embedding(shape.tokens, shape.text.width))),
        position_ids(embeddings.add_buffer("position_ids", numbered(shape.tokens))) {
    register_module("embeddings", embeddings);
    layers = add_encoder(*this, shape.text, /*causal=*/true);
    norm = register_module("final_layer_norm", layer_norm(shape.text.width, norm_epsilon));
  }
  Encoded forward(const torch::Tensor& ids) {
    const auto x = words(ids) + positions(position_ids.slice(1, 0, ids.size(1)));
    const auto last = norm(layers(x));
    const auto end = ids.to(torch::kInt32).argmax(-1);  // the end of a text has the highest id
    return {last, last.index({torch::arange(last.size(0), ids.options()), end})};
  }
  Block embeddings;
  nn::Embedding words, positions;
  torch::Tensor position_ids;
  Chain layers{nullptr};
  nn::LayerNorm norm{nullptr};
};
TORCH_MODULE(TextEncoder);

struct ImageEncoderImpl : nn::Module {
  explicit ImageEncoderImpl(const ClipShape& shape)
      : token(embeddings.add("class_embedding",
                             torch::randn({shape.image.width}) / std::sqrt(static_cast<double>(shape.image.width)))),
        patches(embeddings.add("patch_embedding",
                               conv(3, shape.image.width, shape.patch, {.stride = shape.patch, .bias = false}))) {
    const auto side = shape.side / shape.patch, rows = side * side + 1;
    positions = embeddings.add("position_embedding", nn::Embedding(rows, shape.image.width));
    position_ids = embeddings.add_buffer("position_ids", numbered(rows));
    register_module("embeddings", embeddings);
    first_norm = register_module("pre_layrnorm", layer_norm(shape.image.width, norm_epsilon));  // the original's name
    layers = add_encoder(*this, shape.image, /*causal=*/false);
    last_norm = register_module("post_layernorm", layer_norm(shape.image.width, norm_epsilon));
  }
  Encoded forward(const torch::Tensor& images) {
    const auto x = patches(images).flatten(2).transpose(1, 2);
    const auto tokens = torch::cat({token.expand({x.size(0), 1, -1}), x}, 1);
    const auto last = layers(first_norm(tokens + positions(position_ids)));
    return {last, last_norm(last.select(1, 0))};
  }
  Block embeddings;
  torch::Tensor token;
  nn::Conv2d patches;
  nn::Embedding positions{nullptr};
  torch::Tensor position_ids;
  nn::LayerNorm first_norm{nullptr}, last_norm{nullptr};
  Chain layers{nullptr};
};
TORCH_MODULE(ImageEncoder);

/// Divides by the norm as the original writes it.
torch::Tensor of_unit_length(const torch::Tensor& x) { return x / x.pow(2).sum(-1, /*keepdim=*/true).pow(0.5); }

class Clip : public Model {
 public:
  explicit Clip(const ClipShape& shape)
      : shape_(shape),
        text_(register_module("text_model", TextEncoder(shape))),
        image_(register_module("vision_model", ImageEncoder(shape))),
        image_features_(register_module("visual_projection", linear_without_bias(shape.image.width, shape.features))),
        text_features_(register_module("text_projection", linear_without_bias(shape.text.width, shape.features))),
        scale_(register_parameter("logit_scale", torch::tensor(2.6592F))) {
    init_normal(image_features_, 1.0 / static_cast<double>(shape.image.width));
    init_normal(text_features_, 1.0 / static_cast<double>(shape.text.width));
    init_embeddings_normal(*this, 0.02);
    nn::init::normal_(image_->patches->weight, 0, 0.02);
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto image = image_(inputs.at(1)), text = text_(inputs.at(0));
    const auto of_image = image_features_(image.pooled), of_text = text_features_(text.pooled);
    const auto image_unit = of_unit_length(of_image), text_unit = of_unit_length(of_text);
    const auto per_text = torch::matmul(text_unit, image_unit.t()) * scale_.exp();
    return std::tuple(per_text.t(), per_text, text_unit, image_unit, std::tuple(text.last, of_text),
                      std::tuple(image.last, of_image));
  }
  /// Texts end in the word of the highest id, as the original's tokenizer writes them.
  Tensors example_inputs(const ModelOptions& options) const override {
    const auto length = options.size_of("length", shape_.tokens);
    auto ids = torch::randint(shape_.vocabulary, {options.batch_size, length}, torch::kInt64);
    ids.select(1, -1).fill_(shape_.vocabulary - 1);
    return {ids, torch::randn({options.batch_size, 3, shape_.side, shape_.side})};
  }
  std::vector<ModelDimension> dimensions() const override {
    return {{"length", shape_.tokens, shape_.tokens / 8, shape_.tokens, 1}};
  }
  bool in_state_dict(const std::string& name) const override { return !name.ends_with("position_ids"); }

 private:
  ClipShape shape_;
  TextEncoder text_;
  ImageEncoder image_;
  nn::Linear image_features_, text_features_;
  torch::Tensor scale_;
};

constexpr ClipShape base{.text = {.width = 512, .layers = 12, .heads = 8},
                         .image = {.width = 768, .layers = 12, .heads = 12},
                         .vocabulary = 49408,
                         .tokens = 77,
                         .side = 224,
                         .patch = 32,
                         .features = 512};
constexpr ClipShape mini{.text = {.width = 64, .layers = 2, .heads = 4},
                         .image = {.width = 96, .layers = 2, .heads = 3},
                         .vocabulary = 1000,
                         .tokens = 32,
                         .side = 64,
                         .patch = 16,
                         .features = 32};

TORCHSTONE_MODEL(hf_clip, .family = "clip", .suites = {"torchbench"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 151'277'313, .make = by_preset<Clip>(base, mini));

}  // namespace
}  // namespace torchstone::clip
