// LLaMA with a cache of keys and values, as two models: a prompt that fills the cache, and one more word that uses
// it. Paper: Touvron et al., "LLaMA: open and efficient foundation language models", 2023; rotary positions: Su et al.,
// "RoFormer", 2021; grouped queries: Ainslie et al., 2023. Original: transformers.LlamaForCausalLM with its
// DynamicCache, in the sizes of pytorch/benchmark's llama; 60,039,680 parameters. llama_prefill: token ids [N, 32] →
// (logits [N, 32, 32000], keys and values, each [N, layers, heads, 32, D]). llama_decode: token ids [N, 1], keys and
// values [N, layers, heads, 127, D] → the same for 1 word and 128 places. mini: 2 layers of width 64, 4 query heads on
// 2 key heads, 1000 words, 16 tokens.
#include "models/blocks/decoder.h"

namespace torchstone::llama {
namespace {

constexpr DecoderShape full{
    .vocabulary = 32000, .width = 512, .layers = 8, .heads = 8, .key_heads = 8, .head_width = 64, .feed_forward = 1536};

auto make(bool decodes) {
  return by_preset<DecoderStep>(std::tuple(full, decodes), std::tuple(mini_decoder(full), decodes));
}

TORCHSTONE_MODEL(llama_prefill, .family = "llama", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 60'039'680, .make = make(/*decodes=*/false));
TORCHSTONE_MODEL(llama_decode, .family = "llama", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 60'039'680, .make = make(/*decodes=*/true));

}  // namespace
}  // namespace torchstone::llama
