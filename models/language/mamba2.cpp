// Mamba 2: a decoder of selective state spaces, without attention. A prompt runs in chunks: products of matrices inside
// a chunk, and a recurrence of states between them. One more word updates the states alone. Paper: Dao, Gu,
// "Transformers are SSMs: generalized models and efficient algorithms through structured state space duality", 2024.
// Original: transformers.Mamba2ForCausalLM without kernels (mamba2_chunk_scan, mamba2_selective_state_update), in the
// sizes of mamba2-130m: 24 layers of width 768, 24 heads of width 64, states of width 128; 128,989,632 parameters.
// Prefill: token ids [N, 512] → (logits [N, 512, 50288], inputs of the convolutions [N, 24, 1792, 4], states [N, 24,
// 24, 64, 128]). Decode: token ids [N, 1], inputs of the convolutions and states → the same for 1 word. The original
// writes both into its cache; here they are new tensors. mini: 2 layers of width 64, 8 heads of width 16 in 2 groups,
// states of width 16, 1000 words, 20 tokens in chunks of 8.
#include <cmath>
#include <limits>

#include "models/blocks/linear_attention.h"
#include "models/blocks/token_model.h"

namespace torchstone::mamba2 {
namespace {

struct Shape {
  int64_t vocabulary, width, layers, heads, head_width, groups, state, chunk, prompt, kernel = 4;
  int64_t inner() const { return heads * head_width; }
  int64_t grouped() const { return groups * state; }
  int64_t convolved() const { return inner() + 2 * grouped(); }
};

/// What a layer remembers: the last inputs of the convolution, and the state of each head. Undefined before a prompt.
struct Memory {
  torch::Tensor convolved, states;
};

/// What a scan reads: x [N, L, heads, head width], time steps [N, L, heads], B and C [N, L, groups, state].
struct Selected {
  torch::Tensor x, dt, b, c;
};

/// Returns the sums of x over (j, i] for each pair of steps: [..., L] → [..., L, L], minus infinity where j > i.
torch::Tensor segment_sum(const torch::Tensor& x) {
  const auto steps = x.size(-1);
  const auto ones = torch::ones({steps, steps}, x.options().dtype(torch::kBool));
  auto sizes = x.sizes().vec();
  sizes.push_back(steps);
  const auto terms = x.unsqueeze(-1).expand(sizes).masked_fill(ones.tril(-1).logical_not(), 0);
  return terms.cumsum(-2).masked_fill(ones.tril().logical_not(), -std::numeric_limits<double>::infinity());
}

/// Divides by the root mean square of each group after the gate: silu(gate) * x.
struct GatedNormImpl : nn::Module {
  GatedNormImpl(int64_t width, int64_t group_count)
      : weight(register_parameter("weight", torch::ones({width}))), groups(group_count) {}
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& gate) {
    const auto gated = at_least_float32(x) * torch::silu(at_least_float32(gate));
    const auto parts = gated.view({x.size(0), x.size(1), groups, -1});
    const auto unit = parts * torch::rsqrt(parts.pow(2).mean(-1, /*keepdim=*/true) + 1e-5);
    return weight * unit.view(x.sizes()).to(x.scalar_type());
  }
  torch::Tensor weight;
  int64_t groups;
};
TORCH_MODULE(GatedNorm);

struct MixerImpl : nn::Module {
  explicit MixerImpl(const Shape& s)
      : shape(s),
        conv(register_module("conv1d", CausalConv(s.convolved(), s.kernel, /*has_bias=*/true))),
        in(register_module("in_proj", linear_without_bias(s.width, s.inner() + s.convolved() + s.heads))),
        out(register_module("out_proj", linear_without_bias(s.inner(), s.width))),
        norm(register_module("norm", GatedNorm(s.inner(), s.groups))),
        a_log(register_parameter("A_log", torch::arange(1, s.heads + 1, torch::kFloat32).log())),
        d(register_parameter("D", torch::ones({s.heads}))) {
    // Steps between 0.001 and 0.1, evenly in their logarithm, before softplus.
    const auto dt = (torch::rand({s.heads}) * std::log(100.0) + std::log(0.001)).exp().clamp_min(1e-4);
    dt_bias = register_parameter("dt_bias", dt + (-(-dt).expm1()).log());
    nn::init::normal_(in->weight, 0, 0.1);
    for (auto* weight : {&conv->weight, &out->weight}) nn::init::kaiming_uniform_(*weight, std::sqrt(5.0));
    nn::init::zeros_(conv->bias);
  }

