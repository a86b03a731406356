// Speech transformer: encoder of frames and decoder of words, both with padding, as two models. The first is
// upstream's, which extracts the words of each utterance one by one and reads their number back from the device. The
// second computes the same result with comparisons only, and needs one utterance without padding. Paper: Dong, Xu, Xu,
// "Speech-Transformer: a no-recurrence sequence-to-sequence model for speech recognition", 2018. Original:
// pytorch/benchmark speech_transformer (kaituoxu/Speech-Transformer); 46,471,168 parameters.
// Input: frames [N, 512, 320], their numbers [N], words [N, 32] padded with -1.
// Output: logits [N, 33, 4233], words and end mark [N, 33].
// mini: 2 + 2 layers of width 64, 24 frames, 8 words of 1000.
#include <cmath>

#include "models/blocks/token_model.h"
#include "models/blocks/transformer.h"

namespace torchstone::speech_transformer {
namespace {

struct SpeechShape {
  int64_t frames = 512, features = 320, words = 32, vocabulary = 4233, width = 512, heads = 8, feed_forward = 2048,
          layers = 6;
};
constexpr int64_t ignored_label = -1, max_positions = 5000;
constexpr double dropout_rate = 0.1, norm_epsilon = 1e-5;

/// norm(x + dropout(fc(attention(x, source)))), for words and for frames.
struct SpeechAttentionImpl : nn::Module {
  explicit SpeechAttentionImpl(const SpeechShape& shape)
      : query(register_module("w_qs", nn::Linear(shape.width, shape.width))),
        key(register_module("w_ks", nn::Linear(shape.width, shape.width))),
        value(register_module("w_vs", nn::Linear(shape.width, shape.width))),
        norm(register_module("layer_norm", layer_norm(shape.width, norm_epsilon))),
        fc(register_module("fc", nn::Linear(shape.width, shape.width))),
        dropout(register_module("dropout", nn::Dropout(dropout_rate))),
        heads(shape.heads) {}
  /// `hidden`: [N, L, S], true where a query must not attend.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& source, const torch::Tensor& hidden) {
    const auto split = [&](const torch::Tensor& y) { return split_heads(y, heads); };
    const int64_t width = x.size(2) / heads;
    const auto scores =
        torch::matmul(split(query(x)), split(key(source)).transpose(2, 3)) / std::sqrt(static_cast<double>(width));
    const auto weights = scores.masked_fill(hidden.unsqueeze(1), -std::numeric_limits<double>::infinity()).softmax(-1);
    return norm(dropout(fc(join_heads(torch::matmul(dropout(weights), split(value(source)))))) + x);
  }
  nn::Linear query, key, value;
  nn::LayerNorm norm;
  nn::Linear fc;
  nn::Dropout dropout;
  int64_t heads;
};
TORCH_MODULE(SpeechAttention);

Block speech_feed_forward(const SpeechShape& shape) {
  Block block;
  auto w_1 = block.add("w_1", nn::Linear(shape.width, shape.feed_forward));
  auto w_2 = block.add("w_2", nn::Linear(shape.feed_forward, shape.width));
  auto dropout = block.add("dropout", nn::Dropout(dropout_rate));
  auto norm = block.add("layer_norm", layer_norm(shape.width, norm_epsilon));
  return block.running([=](const torch::Tensor& x) mutable { return norm(dropout(w_2(torch::relu(w_1(x)))) + x); });
}

/// A layer of the decoder, or of the encoder, which attends only to itself. Padding becomes 0.
struct SpeechLayerImpl : nn::Module {
  SpeechLayerImpl(const SpeechShape& shape, bool decodes)
      : self(register_module("slf_attn", SpeechAttention(shape))),
        ffn(register_module("pos_ffn", speech_feed_forward(shape))) {
    if (decodes) cross = register_module("enc_attn", SpeechAttention(shape));
  }
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& kept, const torch::Tensor& hidden,
                        const torch::Tensor& source = {}, const torch::Tensor& hidden_source = {}) {
    x = self(x, x, hidden) * kept;
    if (cross) x = cross(x, source, hidden_source) * kept;
    return ffn(x) * kept;
  }
  SpeechAttention self, cross{nullptr};
  Block ffn;
};
TORCH_MODULE(SpeechLayer);

/// Sines and cosines of the positions, as a module with a buffer `pe` [1, positions, width].
std::shared_ptr<nn::Module> places_of(int64_t width) {
  const auto rates =
      torch::exp(torch::arange(0, width, 2, torch::kFloat32) * (-std::log(10000.0) / static_cast<double>(width)));
  const auto angles = torch::arange(max_positions, torch::kFloat32).unsqueeze(1) * rates;
  auto module = std::make_shared<nn::Module>("places");
  module->register_buffer("pe", torch::stack({angles.sin(), angles.cos()}, 2).flatten(1).unsqueeze(0));
  return module;
}

/// The decoder's input (words after the start mark, padded with end marks) and its targets (words, then the end mark).
struct Words {
  torch::Tensor in, out;
};

class SpeechTransformer : public Model {
 public:
  SpeechTransformer(const SpeechShape& shape, bool cuts)
      : shape_(shape),
        cuts_(cuts),
        linear_in_(shape.features, shape.width),
        norm_in_(layer_norm(shape.width, norm_epsilon)),
        words_(shape.vocabulary, shape.width),
        frame_places_(places_of(shape.width)),
        word_places_(places_of(shape.width)) {
    for (int64_t i = 0; i < shape.layers; ++i) {
      encoder_.push_back(SpeechLayer(shape, false));
      decoder_.push_back(SpeechLayer(shape, true));
    }
    register_module("encoder", group({{"linear_in", linear_in_.ptr()},
                                      {"layer_norm_in", norm_in_.ptr()},
                                      {"positional_encoding", frame_places_},
                                      {"layer_stack", list_of(encoder_).ptr()}}));
    register_module("decoder", group({{"tgt_word_emb", words_.ptr()},
                                      {"positional_encoding", word_places_},
                                      {"layer_stack", list_of(decoder_).ptr()},
                                      {"tgt_word_prj", tied(words_->weight)}}));
    for (auto& parameter : parameters()) {
      if (parameter.dim() > 1) nn::init::xavier_uniform_(parameter);
    }
  }

