// Qwen3: LLaMA with normalised queries and keys, heads that are wider than the model divided by their number, and a
// head tied to the words; as a prompt and one more word (models/blocks/decoder.h). Paper: Yang et al., "Qwen3 technical
// report", 2025. Original: transformers.Qwen3ForCausalLM in the sizes of Qwen3-0.6B; 596,049,920 parameters. Inputs and
// outputs as llama's: 32 tokens, 127 places in the cache, 151936 words. mini: 2 layers of width 64, 4 query heads of
// width 32 on 2 key heads, 1000 words, 16 tokens.
#include "models/blocks/decoder.h"

namespace torchstone::qwen3 {
namespace {

constexpr DecoderShape full{.vocabulary = 151936,
                            .width = 1024,
                            .layers = 28,
                            .heads = 16,
                            .key_heads = 8,
                            .head_width = 128,
                            .feed_forward = 3072,
                            .theta = 1e6,
                            .head_norm = true,
                            .tied = true};

auto make(bool decodes) {
  auto mini = mini_decoder(full);
  mini.head_width = 32;
  return by_preset<DecoderStep>(std::tuple(full, decodes), std::tuple(mini, decodes));
}

TORCHSTONE_MODEL(qwen3_prefill, .family = "qwen3", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 596'049'920, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(qwen3_decode, .family = "qwen3", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 596'049'920, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::qwen3
