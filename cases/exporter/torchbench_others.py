"""Makes models of pytorch/benchmark whose folder requires CUDA, several processes or recorded observations, or whose own
inputs are constant. The network comes from the folder's own files, with random inputs of upstream's shapes."""
import functools

import torch

import torchbench_package as package
from subject import Subject, batch_size


class MeanOf(torch.nn.Module):
    """Returns the mean of a policy's distribution, which upstream compares."""

    def __init__(self, actor):
        super().__init__()
        self.actor = actor

    def forward(self, observations):
        return self.actor(observations).mean


def drq(options):
    facts = package.part("drq", "config").DRQConfig()
    actor = package.part("drq", "drq").Actor(((9, 84, 84), facts.feature_dim), (1,), facts.hidden_dim, facts.hidden_depth,
                                             facts.log_std_bounds)
    return Subject(MeanOf(actor), (torch.randint(11, 228, (batch_size(options, 1, 1), 9, 84, 84)).float(),))


def llama(options):
    """Makes llama. Upstream's tokens are all 1; here they are random, so that the outputs depend on them."""
    model = package.part("llama", "model")
    size = dict(dim=64, n_layers=2, n_heads=4, vocab_size=512, max_batch_size=4, max_seq_len=64) \
        if options.preset == "mini" else dict(vocab_size=32000)
    arguments = model.ModelArgs(device="cpu", **size)
    words = torch.randint(arguments.vocab_size, (batch_size(options, 2, 32), 32), dtype=torch.int)
    return Subject(model.Transformer(arguments), (words, 1))


def simple_gpt(options):
    """Makes simple_gpt for one process, which has the whole of each matrix."""
    module = package.part("simple_gpt", "model")
    module.KVCache.__init__ = functools.partialmethod(module.KVCache.__init__, device="cpu", dtype=torch.float32)
    small = dict(block_size=64, vocab_size=512, n_layer=2, n_head=4, n_embd=64)
    config = module.LLaMAConfig(**small) if options.preset == "mini" else module.LLaMAConfig.from_name("7B")
    model = module.LLaMA(config, 1)
    for block in model.transformer.h:
        block.attn.prepare_qkv_for_dtensor_tp()
    batch = batch_size(options, 2, 1)
    model.setup_caches(batch, config.block_size, device="cpu", dtype=torch.float32)
    for cache in model.kv_caches.kv_caches:  # state, not weights
        as_buffers(cache, ("k_cache", "v_cache"))
    words = torch.randint(config.vocab_size, (batch, 10), dtype=torch.int32)
    return Subject(model, (words, torch.arange(10)))


def simple_gpt_tp_manual(options):
    """Makes simple_gpt_tp_manual for one process. It has the whole of each matrix, so no all-reduce is needed."""
    module = package.part("simple_gpt_tp_manual", "model")
    module.KVCache.__init__ = functools.partialmethod(module.KVCache.__init__, dtype=torch.float32)
    small = dict(block_size=64, vocab_size=512, n_layer=2, n_head=4, n_embd=64)
    config = module.LLaMAConfig(**small) if options.preset == "mini" else module.LLaMAConfig.from_name("7B")
    model = module.LLaMA(config)
    batch = batch_size(options, 2, 1)
    model.setup_caches(batch, config.block_size, dtype=torch.float32)
    for cache in model.kv_caches.kv_caches:  # state, not weights
        as_buffers(cache, ("k_cache", "v_cache"))
    words = torch.randint(config.vocab_size, (batch, 10), dtype=torch.int32)
    return Subject(model, (words, torch.arange(10)))