  torch::Tensor forward(const torch::Tensor& x, Memory& memory) {
    const auto samples = x.size(0), steps = x.size(1);
    const auto a = -at_least_float32(a_log).exp();
    const auto parts = in(x).split_with_sizes({shape.inner(), shape.convolved(), shape.heads}, -1);
    const bool is_prompt = !memory.states.defined();
    const auto mixed = parts[1].transpose(1, 2);
    const auto [y, last] = is_prompt ? conv->forward(mixed) : conv->forward(mixed, memory.convolved);
    memory.convolved = last;
    const auto xbc = y.transpose(1, 2).split_with_sizes({shape.inner(), shape.grouped(), shape.grouped()}, -1);
    const Selected selected{xbc[0].view({samples, steps, shape.heads, shape.head_width}), parts[2],
                            xbc[1].view({samples, steps, shape.groups, shape.state}),
                            xbc[2].view({samples, steps, shape.groups, shape.state})};
    const auto scanned = is_prompt ? scan(selected, a, memory.states) : step(selected, a, memory.states);
    return out(norm(scanned.reshape({samples, steps, -1}), parts[0]).to(x.scalar_type()));
  }

  Shape shape;
  CausalConv conv;
  nn::Linear in, out;
  GatedNorm norm;
  torch::Tensor a_log, d, dt_bias;

 private:
  /// Scans a prompt in chunks and sets the states after it. In the subscripts b is a sample and c a chunk with steps l
  /// and s; h is a head, p a place in it, and n a place in its state.
  torch::Tensor scan(const Selected& in, torch::Tensor a, torch::Tensor& states) const {
    const auto steps = in.x.size(1), padding = chunk_padding(steps, shape.chunk);
    const auto padded = [&](const torch::Tensor& x) {
      return torch::constant_pad_nd(
          x, x.dim() == 4 ? std::vector<int64_t>{0, 0, 0, 0, 0, padding} : std::vector<int64_t>{0, 0, 0, padding});
    };
    const auto chunks = [&](const torch::Tensor& x) {
      auto sizes = x.sizes().vec();
      sizes[1] = shape.chunk;
      sizes.insert(sizes.begin() + 1, -1);
      return padded(x).reshape(sizes);
    };
    const auto of_heads = [&](const torch::Tensor& x) {
      return at_least_float32(x).repeat_interleave(shape.heads / shape.groups, 2, shape.heads);
    };
    const auto dt =
        torch::softplus(in.dt + dt_bias.to(in.dt.scalar_type())).clamp(0.0, std::numeric_limits<double>::infinity());
    auto x = at_least_float32(in.x);
    auto b = of_heads(in.b), c = of_heads(in.c);
    const auto skipped = d.unsqueeze(-1) * padded(x);
    x = chunks(x * at_least_float32(dt.unsqueeze(-1)));
    a = chunks(a.to(x.scalar_type()) * at_least_float32(dt)).permute({0, 3, 1, 2});
    b = chunks(b);
    c = chunks(c);
    const auto decay = a.cumsum(-1);

    // Inside each chunk.
    const auto scores = torch::einsum("bclhn,bcshn->bclsh", {c, b}) * segment_sum(a).exp().permute({0, 2, 3, 4, 1});
    const auto inside = torch::einsum("bclsh,bcshp->bclhp", {scores, x});

    // The state that each chunk adds, and the recurrence between the chunks.
    const auto to_the_end = (decay.slice(3, -1) - decay).exp();
    const auto added = torch::einsum("bclhn,bclhp->bchpn", {b * to_the_end.permute({0, 2, 3, 1}).unsqueeze(-1), x});
    const auto begun = torch::cat({torch::zeros_like(added.slice(1, 0, 1)), added}, 1);
    const auto of_chunks = segment_sum(torch::constant_pad_nd(decay.select(3, -1), {1, 0})).exp().transpose(1, 3);
    const auto between = torch::einsum("bzch,bzhpn->bchpn", {of_chunks, begun});
    states = between.select(1, -1);

    // What each chunk reads from the state before it.
    const auto before = torch::einsum("bclhn,bchpn->bclhp", {c, between.slice(1, 0, -1)}) *
                        decay.exp().permute({0, 2, 3, 1}).unsqueeze(-1);
    const auto all = (inside + before).contiguous().reshape({x.size(0), -1, shape.heads, shape.head_width}) + skipped;
    return padding > 0 ? all.slice(1, 0, steps) : all;
  }

