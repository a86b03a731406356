"""Makes image models of pytorch/benchmark whose folder requires data, downloaded weights or CUDA. The network comes from the
folder's own files or from its package, with upstream's arguments and random inputs of upstream's shapes."""
import importlib
import os

import torch

import torchbench_package as package
from subject import Subject, batch_size


def background_matting(options):
    networks = package.part("Background_Matting", "networks")
    model = networks.ResnetConditionHR(input_nc=(3, 3, 1, 4), output_nc=4, n_blocks1=7, n_blocks2=3)
    model.apply(networks.conv_init)
    side, batch = (128, 2) if options.preset == "mini" else (512, 1)
    batch = options.batch_size or batch
    return Subject(model, tuple(torch.rand(batch, channels, side, side) * 2 - 1 for channels in (3, 3, 1, 4)))


def super_slomo(options):
    """Makes Super_SloMo. Its grid has a fixed size of 352; the mini preset has a smaller one."""
    with package.without_weights():
        model = package.part("Super_SloMo", "model_wrapper").Model("cpu")
    batch, side = batch_size(options, 2, 6), 352
    if options.preset == "mini":
        side = 64
        model.trainFlowBackWarp = package.part("Super_SloMo", "slomo_model").backWarp(side, side, "cpu")
    return Subject(model, (torch.randint(7, (batch,)), *(torch.randn(batch, 3, side, side) for _ in range(3))))


def stargan(options):
    model = package.part("pytorch_stargan", "model").Generator(64, 5, 6)
    batch, side = batch_size(options, 2, 16), 64 if options.preset == "mini" else 128
    return Subject(model, (torch.rand(batch, 3, side, side) * 2 - 1, torch.randint(2, (batch, 5)).float()))


def yolov3(options):
    models = package.part("yolov3", "yolo_models")
    model = models.Darknet(os.path.join(package.folder_of("yolov3")[0], "cfg", "yolov3-spp.cfg"), 512)
    sides = (96, 128) if options.preset == "mini" else (384, 512)
    return Subject(model, (torch.rand(batch_size(options, 2, 8), 3, *sides),))


def sam(options):
    return segment_anything(package.part("sam", "build_sam"), options, {})


def sam_fast(options):
    os.environ["SEGMENT_ANYTHING_FAST_USE_FLASH_4"] = "0"  # that kernel needs Triton; the package has another one
    build_sam = importlib.import_module("segment_anything_fast.build_sam")
    points = {"point_coords": torch.tensor([[[1, 1]]]), "point_labels": torch.tensor([[1]])}
    return segment_anything(build_sam, options, points)


def segment_anything(build, options, points):
    """Makes the model. It pads the image to 1024 pixels per side in both presets. The mini preset has fewer and narrower
    layers."""
    small = dict(encoder_embed_dim=64, encoder_depth=2, encoder_num_heads=2, encoder_global_attn_indexes=[1])
    model = build._build_sam(**small) if options.preset == "mini" else build.build_sam_vit_h()
    for name, parameter in model.named_parameters():  # zero before training
        if "rel_pos" in name or name.endswith("pos_embed"):
            torch.nn.init.normal_(parameter, std=0.02)
    return Subject(model, ([{"image": torch.randn(3, 256, 256), "original_size": (256, 256), **points}], False))


def doctr_detection(options):
    from doctr.models import db_resnet50
    side = 256 if options.preset == "mini" else 1024
    model = db_resnet50(pretrained=False, pretrained_backbone=False, exportable=True)
    return Subject(model, (torch.randn(batch_size(options, 2, 1), 3, side, side),), packages=("python_doctr",))


def doctr_recognition(options):
    from doctr.models import crnn_vgg16_bn
    model = crnn_vgg16_bn(pretrained=False, pretrained_backbone=False, exportable=True)
    return Subject(model, (torch.randn(batch_size(options, 2, 1), 3, 32, 128),), packages=("python_doctr",))


def clip(options):
    from torchmultimodal.models.clip.model import clip_vit_b32
    words = torch.randint(1, 49408, (batch_size(options, 2, 32), 77))
    model = clip_vit_b32()
    cls = type(model)  # returns a class of outputs, which forward below turns into a tuple
    model.__class__ = type(cls.__name__, (cls,), {"forward": lambda self, image, text: tuple(cls.forward(self, image, text))})
    return Subject(model, (torch.randn(batch_size(options, 2, 32), 3, 224, 224), words))


def omniglot(name):
    """Returns a function that makes the network, with random images of the sizes in upstream's data file."""
    def make(options):
        import numpy
        images = lambda *shape: numpy.random.RandomState(options.seed).rand(*shape, 1, 28, 28).astype("float32")  # noqa: E731
        labels = lambda *shape: numpy.random.RandomState(options.seed).randint(0, 5, shape)  # noqa: E731
        with package.loaded((images(32, 5), labels(32, 5), images(32, 75), labels(32, 75))):
            benchmark = package.whole(name).Model(test="eval", device="cpu", batch_size=None)
        return Subject(*benchmark.get_module())
    return make


MAKERS = {"Background_Matting": background_matting, "Super_SloMo": super_slomo, "pytorch_stargan": stargan, "yolov3": yolov3,
          "sam": sam, "sam_fast": sam_fast, "doctr_det_predictor": doctr_detection, "doctr_reco_predictor": doctr_recognition,
          "torch_multimodal_clip": clip, "maml_omniglot": omniglot("maml_omniglot"),
          "functorch_maml_omniglot": omniglot("functorch_maml_omniglot")}
