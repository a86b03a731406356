"""transformers' models."""
import importlib.util

from .entry import Original
from .vision import torchvision


def transformers():
    if importlib.util.find_spec("torchvision"):
        torchvision()  # transformers imports it when it is there
    import transformers
    return transformers


def bert(full):
    small = dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                 max_position_embeddings=64)
    return transformers().BertForMaskedLM(transformers().BertConfig(**({} if full else small)))


ORIGINALS = {
    "BertForMaskedLM": Original("transformers", bert, lambda full: [((512,), 30522) if full else ((32,), 1000)],
                                tolerance=2e-5, output=lambda value: value.logits),
}
