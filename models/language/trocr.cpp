// TrOCR's decoder, which writes the text of an image. Paper: Li et al., "TrOCR: transformer-based optical character
// recognition with pre-trained models", 2021. Original: transformers.TrOCRForCausalLM without the attention to an
// encoder, which no input reaches. Token ids and labels, both [N, 256] → loss and logits [N, 256, 50265]; 203,154,432
// parameters. mini: 2 layers of width 64, 1000 words, 32 tokens.
#include "models/blocks/bart_model.h"

namespace torchstone::trocr {
namespace {

TORCHSTONE_MODEL(TrOCRForCausalLM, .family = "trocr", .suites = {"huggingface"}, .train_batch = 64, .eval_batch = 64,
                 .parameters = 203'154'432,
                 .make = bart_model(BartShape{.positions = 512, .tokens = 256, .head = "output_projection"},
                                    /*has_encoder=*/false));

}  // namespace
}  // namespace torchstone::trocr
