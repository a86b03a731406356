// gpt-oss: a decoder whose feed-forward is a mixture of experts. A router chooses 4 experts for each token. Attention
// has a learned sink for each head: a score without a value. Each second layer has a window of positions. As a prompt
// and one more word (models/blocks/decoder.h). Paper: OpenAI, "gpt-oss-120b & gpt-oss-20b model card", 2025. Original:
// transformers.GptOssForCausalLM with the experts' implementation `batched_mm`, in the sizes of gpt-oss-20b, but with 2
// of its 24 layers, 8 of its 32 experts and 32768 of its 201088 words, so that it fits next to its float64 reference;
// 640,173,904 parameters. transformers' default, `grouped_mm`, compiles in bfloat16 only and has no float64. Inputs and
// outputs as llama's: 8 tokens, because each token copies the weights of its experts; 127 places in the cache. mini: 2
// layers of width 64, 4 query heads on 2 key heads, 1000 words, 16 tokens, a window of 6.
#include "models/blocks/decoder.h"

namespace torchstone::gpt_oss {
namespace {

constexpr int64_t expert_count = 8, chosen = 4;

/// The feed-forward of `chosen` experts for each token, weighted by a router.
struct ExpertsImpl : nn::Module {
  ExpertsImpl(int64_t width, int64_t hidden) {
    const auto normal = [](at::IntArrayRef sizes) { return torch::empty(sizes).normal_(0, 0.02); };
    auto router = register_module("router", std::make_shared<nn::Module>());
    auto experts = register_module("experts", std::make_shared<nn::Module>());
    router_weight = router->register_parameter("weight", normal({expert_count, width}));
    router_bias = router->register_parameter("bias", normal({expert_count}));
    up_weight = experts->register_parameter("gate_up_proj", normal({expert_count, width, 2 * hidden}));
    up_bias = experts->register_parameter("gate_up_proj_bias", torch::zeros({expert_count, 2 * hidden}));
    down_weight = experts->register_parameter("down_proj", normal({expert_count, hidden, width}));
    down_bias = experts->register_parameter("down_proj_bias", torch::zeros({expert_count, width}));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const auto tokens = x.reshape({-1, x.size(-1)});
    const auto [scores, ids] = torch::linear(tokens, router_weight, router_bias).topk(chosen, -1);
    const auto shares = scores.softmax(1, scores.scalar_type()).reshape(-1);
    const auto experts = ids.reshape(-1);
    const auto parts = product(tokens.repeat_interleave(chosen, 0), up_weight, up_bias, experts);
    const auto results = product(gated(parts), down_weight, down_bias, experts);
    return (results * shares.unsqueeze(-1)).view({tokens.size(0), chosen, x.size(-1)}).sum(1).reshape(x.sizes());
  }

  torch::Tensor router_weight, router_bias, up_weight, up_bias, down_weight, down_bias;

 private:
  /// Multiplies each row of x by the weight of its own expert. The original adds the bias in place, which TorchScript
  /// refuses in training.
  static torch::Tensor product(const torch::Tensor& x, const torch::Tensor& weights, const torch::Tensor& biases,
                               const torch::Tensor& experts) {
    const auto weight = weights.index({experts}), bias = biases.index({experts});
    return torch::bmm(x.unsqueeze(1), weight).squeeze(1) + bias;
  }