  c10::IValue forward(const Tensors& inputs) override {
    const auto &frames = inputs.at(0), &lengths = inputs.at(1);
    const auto is_frame = cuts_ ? frames_one_by_one(frames, lengths)
                                : torch::arange(frames.size(1), lengths.options()).lt(lengths.unsqueeze(1));
    const auto no_frame = is_frame.logical_not().unsqueeze(1);
    auto x = dropout_(norm_in_(linear_in_(frames)) + places(*frame_places_, frames.size(1)));
    for (auto& layer : encoder_) x = layer(x, is_frame.unsqueeze(2).to(x.scalar_type()), no_frame);

    const auto words = cuts_ ? cut_words(inputs.at(2)) : compared_words(inputs.at(2));
    const auto length = words.in.size(1);
    const auto no_word = words.in.eq(end());
    const auto ahead = torch::ones({length, length}, no_word.options()).triu(1);
    const auto scale = std::sqrt(static_cast<double>(shape_.width));
    auto y = dropout_(words_(words.in) * scale + places(*word_places_, length));
    const auto kept = no_word.logical_not().unsqueeze(2).to(y.scalar_type());
    for (auto& layer : decoder_) y = layer(y, kept, no_word.unsqueeze(1).logical_or(ahead), x, no_frame);
    return std::make_tuple(torch::linear(y, words_->weight), words.out);
  }

  Tensors example_inputs(const ModelOptions& options) const override {
    const auto batch = options.batch_size;
    auto frames = torch::randn({batch, shape_.frames, shape_.features});
    auto lengths = torch::randint(shape_.frames / 2, shape_.frames + 1, {batch}, torch::kInt64);
    auto words = torch::randint(start(), {batch, shape_.words}, torch::kInt64);
    auto counts = torch::randint(shape_.words / 2, shape_.words + 1, {batch, 1}, torch::kInt64);
    if (!cuts_) counts[0] = shape_.words;
    return {frames, lengths, words.masked_fill(torch::arange(shape_.words).ge(counts), ignored_label)};
  }

 private:
  int64_t start() const { return shape_.vocabulary - 2; }
  int64_t end() const { return shape_.vocabulary - 1; }
  static torch::Tensor places(const nn::Module& all, int64_t count) { return all.buffers()[0].slice(1, 0, count); }

  static torch::Tensor frames_one_by_one(const torch::Tensor& frames, const torch::Tensor& lengths) {
    auto is_frame = torch::ones({frames.size(0), frames.size(1)}, lengths.options().dtype(torch::kBool));
    for (int64_t i = 0; i < frames.size(0); ++i) is_frame[i].slice(0, lengths[i].item<int64_t>()).zero_();
    return is_frame;
  }

  Words cut_words(const torch::Tensor& padded) const {
    Tensors in, out;
    for (const auto& row : padded.unbind(0)) {
      const auto words = row.masked_select(row.ne(ignored_label));
      in.push_back(torch::cat({words.new_full({1}, start()), words}));
      out.push_back(torch::cat({words, words.new_full({1}, end())}));
    }
    return {nn::utils::rnn::pad_sequence(in, true, static_cast<double>(end())),
            nn::utils::rnn::pad_sequence(out, true, ignored_label)};
  }

  Words compared_words(const torch::Tensor& padded) const {
    const auto ignored = padded.eq(ignored_label);
    const auto count = ignored.logical_not().sum(1, /*keepdim=*/true);
    const auto out = torch::constant_pad_nd(padded, {0, 1}, ignored_label);
    return {torch::constant_pad_nd(padded.masked_fill(ignored, end()), {1, 0}, start()),
            out.masked_fill(torch::arange(out.size(1), count.options()).eq(count), end())};
  }

  SpeechShape shape_;
  bool cuts_;
  nn::Linear linear_in_;
  nn::LayerNorm norm_in_;
  nn::Embedding words_;
  std::shared_ptr<nn::Module> frame_places_, word_places_;
  std::vector<SpeechLayer> encoder_, decoder_;
  nn::Dropout dropout_ = register_module("dropout", nn::Dropout(dropout_rate));
};

auto make(bool cuts) {
  const SpeechShape mini{.frames = 24,
                         .features = 32,
                         .words = 8,
                         .vocabulary = 1000,
                         .width = 64,
                         .heads = 4,
                         .feed_forward = 128,
                         .layers = 2};
  return by_preset<SpeechTransformer>(std::tuple(SpeechShape{}, cuts), std::tuple(mini, cuts));
}

TORCHSTONE_MODEL(speech_transformer, .family = "speech_transformer", .suites = {"torchbench"}, .train_batch = 32,
                 .eval_batch = 1, .parameters = 46'471'168, .fixed_batch = true, .make = make(/*cuts=*/true));
TORCHSTONE_MODEL(speech_transformer_masked, .family = "speech_transformer", .suites = {"torchbench"}, .train_batch = 32,
                 .eval_batch = 1, .parameters = 46'471'168, .fixed_batch = true, .make = make(/*cuts=*/false));

}  // namespace
}  // namespace torchstone::speech_transformer