  /// Updates the states by one step.
  torch::Tensor step(const Selected& in, const torch::Tensor& a, torch::Tensor& states) const {
    const auto samples = in.x.size(0);
    const auto of_heads = [&](const torch::Tensor& x) {
      return x.reshape({samples, shape.groups, 1, shape.state})
          .expand({-1, -1, shape.heads / shape.groups, -1})
          .contiguous()
          .reshape({samples, shape.heads, 1, shape.state});
    };
    const auto x = in.x.select(1, 0);
    const auto bias = dt_bias.unsqueeze(1).expand({-1, shape.head_width});
    const auto dt =
        torch::softplus(in.dt.transpose(1, 2).expand({-1, -1, shape.head_width}) + bias.to(in.dt.scalar_type()))
            .unsqueeze(-1);
    const auto decay = (at_least_float32(dt) * a.view({-1, 1, 1}).expand({-1, shape.head_width, shape.state})).exp();
    const auto next = states * decay + dt * of_heads(in.b) * x.unsqueeze(-1);
    states = next.to(states.scalar_type());
    const auto read = torch::bmm(next.to(in.c.scalar_type()).view({-1, shape.head_width, shape.state}),
                                 of_heads(in.c).view({-1, shape.state, 1}))
                          .view(x.sizes());
    return (read + x * d.unsqueeze(1).expand({-1, shape.head_width})).to(x.scalar_type());
  }
};
TORCH_MODULE(Mixer);

/// Keeps the residual stream in float32.
struct LayerImpl : nn::Module {
  explicit LayerImpl(const Shape& s)
      : norm(register_module("norm", RmsNorm(s.width, 1e-5))), mixer(register_module("mixer", Mixer(s))) {}
  torch::Tensor forward(const torch::Tensor& x, Memory& memory) {
    return at_least_float32(x) + mixer(norm(x.to(norm->weight.scalar_type())), memory);
  }
  RmsNorm norm;
  Mixer mixer;
};
TORCH_MODULE(Layer);

class Mamba2 : public Model {
 public:
  Mamba2(const Shape& shape, bool decodes)
      : shape_(shape), decodes_(decodes), words_(shape.vocabulary, shape.width), norm_(shape.width, 1e-5) {
    for (int64_t i = 0; i < shape.layers; ++i) layers_.push_back(Layer(shape));
    register_module("backbone",
                    group({{"embeddings", words_.ptr()}, {"layers", list_of(layers_).ptr()}, {"norm_f", norm_.ptr()}}));
    register_module("lm_head", tied(words_->weight));
    nn::init::normal_(words_->weight, 0, 0.1);
  }

  c10::IValue forward(const Tensors& inputs) override {
    auto x = words_(inputs.at(0));
    Tensors convolved, states;
    for (size_t i = 0; i < layers_.size(); ++i) {
      Memory memory;
      const auto layer = static_cast<int64_t>(i);
      if (decodes_) memory = {inputs.at(1).select(1, layer), inputs.at(2).select(1, layer)};
      x = layers_[i](x, memory);
      convolved.push_back(memory.convolved);
      states.push_back(memory.states);
    }
    const auto logits = torch::linear(norm_(x).to(words_->weight.scalar_type()), words_->weight);
    return std::make_tuple(at_least_float32(logits), torch::stack(convolved, 1), torch::stack(states, 1));
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto samples = options.batch_size;
    const auto ids = torch::randint(shape_.vocabulary, {samples, decodes_ ? 1 : shape_.prompt}, torch::kInt64);
    if (!decodes_) return {ids};
    const auto convolved = torch::randn({samples, shape_.layers, shape_.convolved(), shape_.kernel});
    return {ids, convolved, torch::randn({samples, shape_.layers, shape_.heads, shape_.head_width, shape_.state})};
  }

 private:
  Shape shape_;
  bool decodes_;
  nn::Embedding words_;
  RmsNorm norm_;
  std::vector<Layer> layers_;
};

constexpr Shape full{.vocabulary = 50288,
                     .width = 768,
                     .layers = 24,
                     .heads = 24,
                     .head_width = 64,
                     .groups = 1,
                     .state = 128,
                     .chunk = 256,
                     .prompt = 512};
constexpr Shape mini{.vocabulary = 1000,
                     .width = 64,
                     .layers = 2,
                     .heads = 8,
                     .head_width = 16,
                     .groups = 2,
                     .state = 16,
                     .chunk = 8,
                     .prompt = 20};

auto make(bool decodes) { return by_preset<Mamba2>(std::tuple(full, decodes), std::tuple(mini, decodes)); }

TORCHSTONE_MODEL(mamba2_prefill, .family = "mamba2", .suites = {"huggingface"}, .train_batch = 2, .eval_batch = 2,
                 .parameters = 128'989'632, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(mamba2_decode, .family = "mamba2", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 128'989'632, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::mamba2