  /// SwiGLU with limits; even columns are the gate.
  static torch::Tensor gated(const torch::Tensor& parts) {
    const auto gate = parts.slice(-1, 0, std::nullopt, 2).clamp(std::nullopt, 7);
    const auto up = parts.slice(-1, 1, std::nullopt, 2).clamp(-7, 7);
    return (up + 1) * (gate * torch::sigmoid(gate * 1.702));
  }
};
TORCH_MODULE(Experts);

struct LayerImpl : nn::Module {
  explicit LayerImpl(const DecoderShape& s)
      : shape(s),
        q(s.width, s.query_width()),
        k(s.width, s.key_width()),
        v(s.width, s.key_width()),
        o(s.query_width(), s.width),
        before_attention(register_module("input_layernorm", s.norm(s.width))),
        before_mlp(register_module("post_attention_layernorm", s.norm(s.width))) {
    auto attn = register_module(
        "self_attn", group({{"q_proj", q.ptr()}, {"k_proj", k.ptr()}, {"v_proj", v.ptr()}, {"o_proj", o.ptr()}}));
    sinks = attn->register_parameter("sinks", torch::empty({s.heads}).normal_(0, 0.02));
    mlp = register_module("mlp", Experts(s.width, s.feed_forward));
  }
  /// Appends this layer's keys and values to `cache`.
  torch::Tensor forward(torch::Tensor x, const Positions& positions, Cache& cache) {
    x = x + attend(before_attention(x), positions, cache);
    return x + mlp(before_mlp(x));
  }

  DecoderShape shape;
  nn::Linear q, k, v, o;
  RmsNorm before_attention, before_mlp;
  torch::Tensor sinks;
  Experts mlp{nullptr};

 private:
  torch::Tensor attend(const torch::Tensor& x, const Positions& positions, Cache& cache) {
    const auto query = split_heads(q(x), shape.heads), key = split_heads(k(x), shape.key_heads),
               value = split_heads(v(x), shape.key_heads);
    const auto turned = rotated(query, positions.rotate);
    cache.append(rotated(key, positions.rotate), value);
    const auto times = shape.heads / shape.key_heads;
    const auto keys = repeated(cache.keys, times), values = repeated(cache.values, times);
    const auto scale = 1 / std::sqrt(static_cast<double>(shape.head_width));
    const auto scores = torch::matmul(turned, keys.transpose(2, 3)) * scale + *positions.visible;
    const auto sink = sinks.reshape({1, -1, 1, 1}).expand({x.size(0), -1, x.size(1), -1});
    auto all = torch::cat({scores, sink}, -1);
    all = all - std::get<0>(all.max(-1, /*keepdim=*/true));
    return o(join_heads(torch::matmul(all.softmax(-1, all.scalar_type()).slice(-1, 0, -1), values)));
  }

  /// Rotates x as `rotation` does, with the operators of the original.
  static torch::Tensor rotated(const torch::Tensor& x, const Rotation& rotation) {
    const auto parts = x.chunk(2, -1);
    const auto cosines = rotation.cosines.chunk(2, -1)[0], sines = rotation.sines.chunk(2, -1)[0];
    return torch::cat({parts[0] * cosines - parts[1] * sines, parts[1] * cosines + parts[0] * sines}, -1);
  }
};
TORCH_MODULE(Layer);

constexpr DecoderShape full{.vocabulary = 32768,
                            .width = 2880,
                            .layers = 2,
                            .heads = 64,
                            .key_heads = 8,
                            .head_width = 64,
                            .feed_forward = 2880,
                            .prompt = 8,
                            .theta = 150000,
                            .window = 128,
                            .global_every = 2,
                            .epsilon = 1e-5,
                            .rotary_scale = 1.3465735902799727,  // 1 + ln(32) / 10, as YaRN has it
                            .wide_norm = true,
                            .adds_mask = true,
                            .yarn_factor = 32};

auto make(bool decodes) {
  auto mini = mini_decoder(full);
  mini.window = 6;
  return by_preset<DecoderStepOf<Layer>>(std::tuple(full, decodes), std::tuple(mini, decodes));
}

TORCHSTONE_MODEL(gpt_oss_prefill, .family = "gpt_oss", .suites = {"huggingface"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 640'173'904, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(gpt_oss_decode, .family = "gpt_oss", .suites = {"huggingface"}, .train_batch = 1, .eval_batch = 1,
                 .parameters = 640'173'904, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::gpt_oss
