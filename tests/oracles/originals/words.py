"""transformers' models."""
import functools
import importlib.util

import torch

from .entry import Called, Original
from .vision import torchvision


def transformers():
    if importlib.util.find_spec("torchvision"):
        torchvision()  # transformers imports torchvision if it is installed
    import transformers
    return transformers


ENCODER = dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
               max_position_embeddings=64)


def encoder(name, kind, mini=ENCODER, **both):
    """Returns a builder of transformers' class `name` with the configuration `kind`, which has default sizes in
    full."""
    def build(full):
        return getattr(transformers(), name)(getattr(transformers(), kind + "Config")(**both, **({} if full else mini)))
    return build


def roberta_answers(full):
    sizes = dict(pad_token_id=0) if full else ENCODER | {"max_position_embeddings": 66}
    return transformers().RobertaForQuestionAnswering(transformers().RobertaConfig(**sizes))


def bert_large(full):
    sizes = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16) if full else ENCODER
    return transformers().BertForMaskedLM(transformers().BertConfig(**sizes))


def xlm_roberta(full):
    sizes = ENCODER | {"max_position_embeddings": 66}
    if full:
        sizes = {"vocab_size": 250002, "max_position_embeddings": 514, "type_vocab_size": 1}
    return transformers().XLMRobertaForMaskedLM(transformers().XLMRobertaConfig(**sizes))


def camembert(full):
    sizes = {"vocab_size": 32005, "max_position_embeddings": 514} if full else ENCODER | {"max_position_embeddings": 66}
    return transformers().CamembertForMaskedLM(transformers().CamembertConfig(**sizes))


# As in T5, dropout rates are numbers that cannot be switched off later.
WITHOUT_DROPOUT = dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def layoutlm(full):
    model = encoder("LayoutLMForMaskedLM", "LayoutLM", **WITHOUT_DROPOUT)(full)
    model.layoutlm.pooler = torch.nn.Identity()
    return model


def albert_base(full):
    sizes = dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072)
    if not full:
        sizes = MINI_ALBERT
    return transformers().AlbertForMaskedLM(transformers().AlbertConfig(**sizes))


MINI_DISTILBERT = dict(vocab_size=1000, dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=64)
distilbert = encoder("DistilBertForMaskedLM", "DistilBert", MINI_DISTILBERT)


def gpt2(kind, **published):
    def build(full):
        sizes = published if full else dict(vocab_size=1000, n_embd=64, n_layer=2, n_head=4, n_positions=64)
        config = transformers().GPT2Config(pad_token_id=0, bos_token_id=0, eos_token_id=0, use_cache=False, **sizes)
        return getattr(transformers(), kind)(config)
    return build


def answer(result):
    """Returns the loss if labels are given, the logits, and the encoder's last state if there are encoder and
    decoder."""
    parts = [result.loss, result.logits, getattr(result, "encoder_last_hidden_state", None)]
    return [part for part in parts if part is not None]


def first(outputs):
    return outputs[0]


def mean_of_logits(outputs):
    return outputs[1].sum() / outputs[1].numel()


def rms_norm(module, x):
    return torch.nn.functional.rms_norm(x, module.weight.shape, module.weight, module.variance_epsilon)


def t5(full, kind="T5", **published):
    sizes = dict(vocab_size=1000, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4)
    # The dropout rate of the attention is a number, which cannot be switched off later.
    config = getattr(transformers(), kind + "Config")(
        decoder_start_token_id=0, dropout_rate=0.0, **(published if full else sizes))
    model = getattr(transformers(), kind + "ForConditionalGeneration")(config)
    # Replaces T5's norm, which always computes the variance in float32, even in a float64 comparison.
    for module in model.modules():
        if type(module).__name__ == kind + "LayerNorm":
            module.forward = functools.partial(rms_norm, module)
    return model


def labelled_t5(tokens, vocabulary, kind="T5"):
    """T5 as huggingface.py runs it: with labels and the decoder's words."""
    def build(full):
        return Called(t5(full, kind), lambda model, ids, decoded, labels: answer(
            model(input_ids=ids, decoder_input_ids=decoded, labels=labels, use_cache=False)))
    return Original("transformers", build, lambda full: 3 * [((tokens,), vocabulary) if full else ((32,), 1000)],
                    double=True, loss=first)


