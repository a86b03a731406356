"""Makes inputs and labels for a class of transformers, according to its name."""
import inspect

import torch

MINI_WORDS = 32
LABELS = ("labels", "start_positions")


def words(name, preset):
    """Returns upstream's sequence length."""
    if preset == "mini":
        return 64 if "Reformer" in name else MINI_WORDS
    if "/" in name:
        return 1000
    if name.startswith("Blenderbot"):
        return 128
    if name.startswith(("GPT2", "Bart", "T5", "PLBart", "MBart")) or name == "AllenaiLongformerBase":
        return 1024
    if name.startswith("OPT"):
        return 2048
    if "Reformer" in name:
        return 4096
    if name.startswith(("Albert", "Deberta", "Layout", "Electra", "XLNet", "MegatronBert", "Bert", "Roberta")) or name in (
            "DistillGPT2", "GoogleFnet", "YituTechConvBert"):
        return 512
    return 256 if name == "TrOCRForCausalLM" else 128


def text_of(config):
    return getattr(config, "text_config", None) or config


def integers(high, *shape):
    return torch.randint(0, max(1, high), shape)


def of(cls, name, config, batch, preset, with_labels=True, sequence=None):
    parameters = inspect.signature(cls.forward).parameters
    length = sequence or words(name, preset)
    vocabulary = getattr(text_of(config), "vocab_size", None)
    limit = getattr(text_of(config), "max_position_embeddings", None)
    if preset == "mini" and isinstance(limit, int) and limit > 0:
        length = min(length, limit)
    main = getattr(cls, "main_input_name", "input_ids")
    arguments = {}
    if main == "pixel_values" or "pixel_values" in parameters and "input_ids" in parameters:
        arguments["pixel_values"] = image(config, batch)
    if main == "input_features":
        frames = 2 * config.max_source_positions
        arguments["input_features"] = torch.randn(batch, config.num_mel_bins, frames)
    if main == "input_values":
        arguments["input_values"] = torch.randn(batch, 16000 if preset == "full" else 2000)
    if "input_ids" in parameters and vocabulary:
        # Upstream's tokens of Roberta are all 0. The mini preset's are random, so that the outputs depend on them.
        zeros = name.startswith("Roberta") and preset == "full"
        arguments["input_ids"] = integers(1 if zeros else vocabulary, batch, length)
        if "Bart" in name:
            arguments["input_ids"][:, -1] = config.eos_token_id
        place_image(arguments, config)
    if "decoder_input_ids" in parameters:
        arguments["decoder_input_ids"] = arguments.get("input_ids", integers(vocabulary or 2, batch, 8)).clone()
    if with_labels:
        arguments.update(labels_of(cls.__name__, config, batch, length, vocabulary, parameters))
    return arguments


def place_image(arguments, config):
    """Reserves the positions of an image's patches in a text, for models that combine both."""
    token, vision = getattr(config, "image_token_index", None), getattr(config, "vision_config", None)
    if token is None or "pixel_values" not in arguments:
        return
    patches = (vision.image_size // vision.patch_size) ** 2
    text = arguments["input_ids"]
    text[text == token] = 0
    arguments["input_ids"] = torch.cat([text[:, :1], torch.full((len(text), patches), token), text[:, 1:]], dim=1)


def labels_of(name, config, batch, length, vocabulary, parameters):
    """Makes labels; empty for kinds without labels upstream, such as plain models."""
    if name.endswith("QuestionAnswering") and "start_positions" in parameters:
        return {"start_positions": integers(length, batch), "end_positions": integers(length, batch)}
    if "labels" not in parameters:
        return {}
    if name.endswith(("MaskedLM", "CausalLM", "LMHeadModel", "ConditionalGeneration")) and "input_ids" in parameters:
        return {"labels": integers(vocabulary, batch, length)}
    if name.endswith(("SequenceClassification", "ImageClassification", "AudioClassification")):
        return {"labels": integers(config.num_labels - 1, batch)}
    if name.endswith("TokenClassification"):
        return {"labels": integers(config.num_labels - 1, batch, length)}
    return {}


def image(config, batch):
    vision = getattr(config, "vision_config", None) or config
    side = getattr(vision, "image_size", None) or 64
    sides = side if isinstance(side, (list, tuple)) else (side, side)
    return torch.randn(batch, getattr(vision, "num_channels", 3), *sides)


def has_labels(arguments):
    return any(key in arguments for key in LABELS)
