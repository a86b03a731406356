// Gemma 3: a decoder with normalised queries and keys, and a norm before and after each branch. Five of six layers have
// a window of positions; each sixth has none, and rotates with other wavelengths. As a prompt and one more word
// (models/blocks/decoder.h). Paper: Gemma team, "Gemma 3 technical report", 2025. Original: transformers'
// Gemma3ForCausalLM in the sizes of gemma-3-270m; 268,098,176 parameters. Inputs and outputs as llama's: 32 tokens, 127
// places in the cache, 262144 words. mini: a layer with a window of 6 and one without, width 64, 4 query heads on 2 key
// heads, 1000 words, 16 tokens.
#include "models/blocks/decoder.h"

namespace torchstone::gemma3 {
namespace {

constexpr DecoderShape full{.vocabulary = 262144,
                            .width = 640,
                            .layers = 18,
                            .heads = 4,
                            .key_heads = 1,
                            .head_width = 256,
                            .feed_forward = 2048,
                            .theta = 1e6,
                            .act = Act::tanh_gelu,
                            .head_norm = true,
                            .tied = true,
                            .window = 512,
                            .global_every = 6,
                            .local_theta = 1e4,
                            .gemma = true};

auto make(bool decodes) {
  auto mini = mini_decoder(full);
  mini.global_every = 2;
  mini.window = 6;
  return by_preset<DecoderStep>(std::tuple(full, decodes), std::tuple(mini, decodes));
}

TORCHSTONE_MODEL(gemma3_prefill, .family = "gemma3", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 268'098'176, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(gemma3_decode, .family = "gemma3", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 268'098'176, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::gemma3