def torchbench_pair(tokens, vocabulary, build, **options):
    """An encoder and a decoder as torchbench.py runs them. The second input is the decoder's words in inference (full),
    and labels in training (mini)."""
    def called_with(full):
        second = "decoder_input_ids" if full else "labels"
        return Called(build(full), lambda model, ids, others: answer(
            model(input_ids=ids, use_cache=False, **{second: others})))
    return Original("transformers", called_with, lambda full: 2 * [((tokens,), vocabulary) if full else ((32,), 1000)],
                    training_inputs=True, loss=mean_of_logits, **options)


def torchbench_t5(tokens, **published):
    return torchbench_pair(tokens, 32128, lambda full: t5(full, **published), double=True)


MINI_DECODER = dict(vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                    num_key_value_heads=2)
DECODERS = {  # full, mini
    "Llama": (dict(vocab_size=32000, hidden_size=512, intermediate_size=1536, num_hidden_layers=8, num_attention_heads=8),
              MINI_DECODER),
    # Qwen3-0.6B
    "Qwen3": (dict(vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
                   num_key_value_heads=8, head_dim=128, tie_word_embeddings=True, rope_theta=1e6),
              MINI_DECODER | dict(head_dim=32, tie_word_embeddings=True, rope_theta=1e6)),
    # Mistral-7B-v0.1, 2 of 32 layers
    "Mistral": (dict(num_hidden_layers=2, rope_theta=1e4), MINI_DECODER | dict(sliding_window=6, rope_theta=1e4)),
    # gemma-3-270m
    "Gemma3": (dict(vocab_size=262144, hidden_size=640, intermediate_size=2048, num_hidden_layers=18, num_attention_heads=4,
                    num_key_value_heads=1, head_dim=256, sliding_window=512, pad_token_id=None),
               MINI_DECODER | dict(head_dim=16, query_pre_attn_scalar=16, sliding_window=6, sliding_window_pattern=2,
                                   pad_token_id=None)),
    # Phi-4-mini-instruct, 2 of 32 layers. The long factors apply to more than 4096 positions, which no input has.
    "Phi3": tuple(sizes | dict(
        max_position_embeddings=131072, original_max_position_embeddings=4096, tie_word_embeddings=True, pad_token_id=None,
        partial_rotary_factor=0.75,
        rope_scaling=dict(type="longrope", short_factor=rotated // 2 * [1.0], long_factor=rotated // 2 * [1.0]))
        for sizes, rotated in (
            (dict(vocab_size=200064, num_hidden_layers=2, num_attention_heads=24, num_key_value_heads=8), 96),
            (MINI_DECODER, 12))),
    # gpt-oss-20b, 2 of 24 layers, 8 of 32 experts, and a smaller vocabulary
    "GptOss": (dict(vocab_size=32768, num_hidden_layers=2, num_local_experts=8),
               MINI_DECODER | dict(head_dim=16, num_local_experts=8, sliding_window=6)),
}


def decoder_step(model, ids, keys=None, values=None):
    """Returns (logits, keys, values). The cache is two tensors [N, layers, heads, positions, D], which also keep the
    positions outside sliding windows."""
    cache = transformers().DynamicCache()
    for layer in range(0 if keys is None else keys.shape[1]):
        cache.update(keys[:, layer], values[:, layer], layer)
    result = model(input_ids=ids, past_key_values=cache, use_cache=True)
    layers = result.past_key_values.layers
    return result.logits, torch.stack([x.keys for x in layers], 1), torch.stack([x.values for x in layers], 1)


def decoder_config(kind, full):
    name = "Gemma3TextConfig" if kind == "Gemma3" else f"{kind}Config"
    return getattr(transformers(), name)(**DECODERS[kind][0 if full else 1])


def decoder(kind, name=None, prompt=32, experts=None):
    """Returns the two models of a decoder: one for a prompt, and one for the next word after a cache."""
    def build(full):
        model = getattr(transformers(), f"{kind}ForCausalLM")(decoder_config(kind, full))
        if experts:
            model.set_experts_implementation(experts)
        return Called(model, decoder_step)

    def prefill_inputs(full):
        return [((prompt if full else 16,), decoder_config(kind, full).vocab_size)]

    def decode_inputs(full):
        config = decoder_config(kind, full)
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        cache = ((config.num_hidden_layers, config.num_key_value_heads, 127 if full else 15, width), None)
        return [((1,), config.vocab_size), cache, cache]
    name = name or kind.lower()
    return {f"{name}_prefill": Original("transformers", build, prefill_inputs),
            f"{name}_decode": Original("transformers", build, decode_inputs)}


QWEN3_5 = dict(tie_word_embeddings=True, rope_parameters=dict(rope_type="default", rope_theta=1e7, partial_rotary_factor=0.25))
# Decoders with recurrent states: (class, configuration, full, mini, prompt lengths in full and mini).
RECURRENT = {
    # mamba2-130m
    "mamba2": ("Mamba2ForCausalLM", "Mamba2Config",
               dict(vocab_size=50288, hidden_size=768, num_hidden_layers=24, num_heads=24, n_groups=1,
                    tie_word_embeddings=True),
               dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_heads=8, head_dim=16, n_groups=2, state_size=16,
                    chunk_size=8, tie_word_embeddings=True), (512, 20)),
    # Qwen3.5-0.8B
    "qwen3_5": ("Qwen3_5ForCausalLM", "Qwen3_5TextConfig",
                QWEN3_5 | dict(vocab_size=248320, hidden_size=1024, intermediate_size=3584, num_hidden_layers=24,
                               num_attention_heads=8, num_key_value_heads=2, linear_num_value_heads=16),
                QWEN3_5 | MINI_DECODER | dict(num_hidden_layers=4, head_dim=16, linear_num_key_heads=2,
                                              linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=16),
                (128, 72)),
}


def recurrent_step(model, ids, convolved=None, states=None, keys=None, values=None):
    """Returns (logits, inputs of the convolutions, states, keys, values), each stacked over the layers that have it."""
    cache = transformers().DynamicCache(config=model.config)
    kinds = model.config.layer_types
    linear = [layer for layer, kind in enumerate(kinds) if kind == "linear_attention"]
    attending = [layer for layer, kind in enumerate(kinds) if kind == "full_attention"]
    if convolved is not None:
        for place, layer in enumerate(linear):
            cache.update_conv_state(convolved[:, place], layer)
            cache.update_recurrent_state(states[:, place], layer)
        for place, layer in enumerate(attending):
            cache.update(keys[:, place], values[:, place], layer)
    name = "cache_params" if model.config.model_type == "mamba2" else "past_key_values"
    # A step overwrites the states in place, but gradients need the previous values. The hooks save copies of them.
    with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda x: x):
        logits = model(input_ids=ids, use_cache=True, **{name: cache}).logits
    found = [[cache.layers[i].conv_states[0] for i in linear], [cache.layers[i].recurrent_states[0] for i in linear],
             [cache.layers[i].keys for i in attending], [cache.layers[i].values for i in attending]]
    return [logits, *(torch.stack(parts, 1) for parts in found if parts)]


