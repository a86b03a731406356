// XGLM: a decoder for many languages, with 256008 words and positions of sines and cosines.
// Paper: Lin et al., "Few-shot learning with multilingual language models", 2021.
// Original: transformers.XGLMForCausalLM, as xglm-564M. Token ids and labels, both [N, 128] → loss of the next words
// and logits [N, 128, 256008]; 564,463,616 parameters. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::xglm {
namespace {

constexpr BartShape full_shape{.vocabulary = 256008,
                               .layers = 24,
                               .positions = 2048,
                               .tokens = 128,
                               .attention_dropout = 0.1,
                               .scales_words = true,
                               .norm_first = true,
                               .position_embedding = PositionEmbedding::waves,
                               .norms_words = false,
                               .labels = Labels::next_words};

TORCHSTONE_MODEL(XGLMForCausalLM, .family = "xglm", .suites = {"huggingface"}, .train_batch = 32, .eval_batch = 32,
                 .parameters = 564'463'616, .make = bart_model(full_shape, /*has_encoder=*/false, /*bare=*/true));

}  // namespace
}  // namespace torchstone::xglm
