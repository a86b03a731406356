// Phi-4-mini: a decoder with one product for queries, keys and values and one for both parts of the feed-forward. It
// rotates three quarters of each head. As a prompt and one more word (models/blocks/decoder.h). Paper: Microsoft,
// "Phi-4-mini technical report", 2025; scale of the rotation: Ding et al., "LongRoPE", 2024. Original:
// transformers.Phi3ForCausalLM in the sizes of Phi-4-mini-instruct, but with 2 of its 32 layers, so that it fits next
// to its float64 reference; 815,938,560 parameters. LongRoPE's other wavelengths, for more than 4096 positions, never
// apply here. Inputs and outputs as llama's: 32 tokens, 127 places in the cache, 200064 words. mini: 2 layers of width
// 64, 4 query heads on 2 key heads, 1000 words, 16 tokens.
#include "models/blocks/decoder.h"

namespace torchstone::phi4_mini {
namespace {

constexpr DecoderShape full{.vocabulary = 200064,
                            .width = 3072,
                            .layers = 2,
                            .heads = 24,
                            .key_heads = 8,
                            .head_width = 128,
                            .feed_forward = 8192,
                            .tied = true,
                            .epsilon = 1e-5,
                            .rotary_part = 0.75,
                            .rotary_scale = 1.1902380714238083,  // sqrt(1 + ln(131072 / 4096) / ln(4096))
                            .fused = true,
                            .native_groups = true};

auto make(bool decodes) {
  return by_preset<DecoderStep>(std::tuple(full, decodes), std::tuple(mini_decoder(full), decodes));
}

TORCHSTONE_MODEL(phi4_mini_prefill, .family = "phi4_mini", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 815'938'560, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(phi4_mini_decode, .family = "phi4_mini", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 815'938'560, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::phi4_mini