def moco(options):
    """Makes moco for one process. Replaces the collective operations by functions without effect."""
    import torchvision
    builder = package.part("moco", "moco.builder")
    builder.concat_all_gather = lambda tensor: tensor
    torch.distributed.broadcast, torch.distributed.get_rank = lambda *_, **__: None, lambda: 0
    model = builder.MoCo(torchvision.models.resnet50, 128, 320 if options.preset == "mini" else 32000, 0.999, 0.07, False)
    for module in model.encoder_k.modules():  # updated by a moving average, not by gradients
        as_buffers(module, [name for name, _ in module.named_parameters(recurse=False)])
    batch, side = batch_size(options, 2, 32), 64 if options.preset == "mini" else 224
    return Subject(model, tuple(torch.randn(batch, 3, side, side) for _ in range(2)), packages=("torchvision",))


def as_buffers(module, names):
    for name in names:
        value = getattr(module, name).data
        delattr(module, name)
        module.register_buffer(name, value)


def opacus(options):
    """Makes the network without hooks for gradients per sample, because inference has no gradients."""
    benchmark = package.whole("opacus_cifar10").Model(test="eval", device="cpu", batch_size=batch_size(options, 2, 64))
    model, inputs = benchmark.get_module()
    model.remove_hooks()
    return Subject(model, inputs, packages=("opacus", "torchvision"))


def cm3leon(options):
    module = package.part("cm3leon_generate", "model")
    if options.preset == "full":
        return Subject(module.SequenceGenerator(module.create_model(1536), 1, 64), (torch.randint(1, 128, (1, 64)),))
    words = torch.nn.Embedding(128, 64, padding_idx=-1)
    model = module.TransformerDecoder(words, decoder_layers=2, decoder_attention_heads=4, max_target_positions=64, embed_dim=64,
                                      decoder_ffn_embed_dim=256, no_scale_embedding=True, share_decoder_input_output_embed=True,
                                      decoder_learned_pos=True, dropout=0.1)
    return Subject(module.SequenceGenerator(model, 1, 4), (torch.randint(1, 128, (batch_size(options, 2, 1), 16)),))


def fastnlp(options):
    """Makes fastNLP_Bert. The folder's weights file is replaced by an empty one. The mini preset has two of twelve layers. The
    export fails in the model's code that combines word pieces with NumPy."""
    from fastNLP.modules.encoder.bert import BertConfig
    read = BertConfig.from_json_file
    if options.preset == "mini":
        BertConfig.from_json_file = staticmethod(lambda path: with_layers(read(path), 2))
    with package.loaded({}):
        benchmark = package.whole("fastNLP_Bert").Model(test="eval", device="cpu", batch_size=batch_size(options, 1, 1))
    return Subject(*benchmark.get_module(), packages=("fastNLP",))


def with_layers(config, count):
    config.num_hidden_layers = count
    return config


class Generating(torch.nn.Module):
    def __init__(self, model, config):
        super().__init__()
        self.model, self.config = model, config

    def forward(self, words):
        return self.model.generate(words, self.config)


def t5_generate(options):
    """Makes the loop that generates a fixed number of tokens. The mini preset scales the initial weights by three, because with
    the default weights the generated tokens do not depend on the input."""
    import transformers
    import transformers_configurations as configurations
    cls, small = transformers.T5ForConditionalGeneration, options.preset == "mini"
    config = configurations.of(cls, "T5ForConditionalGeneration", options.preset, {"initializer_factor": 3.0} if small else {})
    how = transformers.GenerationConfig(max_new_tokens=4 if small else 256, pad_token_id=0, eos_token_id=None, do_sample=False,
                                        num_beams=1, use_cache=True, decoder_start_token_id=0)
    words = torch.randint(1, config.vocab_size, (batch_size(options, 2, 1), 16 if small else 2048))
    return Subject(Generating(cls(config), how), (words,), packages=("transformers",))


MAKERS = {"drq": drq, "llama": llama, "simple_gpt": simple_gpt, "simple_gpt_tp_manual": simple_gpt_tp_manual, "moco": moco,
          "opacus_cifar10": opacus, "cm3leon_generate": cm3leon, "hf_T5_generate": t5_generate, "fastNLP_Bert": fastnlp}