def memory_shapes(config, places):
    """Returns the shapes of the inputs of recurrent_step() after the words."""
    if config.model_type == "mamba2":
        width = config.num_heads * config.head_dim + 2 * config.n_groups * config.state_size
        return [(config.num_hidden_layers, width, config.conv_kernel),
                (config.num_hidden_layers, config.num_heads, config.head_dim, config.state_size)]
    keys, values = config.linear_key_head_dim, config.linear_value_head_dim
    width = 2 * config.linear_num_key_heads * keys + config.linear_num_value_heads * values
    linear, attending = (config.layer_types.count(kind) for kind in ("linear_attention", "full_attention"))
    return [(linear, width, config.linear_conv_kernel_dim), (linear, config.linear_num_value_heads, keys, values),
            *2 * [(attending, config.num_key_value_heads, places, config.head_dim)]]


def recurrent_decoder(name):
    """Returns the two models of a decoder with recurrent states: one for a prompt, and one for the next word."""
    model, kind, *presets, tokens = RECURRENT[name]

    def config(full):
        return getattr(transformers(), kind)(**presets[0 if full else 1])

    def build(full):
        return Called(getattr(transformers(), model)(config(full)), recurrent_step)

    def decode_inputs(full):
        return [((1,), config(full).vocab_size), *((shape, None) for shape in memory_shapes(config(full), 127 if full else 15))]

    def prefill_inputs(full):
        return [((tokens[0 if full else 1],), config(full).vocab_size)]
    # A recurrence amplifies rounding. The originals themselves differ by 1.9e-5 between processors of Intel and of AMD.
    return {f"{name}_prefill": Original("transformers", build, prefill_inputs, tolerance=1e-4),
            f"{name}_decode": Original("transformers", build, decode_inputs, tolerance=1e-4)}


