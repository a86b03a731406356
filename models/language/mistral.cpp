// Mistral: LLaMA whose layers attend to a window of the last positions; as a prompt and one more word
// (models/blocks/decoder.h). Paper: Jiang et al., "Mistral 7B", 2023. Original: transformers.MistralForCausalLM in the
// sizes of Mistral-7B-v0.1, but with 2 of its 32 layers, so that it fits next to its float64 reference; 698,372,096
// parameters. Inputs and outputs as llama's: 32 tokens, 127 places in the cache, 32000 words. mini: 2 layers of width
// 64, 4 query heads on 2 key heads, 1000 words, 16 tokens, a window of 6.
#include "models/blocks/decoder.h"

namespace torchstone::mistral {
namespace {

constexpr DecoderShape full{.vocabulary = 32000,
                            .width = 4096,
                            .layers = 2,
                            .heads = 32,
                            .key_heads = 8,
                            .head_width = 128,
                            .feed_forward = 14336,
                            .window = 4096};

auto make(bool decodes) {
  auto mini = mini_decoder(full);
  mini.window = 6;
  return by_preset<DecoderStep>(std::tuple(full, decodes), std::tuple(mini, decodes));
}

TORCHSTONE_MODEL(mistral_prefill, .family = "mistral", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 698'372'096, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(mistral_decode, .family = "mistral", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 698'372'096, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::mistral
