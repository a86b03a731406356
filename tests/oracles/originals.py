"""The Python originals: how each model of the zoo is built in Python, and what it is fed.

An entry of ORIGINALS is name: Original(package, build(full), inputs(full), tolerance). An input is (shape without the batch,
None for float32 or the bound of int64). `tolerance` is what the C++ model may differ by: the largest absolute difference
over the largest absolute output, float32. `train_tolerance` is that of the gradients' norms.
"""
import functools
import importlib.util
import pathlib
import re
import sys
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn

MINI_BATCH = 4


@dataclass(frozen=True)
class Original:
    package: str
    build: Callable[[bool], nn.Module]
    inputs: Callable[[bool], list]
    tolerance: float = 1e-5
    train_tolerance: float = 1e-4
    batch: int = 0  # of both presets; 0: MINI_BATCH for mini, 1 for full
    output: Callable = staticmethod(lambda value: value)

    def batch_size(self, full):
        return self.batch or (1 if full else MINI_BATCH)


@functools.cache
def torchvision():
    """torchvision.models, also where only a build for another device is installed: its compiled operators, which no
    classification model needs, are then declared by name so that its Python part imports."""
    try:
        import torchvision.models as models
        return models
    except RuntimeError as error:
        if "nms" not in str(error):
            raise
    source = pathlib.Path(importlib.util.find_spec("torchvision").origin).with_name("_meta_registrations.py").read_text()
    names = set(re.findall(r'register_meta\("(\w+)"\)', source)) | {"nms", "qnms"}
    names |= set(re.findall(r'torchvision::(\w+)', source))
    library = torch.library.Library("torchvision", "DEF")
    for name in sorted(names):
        library.define(f"{name}() -> ()")
    torchvision.library = library  # keeps the definitions alive
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    import torchvision.models as models
    return models


def image(side_mini, side_full=224):
    return lambda full: [((3, side_full, side_full) if full else (3, side_mini, side_mini), None)]


def alexnet(full):
    model = torchvision().AlexNet()
    if not full:
        model.classifier[1], model.classifier[4], model.classifier[6] = (
            nn.Linear(256 * 36, 256), nn.Linear(256, 256), nn.Linear(256, 1000))
    return model


def vgg16(full):
    from torchvision.models import vgg
    if full:
        return torchvision().vgg16(init_weights=False)
    features = vgg.make_layers([16, "M", 32, "M", 64, 64, "M", 128, 128, "M"])
    model = vgg.VGG(features, init_weights=False)
    model.classifier[0], model.classifier[3], model.classifier[6] = (
        nn.Linear(128 * 49, 256), nn.Linear(256, 256), nn.Linear(256, 1000))
    return model


def resnet(block, layers):
    def build(full):
        resnet = torchvision().resnet
        return resnet.ResNet(getattr(resnet, block), layers if full else [2, 1, 1, 1])
    return build


def mobilenet_v2(full):
    if full:
        return torchvision().MobileNetV2()
    return torchvision().MobileNetV2(
        width_mult=0.5, inverted_residual_setting=[[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 2, 2], [6, 64, 1, 2]])


def dcgan(full):
    from restated.dcgan import Discriminator
    return Discriminator(64 if full else 32)


def pytorch_unet(full):
    from restated.unet import UNet
    return UNet(64 if full else 8)


def tts_angular(full):
    from restated.tts_angular import SpeakerEncoder
    return SpeakerEncoder() if full else SpeakerEncoder(width=64, projection=32)


def soft_actor_critic(full):
    from restated.soft_actor_critic import StochasticActor
    return StochasticActor(width=1024 if full else 256)


def lennard_jones(full):
    from restated.lennard_jones import network
    return network()


def bert(full):
    if importlib.util.find_spec("torchvision"):
        torchvision()  # transformers imports it when it is there
    from transformers import BertConfig, BertForMaskedLM
    small = dict(vocab_size=1000, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                 max_position_embeddings=64)
    return BertForMaskedLM(BertConfig() if full else BertConfig(**small))


ORIGINALS = {
    "alexnet": Original("torchvision", alexnet, image(64)),
    "vgg16": Original("torchvision", vgg16, image(64), tolerance=2e-5),
    "resnet18": Original("torchvision", resnet("BasicBlock", [2, 2, 2, 2]), image(64)),
    "resnet50": Original("torchvision", resnet("Bottleneck", [3, 4, 6, 3]), image(64)),
    "squeezenet1_1": Original("torchvision", lambda full: torchvision().squeezenet1_1(), image(64)),
    "mobilenet_v2": Original("torchvision", mobilenet_v2, image(64)),
    "dcgan": Original("torch", dcgan, image(64, 64), batch=MINI_BATCH),
    # Biases before BatchNorm have no gradient but rounding errors: hence the wider train_tolerance.
    "pytorch_unet": Original("torch", pytorch_unet, lambda full: [((3, 640, 959) if full else (3, 64, 95), None)],
                             train_tolerance=1e-3),
    "tts_angular": Original("torch", tts_angular, lambda full: [((50 if full else 10, 40), None)]),
    "soft_actor_critic": Original("torch", soft_actor_critic, lambda full: [((3,), None)], batch=256),
    "lennard_jones": Original("torch", lennard_jones, lambda full: [((1,), None)], batch=MINI_BATCH),
    "BertForMaskedLM": Original("transformers", bert, lambda full: [((512,), 30522) if full else ((32,), 1000)],
                                tolerance=2e-5, output=lambda value: value.logits),
}