def bart_sizes(width, layers, heads, hidden):
    sizes = dict(d_model=width)
    for half in ("encoder", "decoder"):
        sizes |= {f"{half}_layers": layers, f"{half}_attention_heads": heads, f"{half}_ffn_dim": hidden}
    return sizes


MINI_BART = dict(vocab_size=1000, max_position_embeddings=64) | bart_sizes(64, 2, 4, 128)


def bart_base(full):
    sizes = bart_sizes(768, 6, 12, 3072) if full else MINI_BART
    config = transformers().BartConfig(dropout=0.0, attention_dropout=0.0, **sizes)
    return transformers().BartForConditionalGeneration(config)


def bart(kind, task, tokens=1024, vocabulary=50265, **both):
    def build(full):
        # As in T5, dropout rates are numbers that cannot be switched off later.
        config = getattr(transformers(), f"{kind}Config")(
            dropout=0.0, attention_dropout=0.0, **both, **({} if full else MINI_BART))
        model = getattr(transformers(), f"{kind}For{task}")(config)
        if task == "CausalLM":
            for layer in model.model.decoder.layers:
                layer.encoder_attn = layer.encoder_attn_layer_norm = torch.nn.Identity()
            return called(lambda full: model)(full)
        return Called(model, lambda model, ids, decoded, labels: answer(
            model(input_ids=ids, decoder_input_ids=decoded, labels=labels, use_cache=False)))

    count = 3 if task == "ConditionalGeneration" else 2
    return {f"{kind}For{task}": Original(
        "transformers", build, lambda full: count * [((tokens,), vocabulary) if full else ((32,), 1000)],
        tolerance=2e-5, loss=first)}


MINI_OPT = ENCODER | dict(ffn_dim=128)
del MINI_OPT["intermediate_size"]
MINI_XGLM = dict(vocab_size=1000, d_model=64, num_layers=2, attention_heads=4, ffn_dim=128, max_position_embeddings=64)
MINI_ELECTRA = ENCODER | dict(embedding_size=32)
MINI_MOBILEBERT = ENCODER | dict(intermediate_size=64, embedding_size=32, intra_bottleneck_size=32)
MINI_ALBERT = ENCODER | dict(num_hidden_layers=3, embedding_size=32)


def xlnet(full):
    sizes = {} if full else dict(vocab_size=1000, d_model=64, n_layer=2, n_head=4, d_inner=128)
    model = transformers().XLNetLMHeadModel(transformers().XLNetConfig(**sizes))
    del model.transformer.mask_emb
    for layer in model.transformer.layer:
        del layer.rel_attn.r_s_bias, layer.rel_attn.seg_embed

    def call(model, ids, labels):
        result = model(input_ids=ids, labels=labels)
        return [result.loss, result.logits, *(result.mems or ())]
    return Called(model, call)


