// PEGASUS: BART that normalises before each part of a layer, and whose positions are sines and cosines.
// Paper: Zhang et al., "PEGASUS: pre-training with extracted gap-sentences for abstractive summarization", 2019.
// Original: transformers.PegasusForConditionalGeneration and PegasusForCausalLM. Token ids [N, 128], the decoder's
// (with an encoder) and labels → loss, logits [N, 128, 50265] and the encoder's last state; 406,287,360 and 203,676,672
// parameters. mini: layers of width 64, 2 in each half, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::pegasus {
namespace {

constexpr BartShape full_shape{.tokens = 128,
                               .norm_first = true,
                               .padding_word = 0,
                               .position_embedding = PositionEmbedding::frozen_waves,
                               .first_position = 0,
                               .norms_words = false};

TORCHSTONE_MODEL(PegasusForConditionalGeneration, .family = "pegasus", .suites = {"huggingface"}, .train_batch = 64,
                 .eval_batch = 64, .parameters = 406'287'360, .make = bart_model(full_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(PegasusForCausalLM, .family = "pegasus", .suites = {"huggingface"}, .train_batch = 128,
                 .eval_batch = 128, .parameters = 203'676'672, .make = bart_model(full_shape, /*has_encoder=*/false));

}  // namespace
}  // namespace torchstone::pegasus
