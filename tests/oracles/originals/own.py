"""Originals that no package contains, from restated/."""
from .entry import MINI_BATCH, Original, image, spec


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


def dlrm(full):
    from restated.dlrm import Recommender
    return Recommender() if full else Recommender(1000, (512, 64, 16), (32, 32, 1))


def dlrm_inputs(full):
    batch, rows = (1, 1_000_000) if full else (MINI_BATCH, 1000)
    return [spec([batch, 512]), spec([8, batch], 100 * batch, ascending=True), spec([8, 100 * batch], rows)]


def equation_of_state(full):
    from restated.equation_of_state import EquationOfState
    return EquationOfState()


def equation_of_state_inputs(full):
    side, depth = (204, 26) if full else (32, 4)
    cells = [side, side, depth]
    return [spec(cells, range=[0.01, 10]), spec(cells, range=[-12, 20]), spec([1, 1, depth], range=[0, 1000])]


def turbulent_kinetic_energy(full):
    from restated.turbulent_kinetic_energy import TurbulentKineticEnergy
    return TurbulentKineticEnergy()


def turbulent_kinetic_energy_inputs(full):
    side, depth = (204, 26) if full else (30, 4)  # with a side of 32, the sample would take only every third element
    any_sign, positive = {"range": [-1.7, 1.7]}, {"range": [0.5, 2]}
    cells, moments = [side, side, depth], [side, side, depth, 3]
    lengths = [[side]] * 4 + [[depth]] * 2 + [[side]] * 2
    return [*(spec(moments, **any_sign) for _ in "uvw"), *(spec(cells, range=[0, 1]) for _ in "uvw"),
            *(spec(length, **positive) for length in lengths), spec([side, side], depth), spec(cells, **positive),
            spec(cells, **positive), spec(cells, **any_sign), spec([side, side], **any_sign),
            *(spec(moments, **any_sign) for _ in range(2))]


def isoneutral_mixing(full):
    from restated.isoneutral_mixing import IsoneutralMixing
    return IsoneutralMixing()


def isoneutral_mixing_inputs(full):
    side, depth = (204, 26) if full else (34, 5)  # with these sizes, the sample has elements of every level and corner
    cells, moments, corners = [side, side, depth], [side, side, depth, 3], [side, side, depth, 2, 2]
    return [*(spec(cells, range=[0, 1]) for _ in "tuvw"), *(spec([side], range=[5e4, 2e5]) for _ in range(4)),
            *(spec([depth], range=[50, 200]) for _ in range(2)), *(spec([side], range=[0.5, 1]) for _ in range(2)),
            spec(moments, range=[34, 36]), spec(moments, range=[-2, 20]), spec([depth], range=[-5000, 0]),
            *(spec(cells, range=[0, 2000]) for _ in range(3)), spec(cells, range=[0, 1e-3]),
            *(spec(corners, range=[-1e-3, 1e-3]) for _ in range(4))]  # edges of the results, of the same magnitude


def cyclegan(full):
    from restated.cyclegan import Generator
    return Generator() if full else Generator(maps=16, blocks=3)


def edsr(full):
    from restated.edsr import Edsr
    return Edsr() if full else Edsr(width=16, blocks=4)


def demucs(full):
    from restated.demucs import Demucs
    return Demucs() if full else Demucs(channels=8, depth=3, shift=100)


def speech_transformer(full):
    from restated.speech_transformer import SpeechTransformer
    return SpeechTransformer() if full else SpeechTransformer(features=32, vocabulary=1000, width=64, heads=4, hidden=128, layers=2)


def phlippe_resnet(full):
    from restated.phlippe import ResNet
    return ResNet() if full else ResNet((1, 1, 1))


def phlippe_densenet(full):
    from restated.phlippe import DenseNet
    return DenseNet() if full else DenseNet((2, 2, 2, 2))


def omniglot(**norm):
    def build(full):
        from restated.omniglot import network
        return network(64 if full else 16, **norm)
    return build


def llama(full):
    from restated.llama import Llama
    return Llama() if full else Llama(64, layers=2, heads=4, hidden=192, longest=16)


def learning_to_paint(full):
    from restated.learning_to_paint import Actor
    return Actor() if full else Actor(1)


def yolov3(full):
    from restated.yolov3 import Darknet
    return Darknet() if full else Darknet((1, 1, 1, 1, 1), width=4)


def speech_inputs(full):
    batch, frames, features, words, vocabulary = (1, 512, 320, 32, 4233) if full else (MINI_BATCH, 24, 32, 8, 1000)
    return [spec([batch, frames, features]), spec([batch], frames + 1, low=frames // 2),
            spec([batch, words], vocabulary - 2, ragged=True)]


ORIGINALS = {
    "dcgan": Original("torch", dcgan, image(64, 64), batch=MINI_BATCH),
    # The gradients of biases before BatchNorm consist only of rounding errors.
    "pytorch_unet": Original("torch", pytorch_unet, lambda full: [((3, 640, 959) if full else (3, 64, 95), None)],
                             double=True),
    "tts_angular": Original("torch", tts_angular, lambda full: [((50 if full else 10, 40), None)]),
    "nvidia_deeprecommender": Original("torch", deep_recommender, lambda full: [((197951 if full else 2000,), None)]),
    "soft_actor_critic": Original("torch", soft_actor_critic, lambda full: [((3,), None)], batch=256),
    "lennard_jones": Original("torch", lennard_jones, lambda full: [((1,), None)], batch=MINI_BATCH),
    "dlrm": Original("torch", dlrm, dlrm_inputs),
    "pyhpc_equation_of_state": Original("torch", equation_of_state, equation_of_state_inputs, tolerance=1e-8,
                                        batch=1_048_576, mini_batch=4096),
    "pyhpc_turbulent_kinetic_energy": Original("torch", turbulent_kinetic_energy, turbulent_kinetic_energy_inputs,
                                               tolerance=1e-12, batch=1_048_576),
    "pyhpc_isoneutral_mixing": Original("torch", isoneutral_mixing, isoneutral_mixing_inputs, tolerance=1e-10,
                                        batch=1_048_576, mini_batch=MINI_BATCH),
    "pytorch_CycleGAN_and_pix2pix": Original("torch", cyclegan, image(32, 256)),
    "edsr_baseline_x2": Original("torch", edsr, image(24, 48)),
    "yolov3": Original("torch", yolov3, lambda full: [((3, 384, 512) if full else (3, 64, 96), None)]),
    "phlippe_resnet": Original("torch", phlippe_resnet, image(32, 32)),
    # Has biases before BatchNorm, as pytorch_unet.
    "phlippe_densenet": Original("torch", phlippe_densenet, image(32, 32), double=True),
    "maml_omniglot": Original("torch", omniglot(momentum=1), lambda full: [((1, 28, 28), None)], batch=5, double=True),
    "functorch_maml_omniglot": Original("torch", omniglot(track_running_stats=False),
                                        lambda full: [((5, 1, 28, 28), None)], batch=1, whole_shapes=True, double=True),
    "LearningToPaint": Original("torch", learning_to_paint, lambda full: [((9, 128, 128), None)]),
    "llama": Original("torch", llama, lambda full: [((2,), 32)]),
    "demucs": Original("torch", demucs, lambda full: [((5, 2, 426_888 if full else 3192), None)]),
    "speech_transformer": Original("torch", speech_transformer, speech_inputs),
    "speech_transformer_masked": Original("torch", speech_transformer, speech_inputs),
}
