"""Originals that no package offers: restated/."""
from .entry import MINI_BATCH, Original, image


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


def deep_recommender(full):
    from restated.deep_recommender import AutoEncoder
    return AutoEncoder() if full else AutoEncoder((2000, 64, 64, 128))


def lennard_jones(full):
    from restated.lennard_jones import network
    return network()


ORIGINALS = {
    "dcgan": Original("torch", dcgan, image(64, 64), batch=MINI_BATCH),
    # Biases before BatchNorm have no gradient but rounding errors.
    "pytorch_unet": Original("torch", pytorch_unet, lambda full: [((3, 640, 959) if full else (3, 64, 95), None)],
                             double=True),
    "tts_angular": Original("torch", tts_angular, lambda full: [((50 if full else 10, 40), None)]),
    "nvidia_deeprecommender": Original("torch", deep_recommender, lambda full: [((197951 if full else 2000,), None)]),
    "soft_actor_critic": Original("torch", soft_actor_critic, lambda full: [((3,), None)], batch=256),
    "lennard_jones": Original("torch", lennard_jones, lambda full: [((1,), None)], batch=MINI_BATCH),
}