def cached_step(model, ids, keys, values, source_keys, source_values):
    """Returns (logits, keys, values) for one more word. Caches are tensors [N, layers, heads, positions, D]. Of the
    encoder's output, only the length is used."""
    caches = []
    for old_keys, old_values in ((keys, values), (source_keys, source_values)):
        caches.append(transformers().DynamicCache())
        for layer in range(old_keys.shape[1]):
            caches[-1].update(old_keys[:, layer], old_values[:, layer], layer)
    encoded = keys.new_zeros(len(ids), source_keys.shape[3], 1)
    result = model(decoder_input_ids=ids, encoder_outputs=(encoded,), use_cache=True,
                   past_key_values=transformers().EncoderDecoderCache(*caches))
    layers = result.past_key_values.self_attention_cache.layers
    return result.logits, torch.stack([x.keys for x in layers], 1), torch.stack([x.values for x in layers], 1)


def without_encoder(model, decoder, projections):
    """Removes the parts that a cached step does not use: the encoder, and the projections of its output to keys and
    values."""
    owner = model.model if hasattr(model, "model") else model
    owner.encoder = torch.nn.Identity()
    for module in decoder.modules():
        if hasattr(module, projections[0]):
            for name in projections[1:]:
                setattr(getattr(module, projections[0]), name, torch.nn.Identity())
    return Called(model, cached_step)


def cached_inputs(vocabulary, layers, heads, width, cached, source):
    caches = [((layers, heads, length, width), None) for length in (cached, cached, source, source)]
    return [((1,), vocabulary), *caches]


def whisper_config(full, *published):
    sizes = bart_sizes(*published) if full else bart_sizes(64, 2, 4, 128) | dict(
        vocab_size=1000, num_mel_bins=16, max_source_positions=32, max_target_positions=64, pad_token_id=999)
    return transformers().WhisperConfig(**sizes)


T5_BASE = dict(d_model=768, d_ff=3072, num_layers=12, num_heads=12)


def t5_decode(full):
    model = t5(full, **T5_BASE)
    return without_encoder(model, model.decoder, ("EncDecAttention", "k", "v"))


TINY, SMALL, MEDIUM = (384, 4, 6, 1536), (768, 12, 12, 3072), (1024, 24, 16, 4096)  # whisper's, as bart_sizes() takes them


def whisper(full):
    model = transformers().WhisperForConditionalGeneration(whisper_config(full, *TINY))
    return Called(model, lambda model, features, ids, labels: answer(
        model(input_features=features, decoder_input_ids=ids, labels=labels, use_cache=False)))


def whisper_decode(full):
    model = transformers().WhisperForConditionalGeneration(whisper_config(full, *SMALL))
    return without_encoder(model, model.model.decoder, ("encoder_attn", "k_proj", "v_proj"))


def whisper_features(full):
    return [((80, 3000) if full else (16, 64), None)]


def listener(build, **options):
    """A model whose only input is Whisper's features."""
    def called_with(full):
        return Called(build(full), lambda model, features: model(input_features=features)[0])
    return Original("transformers", called_with, whisper_features, **options)


def whisper_classifier(*sizes):
    return listener(lambda full: transformers().WhisperForAudioClassification(whisper_config(full, *sizes)))
def clip(full):
    """openai/clip-vit-base-patch32. Its configuration has the outdated token ids 0 and 2, so a text ends at its highest
    id."""
    text, image = {}, {}
    if not full:
        text = dict(vocab_size=1000, hidden_size=64, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
                    max_position_embeddings=32)
        image = dict(hidden_size=96, intermediate_size=384, num_hidden_layers=2, num_attention_heads=3, image_size=64,
                     patch_size=16)
    config = transformers().CLIPConfig(text_config=dict(bos_token_id=0, eos_token_id=2, **text), vision_config=image,
                                       projection_dim=512 if full else 32)
    return Called(transformers().CLIPModel(config), lambda model, ids, images: model(
        input_ids=ids, pixel_values=images).to_tuple())


def clip_inputs(full):
    return [((77,), 49408), ((3, 224, 224), None)] if full else [((32,), 1000), ((3, 64, 64), None)]


def clip_loss(outputs):
    """Returns the mean over four tensors and two encoders. An encoder's value is the mean of its two tensors."""
    means = [output.sum() / output.numel() for output in outputs]
    return (sum(means[:4]) + sum(means[4:]) / 2) / 6


def called(build):
    return lambda full: Called(build(full), lambda model, ids, labels=None: answer(model(input_ids=ids, labels=labels)))


