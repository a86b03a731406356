// BART: an encoder and a decoder with learned positions, or the decoder alone; PLBART scales its words, and mBART
// normalises before each part of a layer instead of after it. Papers: Lewis et al., "BART: denoising
// sequence-to-sequence pre-training", 2019; Ahmad et al., "Unified pre-training for program understanding and
// generation", 2021; Liu et al., "Multilingual denoising pre-training for neural machine translation", 2020.
// Original: transformers' Bart, PLBart and MBart, each as ForConditionalGeneration and ForCausalLM; the latter without
// the attention to an encoder, which no input reaches. Token ids [N, 1024], the decoder's (with an encoder) and labels
// → loss, logits [N, 1024, vocabulary] and the encoder's last state; 406,291,456 and 203,678,720 (Bart), 139,220,736
// and 81,720,576 (PLBart), 406,295,552 and 203,680,768 (MBart), 139,420,416 (hf_Bart) parameters. mini: layers of width
// 64, 2 in each half, 1000 words, 32 tokens.
#include <memory>

#include "models/blocks/bart_model.h"

namespace torchstone::bart {
namespace {

constexpr BartShape bart_shape{.last_word = 2}, mbart_shape{.norm_first = true, .last_word = 2},
    plbart_shape{.vocabulary = 50005,
                 .width = 768,
                 .layers = 6,
                 .heads = 12,
                 .feed_forward = 3072,
                 .attention_dropout = 0.1,
                 .scales_words = true,
                 .last_word = 2};

TORCHSTONE_MODEL(BartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 4,
                 .eval_batch = 4, .parameters = 406'291'456, .make = bart_model(bart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(BartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 203'678'720, .make = bart_model(bart_shape, /*has_encoder=*/false));
TORCHSTONE_MODEL(PLBartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 8,
                 .eval_batch = 8, .parameters = 139'220'736, .make = bart_model(plbart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(PLBartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 16, .eval_batch = 16,
                 .parameters = 81'720'576, .make = bart_model(plbart_shape, /*has_encoder=*/false));
TORCHSTONE_MODEL(MBartForConditionalGeneration, .family = "bart", .suites = {"huggingface"}, .train_batch = 4,
                 .eval_batch = 4, .parameters = 406'295'552, .make = bart_model(mbart_shape, /*has_encoder=*/true));
TORCHSTONE_MODEL(MBartForCausalLM, .family = "bart", .suites = {"huggingface"}, .train_batch = 8, .eval_batch = 8,
                 .parameters = 203'680'768, .make = bart_model(mbart_shape, /*has_encoder=*/false));

/// bart-base as torchbench.py runs it: labels only in training, from which the decoder's ids are made.
constexpr BartShape base_shape{.width = 768,
                               .layers = 6,
                               .heads = 12,
                               .feed_forward = 3072,
                               .tokens = 512,
                               .attention_dropout = 0.1,
                               .inner_dropout = 0.1};
TORCHSTONE_MODEL(
    hf_Bart, .family = "bart", .suites = {"torchbench"}, .train_batch = 4, .eval_batch = 1, .parameters = 139'420'416,
    .make = [](const ModelOptions& options) {
      const auto shape = options.preset == Preset::full ? base_shape : mini_bart(base_shape);
      return std::make_shared<BartModel>(shape, /*has_encoder=*/true, /*bare=*/false, Harness::torchbench,
                                         options.mode == Mode::training ? 1 : 2);
    });

}  // namespace
}  // namespace torchstone::bart
