// BlenderbotSmall: BART with narrow layers, whose decoder normalises words before it adds their positions.
// Paper: Roller et al., "Recipes for building an open-domain chatbot", 2020.
// Original: transformers.BlenderbotSmallForConditionalGeneration and BlenderbotSmallForCausalLM. Token ids [N, 128],
// the decoder's (with an encoder) and labels → loss, logits [N, 128, 50265] and the encoder's last state; 85,113,344
// and 51,217,920 parameters. mini: layers of width 64, 2 in each half, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::blenderbot_small {
namespace {

constexpr BartShape full_shape{.width = 512,
                               .layers = 8,
                               .feed_forward = 2048,
                               .positions = 512,
                               .tokens = 128,
                               .padding_word = 0,
                               .first_position = 0,
                               .norms_before_adding = true};

TORCHSTONE_MODEL(BlenderbotSmallForConditionalGeneration, .family = "blenderbot_small", .suites = {"huggingface"},
                 .train_batch = 128, .eval_batch = 128, .parameters = 85'113'344,
                 .make = bart_model(full_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(BlenderbotSmallForCausalLM, .family = "blenderbot_small", .suites = {"huggingface"},
                 .train_batch = 256, .eval_batch = 256, .parameters = 51'217'920,
                 .make = bart_model(full_shape, /*has_encoder=*/false));

}  // namespace
}  // namespace torchstone::blenderbot_small