def words(tokens, vocabulary, build, ids=None, classes=None, double=False):
    """A model with token ids (below `ids`) and labels, as huggingface.py runs it. There is one label per token, or one
    label below `classes` per sample."""
    def inputs(full):
        length, bound = (tokens, vocabulary) if full else (32, 1000)
        return [((length,), ids or bound), ((), classes) if classes else ((length,), bound)]
    return Original("transformers", called(build), inputs, tolerance=2e-5, double=double, loss=first)


def torchbench_words(tokens, vocabulary, build):
    """The same as torchbench.py runs it: with labels only in training, and with the mean of the logits as the loss."""
    return Original("transformers", called(build), lambda full: [((tokens,), vocabulary)] if full else 2 * [((32,), 1000)],
                    tolerance=2e-5, training_inputs=True, loss=mean_of_logits)


def answers(tokens, vocabulary, build, ids=None, double=False):
    """A model that finds an answer in token ids, trained with the positions of its first and last word. In full, ids
    are below `ids`; in mini, they cover the whole vocabulary."""
    def call(model, ids, start, end):
        result = model(input_ids=ids, start_positions=start, end_positions=end)
        return [result.loss, result.start_logits, result.end_logits]

    def inputs(full):
        length, bound = (tokens, ids or vocabulary) if full else (32, 1000)
        return [((length,), bound), ((), length), ((), length)]
    return Original("transformers", lambda full: Called(build(full), call), inputs, tolerance=2e-5, double=double, loss=first)


