// OPT: a decoder that normalises before each part of a layer, with ReLU.
// Paper: Zhang et al., "OPT: open pre-trained transformer language models", 2022.
// Original: transformers.OPTForCausalLM, as opt-125m. Token ids and labels, both [N, 2048] → loss of the next words and
// logits [N, 2048, 50272]; 125,239,296 parameters. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::opt {
namespace {

constexpr BartShape full_shape{.vocabulary = 50272,
                               .width = 768,
                               .heads = 12,
                               .feed_forward = 3072,
                               .positions = 2048,
                               .tokens = 2048,
                               .norm_first = true,
                               .norms_words = false,
                               .act = Act::relu,
                               .labels = Labels::next_words,
                               .last_norm = "final_layer_norm"};

TORCHSTONE_MODEL(OPTForCausalLM, .family = "opt", .suites = {"huggingface"}, .train_batch = 4, .eval_batch = 4,
                 .parameters = 125'239'296, .make = bart_model(full_shape, /*has_encoder=*/false));

}  // namespace
}  // namespace torchstone::opt
