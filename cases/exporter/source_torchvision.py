"""Makes models of torchvision as upstream's torchbench suite does, with random weights."""
import torch

import package_dimensions
from subject import Subject, batch_size

FULL_IMAGE, MINI_IMAGE = 224, 96
# Sizes that the architecture requires.
IMAGE = {"inception_v3": 299, "vit_h_14": 224}
FIXED = ("vit_", "maxvit_")
DETECTION = ("rcnn", "fcos", "retinanet", "ssd")


def image_size(name, options):
    size = IMAGE.get(name, FULL_IMAGE)
    small = options.preset == "mini" and not name.startswith(FIXED) and name not in IMAGE
    return MINI_IMAGE if small else size


def make(name, options):
    import torchvision
    extra = {"weights_backbone": None} if "weights_backbone" in parameters_of(torchvision, name) else {}
    if name in ("inception_v3", "googlenet"):
        extra["init_weights"] = False  # otherwise SciPy's truncated normal takes minutes
    size = image_size(name, options)
    if "rcnn" in name and options.preset == "mini":
        extra |= dict(min_size=size, max_size=2 * size, rpn_post_nms_top_n_test=20, box_detections_per_img=10)
    model = torchvision.models.get_model(name, weights=None, **extra)
    batch = batch_size(options, 2, 16)
    facts = {"packages": ("torchvision",), "suite": "torchbench"}
    if any(part in name for part in DETECTION):
        return Subject(model, ([torch.rand(3, size, size) for _ in range(batch)],), **facts)
    if name.startswith("raft"):
        pair = tuple(torch.rand(batch, 3, 128, 128) * 2 - 1 for _ in range(2))
        return Subject(model, pair, **facts, dynamic=package_dimensions.of_image(dict(enumerate(pair)), smallest=128))
    if is_video(torchvision, name):
        frames, side = (16, 112 if options.preset == "mini" else 224)
        return Subject(model, (torch.randn(batch, 3, frames, side, side),), **facts)
    images = torch.randn(batch, 3, size, size)
    dynamic = {} if name.startswith(FIXED) else package_dimensions.of_image({0: images}, smallest_side(torchvision, name))
    return Subject(model, (images,), **facts, dynamic=dynamic)


def smallest_side(torchvision, name):
    """Returns the smallest side that torchvision documents with the weights of a network; 0 without any."""
    try:
        weights = torchvision.models.get_model_weights(name)
    except (AttributeError, ValueError):
        return 0
    return max((side for one in weights for side in one.meta.get("min_size", (0,))), default=0)


def parameters_of(torchvision, name):
    import inspect
    return inspect.signature(torchvision.models.get_model_builder(name)).parameters


def is_video(torchvision, name):
    return torchvision.models.get_model_builder(name).__module__.startswith("torchvision.models.video")
