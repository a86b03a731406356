"""Makes a model of transformers from its class and configuration, with inputs, labels and sizes of upstream's huggingface
suite. The model returns its outputs in a dict. With labels, the first output is the loss."""
import functools

import torch

import package_dimensions
import transformers_configurations as configurations
import transformers_inputs as inputs
from subject import Subject, Unknown

# Classes of upstream's names that are not class names themselves.
ALIASES = {
    "AllenaiLongformerBase": "LongformerForMaskedLM", "CamemBert": "CamembertForMaskedLM", "DistillGPT2": "GPT2LMHeadModel",
    "GoogleFnet": "FNetForMaskedLM", "T5Small": "T5ForConditionalGeneration", "YituTechConvBert": "ConvBertForMaskedLM",
    "Reformer": "ReformerForMaskedLM", "Qwen/Qwen3-0.6B": "Qwen3ForCausalLM", "Qwen/Qwen3.5-0.8B": "Qwen3_5ForCausalLM",
    "google/gemma-2-2b": "Gemma2ForCausalLM", "google/gemma-3-4b-it": "Gemma3ForCausalLM",
    "meta-llama/Llama-3.2-1B": "LlamaForCausalLM", "mistralai/Mistral-7B-Instruct-v0.3": "MistralForCausalLM",
    "openai/gpt-oss-20b": "GptOssForCausalLM", "openai/whisper-tiny": "WhisperForConditionalGeneration",
}
# Upstream's batch sizes, divided by its divisors.
BATCH = {
    "AlbertForMaskedLM": 4, "AlbertForQuestionAnswering": 4, "AllenaiLongformerBase": 4, "BartForCausalLM": 4,
    "BartForConditionalGeneration": 2, "BlenderbotForCausalLM": 4, "BlenderbotSmallForCausalLM": 64,
    "BlenderbotSmallForConditionalGeneration": 64, "DebertaForMaskedLM": 8, "DebertaV2ForMaskedLM": 2,
    "DebertaV2ForQuestionAnswering": 1, "DistilBertForMaskedLM": 128, "DistilBertForQuestionAnswering": 256,
    "DistillGPT2": 16, "ElectraForCausalLM": 32, "ElectraForQuestionAnswering": 64, "GPT2ForSequenceClassification": 4,
    "GPTJForCausalLM": 1, "GPTJForQuestionAnswering": 1, "GPTNeoForCausalLM": 32, "GPTNeoForSequenceClassification": 32,
    "M2M100ForConditionalGeneration": 16, "MBartForCausalLM": 4, "MBartForConditionalGeneration": 2,
    "MegatronBertForCausalLM": 4, "MegatronBertForQuestionAnswering": 8, "MobileBertForMaskedLM": 128,
    "MobileBertForQuestionAnswering": 128, "OPTForCausalLM": 2, "PLBartForCausalLM": 8,
    "PLBartForConditionalGeneration": 4, "PegasusForCausalLM": 32, "PegasusForConditionalGeneration": 32,
    "Speech2Text2ForCausalLM": 256, "T5ForConditionalGeneration": 4, "T5Small": 4, "TrOCRForCausalLM": 32,
    "XGLMForCausalLM": 8, "XLNetLMHeadModel": 8,
}


def make(name, options, configuration=None, labels=True, sequence=None):
    import transformers
    cls = getattr(transformers, ALIASES.get(name, name), None)
    if cls is None or getattr(cls, "config_class", None) is None:
        raise Unknown(f"transformers has no model class {ALIASES.get(name, name)}")
    config = configurations.of(cls, name, options.preset, configuration or {})
    model = cls(config)
    batch = options.batch_size or (2 if options.preset == "mini" else
                                   1 if "/" in name else BATCH.get(name, 16))
    torch.manual_seed(options.seed)
    arguments = inputs.of(cls, name, config, batch, options.preset, labels, sequence)
    plain_outputs(model)
    return Subject(model, kwargs=arguments, packages=("transformers",), suite="huggingface",
                   loss="loss" if inputs.has_labels(arguments) else None,
                   dynamic=package_dimensions.of_text(model, arguments, options.preset) or package_dimensions.of_sound(arguments))


def plain_outputs(model):
    """Makes the model's forward return a dict of its outputs, because only Python knows the classes of outputs."""
    cls = type(model)

    @functools.wraps(cls.forward)
    def forward(self, *args, **kwargs):
        out = cls.forward(self, *args, **kwargs)
        return {key: value for key, value in out.items() if is_tensors(value)} if hasattr(out, "items") else out

    model.__class__ = type(cls.__name__, (cls,), {"forward": forward, "__module__": cls.__module__})


def is_tensors(value):
    return isinstance(value, torch.Tensor) or isinstance(value, (tuple, list)) and all(is_tensors(v) for v in value)
