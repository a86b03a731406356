"""Makes models by their names in pytorch/benchmark. A model comes from the package that upstream uses, if pip has that package.
Other models come from an installed torchbenchmark. If the model's folder requires more than its sources, only some of its files
are imported."""
import torch

import source_diffusers
import source_pyg
import source_timm
import source_torchvision
import source_transformers
import torchbench_detectors
import torchbench_images
import torchbench_others
import torchbench_package
import torchbench_speech
from subject import Subject, batch_size

TIMM = {"timm_nfnet": ("dm_nfnet_f0", 128), "timm_regnet": ("regnety_120", 32), "timm_resnest": ("resnest14d", 32),
        "timm_vovnet": ("vovnet39a", 32), "timm_efficientnet": ("efficientnet_b0", 64),
        "timm_vision_transformer": ("vit_small_patch16_224", 32), "timm_vision_transformer_large": ("vit_giant_patch14_224", 32)}
# Class, differences of its configuration from the default, length of the text.
TRANSFORMERS = {
    "hf_Albert": ("AlbertForMaskedLM", dict(embedding_size=128, hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                                            intermediate_size=3072), 512),
    "hf_Bart": ("BartForConditionalGeneration", dict(d_model=768, encoder_layers=6, decoder_layers=6, encoder_ffn_dim=3072,
                                                     decoder_ffn_dim=3072, encoder_attention_heads=12,
                                                     decoder_attention_heads=12), 512),
    "hf_Bert": ("BertForMaskedLM", {}, 512),
    "hf_Bert_large": ("BertForMaskedLM", dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16), 512),
    "hf_BigBird": ("BigBirdForMaskedLM", dict(attention_type="block_sparse"), 4096),
    "hf_GPT2": ("GPT2LMHeadModel", {}, 1024),
    "hf_GPT2_large": ("GPT2LMHeadModel", dict(n_embd=1280, n_layer=36, n_head=20), 1024),
    "hf_Longformer": ("LongformerForMaskedLM", dict(attention_window=[512] * 12, vocab_size=50265, type_vocab_size=1,
                                                    max_position_embeddings=4098, pad_token_id=1), 4096),
    "hf_Reformer": ("ReformerForMaskedLM", dict(num_buckets=128, is_decoder=False), 4096),
    "hf_Roberta_base": ("XLMRobertaForMaskedLM", dict(vocab_size=250002, max_position_embeddings=514, type_vocab_size=1), 512),
    "hf_T5": ("T5ForConditionalGeneration", {}, 2048),
    "hf_T5_base": ("T5ForConditionalGeneration", dict(d_model=768, d_ff=3072, num_layers=12, num_heads=12), 2048),
    "hf_T5_large": ("T5ForConditionalGeneration", dict(d_model=1024, d_ff=4096, num_layers=24, num_heads=16), 512),
    "hf_Whisper": ("WhisperForAudioClassification", {}, None),
    "hf_distil_whisper": ("WhisperForAudioClassification", dict(d_model=1024, encoder_layers=24, encoder_attention_heads=16,
                                                                encoder_ffn_dim=4096, vocab_size=51864), None),
    "hf_clip": ("CLIPModel", {}, 77),
    "llama_v2_7b_16h": ("LlamaForCausalLM", dict(num_hidden_layers=16), 512),
    "llava": ("LlavaForConditionalGeneration", {}, 512),
    "moondream": ("PhiForCausalLM", {}, 512),
    "stable_diffusion_text_encoder": ("CLIPTextModel", dict(hidden_size=1024, num_hidden_layers=23, num_attention_heads=16,
                                                            intermediate_size=4096, hidden_act="gelu"), 10),
}
BATCH = {"hf_clip": 32, "hf_Whisper": 8}
TORCHVISION = {"vision_maskrcnn": "maskrcnn_resnet50_fpn"}
PARTS = {**torchbench_images.MAKERS, **torchbench_others.MAKERS, **torchbench_detectors.MAKERS, **torchbench_speech.MAKERS}
PYG = {"basic_gnn_edgecnn": "EdgeCNN", "basic_gnn_gcn": "GCN", "basic_gnn_gin": "GIN", "basic_gnn_sage": "GraphSAGE"}


def make(name, options):
    parts = PARTS.get(name)
    subject = parts(options) if parts else make_of_package(name, options) or make_of_torchbenchmark(name, options)
    subject.suite = "torchbench"
    return subject


def make_of_package(name, options):
    if name in TIMM:
        known, batch = TIMM[name]
        options.batch_size = batch_size(options, 2, batch)
        return source_timm.make(known, options)
    if name in TRANSFORMERS:
        cls, configuration, words = TRANSFORMERS[name]
        options.batch_size = batch_size(options, 2, BATCH.get(name, 1))
        return source_transformers.make(cls, options, configuration, labels=False, sequence=words if options.preset == "full" else None)
    if name == "stable_diffusion_unet":
        return source_diffusers.make("UNet2DConditionModel", options)
    if name in TORCHVISION:
        return source_torchvision.make(TORCHVISION[name], options)
    if name in PYG:
        return source_pyg.make(PYG[name], options)
    if name == "functorch_dp_cifar10":
        return group_normed_resnet18(options)
    return None


def group_normed_resnet18(options):
    """Makes the network that upstream's accuracy run calls, without gradients per sample."""
    import torchvision
    model = torchvision.models.resnet18(norm_layer=lambda c: torch.nn.GroupNorm(min(c, 32), c))
    return Subject(model, (torch.randn(batch_size(options, 2, 64), 3, 32, 32),), packages=("torchvision",))


def make_of_torchbenchmark(name, options):
    module = torchbench_package.whole(name)
    size = options.batch_size
    if size is None and options.preset == "mini" and getattr(module.Model, "ALLOW_CUSTOMIZE_BSIZE", True):
        size = 2
    benchmark = module.Model(test="train" if options.mode == "train" else "eval", device="cpu", batch_size=size)
    model, inputs = benchmark.get_module()
    args, kwargs = ((), dict(inputs)) if hasattr(inputs, "keys") else (tuple(inputs), {})
    # As in upstream's pick_grad(): maml's forward runs steps of an optimizer.
    return Subject(model, args, kwargs, packages=("torchbenchmark",), gradients=name == "maml")