ORIGINALS = {
    "BertForMaskedLM": words(512, 30522, encoder("BertForMaskedLM", "Bert")),
    "BertForQuestionAnswering": answers(512, 30522, encoder("BertForQuestionAnswering", "Bert")),
    "RobertaForCausalLM": words(512, 50265, encoder("RobertaForCausalLM", "Roberta", pad_token_id=0), ids=1),
    "RobertaForQuestionAnswering": answers(512, 50265, roberta_answers, ids=1),
    "CamemBert": words(512, 32005, camembert),
    "LayoutLMForMaskedLM": words(512, 30522, layoutlm),
    "LayoutLMForSequenceClassification": words(
        512, 30522, encoder("LayoutLMForSequenceClassification", "LayoutLM", **WITHOUT_DROPOUT), classes=1),
    "albert_base_v2": words(512, 30000, albert_base),
    "AlbertForMaskedLM": words(512, 30000, encoder("AlbertForMaskedLM", "Albert", MINI_ALBERT)),
    "AlbertForQuestionAnswering": answers(512, 30000, encoder("AlbertForQuestionAnswering", "Albert", MINI_ALBERT)),
    "DistilBertForMaskedLM": words(128, 30522, distilbert),
    "DistilBertForQuestionAnswering": answers(128, 30522, encoder("DistilBertForQuestionAnswering", "DistilBert",
                                                                  MINI_DISTILBERT)),
    "MegatronBertForCausalLM": words(512, 29056, encoder("MegatronBertForCausalLM", "MegatronBert")),
    "MegatronBertForQuestionAnswering": answers(512, 29056, encoder("MegatronBertForQuestionAnswering", "MegatronBert")),
    "T5Small": labelled_t5(1024, 32128),
    "MT5ForConditionalGeneration": labelled_t5(128, 250112, "MT5"),
    "hf_DistilBert": torchbench_words(512, 30522, distilbert),
    "hf_Bert_large": torchbench_words(512, 30522, bert_large),
    "hf_Roberta_base": torchbench_words(512, 250002, xlm_roberta),
    "hf_GPT2": torchbench_words(256, 50257, gpt2("GPT2LMHeadModel")),
    "hf_GPT2_large": torchbench_words(1024, 50257, gpt2("GPT2LMHeadModel", n_embd=1280, n_layer=36, n_head=20)),
    "hf_T5": torchbench_t5(512),
    "hf_T5_base": torchbench_t5(2048, **T5_BASE),
    "hf_T5_large": torchbench_t5(512, d_model=1024, d_ff=4096, num_layers=24, num_heads=16),
    "hf_clip": Original("transformers", clip, clip_inputs, tolerance=2e-5, loss=clip_loss),
    "hf_Bart": torchbench_pair(512, 50265, bart_base, tolerance=2e-5),
    **decoder("Llama"),
    **decoder("Qwen3"),
    **decoder("Mistral"),
    **decoder("Gemma3"),
    **decoder("Phi3", "phi4_mini"),
    **decoder("GptOss", "gpt_oss", prompt=8, experts="batched_mm"),
    **recurrent_decoder("mamba2"),
    **recurrent_decoder("qwen3_5"),
    "t5_decode": Original(
        "transformers", t5_decode, lambda full: cached_inputs(32128, 12, 12, 64, 127, 512) if full else
        cached_inputs(1000, 2, 4, 16, 15, 32), double=True),
    "whisper_tiny": Original(
        "transformers", whisper,
        lambda full: whisper_features(full) + 2 * [((128,), 51865) if full else ((32,), 1000)], tolerance=2e-5, loss=first),
    "whisper_encoder": listener(lambda full: transformers().WhisperModel(whisper_config(full, *SMALL)).encoder),
    "whisper_decode": Original(
        "transformers", whisper_decode,
        lambda full: cached_inputs(51865, 12, 12, 64, 127, 1500) if full else cached_inputs(1000, 2, 4, 16, 15, 32)),
    "hf_Whisper": whisper_classifier(*TINY),
    "hf_distil_whisper": whisper_classifier(*MEDIUM),
    "DistillGPT2": words(512, 50257, gpt2("GPT2LMHeadModel", n_layer=6)),
    "GPT2ForSequenceClassification": words(1024, 50257, gpt2("GPT2ForSequenceClassification"), classes=1),
    **bart("Bart", "ConditionalGeneration"),
    **bart("Bart", "CausalLM"),
    **bart("PLBart", "ConditionalGeneration", vocabulary=50005),
    **bart("PLBart", "CausalLM", vocabulary=50005),
    **bart("MBart", "ConditionalGeneration"),
    **bart("MBart", "CausalLM"),
    **bart("BlenderbotSmall", "ConditionalGeneration", 128),
    **bart("BlenderbotSmall", "CausalLM", 128),
    **bart("Pegasus", "ConditionalGeneration", 128),
    **bart("Pegasus", "CausalLM", 128),
    **bart("M2M100", "ConditionalGeneration", 128, 128112, encoder_layerdrop=0.0, decoder_layerdrop=0.0),
    **bart("TrOCR", "CausalLM", 256),
    "OPTForCausalLM": words(2048, 50272, encoder("OPTForCausalLM", "OPT", MINI_OPT, dropout=0.0)),
    "XGLMForCausalLM": words(128, 256008, encoder("XGLMForCausalLM", "XGLM", MINI_XGLM, dropout=0.0, attention_dropout=0.0)),
    "ElectraForCausalLM": words(512, 30522, encoder("ElectraForCausalLM", "Electra", MINI_ELECTRA)),
    "ElectraForQuestionAnswering": answers(512, 30522, encoder("ElectraForQuestionAnswering", "Electra", MINI_ELECTRA)),
    "DebertaV2ForMaskedLM": words(512, 128100, encoder("DebertaV2ForMaskedLM", "DebertaV2")),
    "DebertaV2ForQuestionAnswering": answers(512, 128100, encoder("DebertaV2ForQuestionAnswering", "DebertaV2")),
    # Has scales instead of norms, so values grow from layer to layer. In full, they exceed the range of float32.
    "MobileBertForMaskedLM": words(128, 30522, encoder("MobileBertForMaskedLM", "MobileBert", MINI_MOBILEBERT), double=True),
    "MobileBertForQuestionAnswering": answers(
        128, 30522, encoder("MobileBertForQuestionAnswering", "MobileBert", MINI_MOBILEBERT), double=True),
    "XLNetLMHeadModel": Original("transformers", xlnet, lambda full: 2 * [((512,), 32000) if full else ((32,), 1000)],
                                 tolerance=2e-5, loss=first),
}
