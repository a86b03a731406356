// M2M-100: an encoder and a decoder for a hundred languages, with 128112 words, whose positions skip padding.
// Paper: Fan et al., "Beyond English-centric multilingual machine translation", 2020.
// Original: transformers.M2M100ForConditionalGeneration, which in training also leaves out one layer in twenty at
// random; this one runs all. Token ids [N, 128], the decoder's and labels → loss, logits [N, 128, 128112] and the
// encoder's last state [N, 128, 1024]; 483,905,536 parameters. mini: 2 + 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::m2m100 {
namespace {

constexpr BartShape full_shape{.vocabulary = 128112,
                               .tokens = 128,
                               .attention_dropout = 0.1,
                               .scales_words = true,
                               .norm_first = true,
                               .position_embedding = PositionEmbedding::waves,
                               .counts_words = true,
                               .norms_words = false,
                               .act = Act::relu,
                               .has_word_bias = false};

TORCHSTONE_MODEL(M2M100ForConditionalGeneration, .family = "m2m100", .suites = {"huggingface"}, .train_batch = 64,
                 .eval_batch = 64, .parameters = 483'905'536, .make = bart_model(full_shape, /*has_encoder=*/true));

}  // namespace
}  // namespace torchstone::m2m100
