"""torchvision's models."""
import functools
import importlib.util
import pathlib
import re
import sys

import torch
from torch import nn

from .entry import Called, Original, image, spec


@functools.cache
def torchvision():
    """Returns torchvision.models, even if the installed build is for another device and its compiled operators do not
    load. Classification models do not need these operators. They are then declared by name, so that the Python part
    imports."""
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


def published(name):
    """Makes the full preset by its name, with random weights."""
    return getattr(torchvision(), name)(weights=None)


def alexnet(full):
    model = torchvision().AlexNet()
    if not full:
        model.classifier[1], model.classifier[4], model.classifier[6] = (
            nn.Linear(256 * 36, 256), nn.Linear(256, 256), nn.Linear(256, 1000))
    return model


def vgg(name):
    def build(full):
        vgg = torchvision().vgg
        if full:
            return getattr(vgg, name)(init_weights=False)
        features = vgg.make_layers([16, "M", 32, "M", 64, 64, "M", 128, 128, "M"])
        model = vgg.VGG(features, init_weights=False)
        model.classifier[0], model.classifier[3], model.classifier[6] = (
            nn.Linear(128 * 49, 256), nn.Linear(256, 256), nn.Linear(256, 1000))
        return model
    return build


def resnet(block, layers, **width):
    def build(full):
        resnet = torchvision().resnet
        return resnet.ResNet(getattr(resnet, block), layers if full else [2, 1, 1, 1], **width)
    return build


def densenet(name):
    return lambda full: published(name) if full else torchvision().DenseNet(12, (3, 3, 2, 2), 24)


def mobilenet_v2(full):
    if full:
        return torchvision().MobileNetV2()
    return torchvision().MobileNetV2(
        width_mult=0.5, inverted_residual_setting=[[1, 16, 1, 1], [6, 24, 2, 2], [6, 32, 2, 2], [6, 64, 1, 2]])


def mobilenet_v3(name):
    def build(full):
        if full:
            return published(name)
        from torchvision.models.mobilenetv3 import InvertedResidualConfig
        rows = [(16, 3, 16, 16, False, "RE", 1), (16, 3, 64, 24, False, "RE", 2), (24, 5, 72, 40, True, "HS", 2),
                (40, 5, 120, 40, True, "HS", 1)]
        return torchvision().MobileNetV3([InvertedResidualConfig(*row, 1, 1) for row in rows], 256)
    return build


def deeplab(full):
    deeplabv3 = torchvision().segmentation.deeplabv3
    if full:
        return deeplabv3.deeplabv3_mobilenet_v3_large(weights=None, weights_backbone=None)
    from torchvision.models.mobilenetv3 import InvertedResidualConfig
    rows = [(16, 3, 16, 16, False, "RE", 1, 1), (16, 3, 64, 24, False, "RE", 2, 1), (24, 5, 72, 40, True, "HS", 2, 1),
            (40, 5, 120, 40, True, "HS", 1, 2)]
    backbone = torchvision().MobileNetV3([InvertedResidualConfig(*row, 1) for row in rows], 256)
    return deeplabv3._deeplabv3_mobilenetv3(backbone, 21, None)


def mnasnet(full):
    model = published("mnasnet1_0")
    if not full:
        from torchvision.models.mnasnet import _BN_MOMENTUM, _stack
        momentum = _BN_MOMENTUM
        last = nn.Sequential(nn.Conv2d(80, 1280, 1, bias=False), nn.BatchNorm2d(1280, momentum=momentum), nn.ReLU())
        stages = [_stack(16, 24, 3, 2, 3, 2, momentum), _stack(24, 40, 5, 2, 3, 2, momentum), _stack(40, 80, 5, 2, 6, 1, momentum)]
        model.layers = nn.Sequential(*model.layers[:8], *stages, *last)
    return model


def googlenet(full):
    model = torchvision().GoogLeNet(aux_logits=True, init_weights=False)
    if not full:
        model.inception4b = model.inception4c = model.inception5a = nn.Identity()
    return model


def shufflenet(full):
    if full:
        return published("shufflenet_v2_x1_0")
    return torchvision().ShuffleNetV2([2, 3, 2], [24, 48, 96, 192, 1024])


def raft(full):
    flow = torchvision().optical_flow.raft
    if full:
        return flow.raft_small()
    model = flow._raft(
        feature_encoder_layers=(16, 16, 24, 32, 48), feature_encoder_block=flow.BottleneckBlock,
        feature_encoder_norm_layer=nn.InstanceNorm2d, context_encoder_layers=(16, 16, 24, 32, 56),
        context_encoder_block=flow.BottleneckBlock, context_encoder_norm_layer=None, corr_block_num_levels=2,
        corr_block_radius=3, motion_encoder_corr_layers=(32,), motion_encoder_flow_layers=(16, 8),
        motion_encoder_out_channels=26, recurrent_block_hidden_state_size=32, recurrent_block_kernel_size=(3,),
        recurrent_block_padding=(1,), flow_head_hidden_size=32, use_mask_predictor=False)
    return Called(model, functools.partial(type(model).forward, num_flow_updates=2))


def use_restated_operators():
    """Makes torchvision call the restated detection operators if its library is missing."""
    import torchvision as package
    if not package.extension._has_ops():
        from restated.detection_operators import nms, roi_align
        package.ops.boxes.nms = nms
        package.ops.poolers.roi_align = package.models.detection.roi_heads.roi_align = roi_align


def mask_rcnn(full):
    """Builds the variant for the published weights: frozen norms without an epsilon, and three trainable stages."""
    models = torchvision()
    use_restated_operators()
    from torchvision.models.detection import _utils, backbone_utils, faster_rcnn
    from torchvision.ops import FrozenBatchNorm2d
    network = models.resnet.ResNet(models.resnet.Bottleneck, [3, 4, 6, 3] if full else [1, 1, 1, 1],
                                   norm_layer=FrozenBatchNorm2d)
    backbone = backbone_utils._resnet_fpn_extractor(network, 3)
    if full:
        model = models.detection.MaskRCNN(backbone, 91)
    else:
        model = models.detection.MaskRCNN(
            backbone, min_size=64, max_size=128, rpn_post_nms_top_n_train=20, rpn_post_nms_top_n_test=20,
            box_detections_per_img=10, box_head=faster_rcnn.TwoMLPHead(256 * 49, 64),
            box_predictor=faster_rcnn.FastRCNNPredictor(64, 91),
            mask_predictor=models.detection.mask_rcnn.MaskRCNNPredictor(256, 256, 91))
    _utils.overwrite_eps(model, 0.0)
    return Called(model, call_detector)


def call_detector(model, images, *targets):
    if not model.training:
        return model(list(images))
    names = ("boxes", "labels", "masks")
    return model(list(images), [dict(zip(names, (boxes.float(), labels, masks))) for boxes, labels, masks in zip(*targets)])


def detector_inputs(full):
    """Returns images, and for training two labelled boxes per image."""
    side = 224 if full else 64
    batch = 1 if full else 2
    # Values close to the mean. Generated weights amplify differences until softmax is 0 or 1 and boxes are empty.
    images = [spec([batch, 3, side, side], range=[0.41, 0.49] if full else [0.3, 0.6], single=True)]
    targets = [spec([batch, 2, 4], side, ascending=True), spec([batch, 2], 91, low=1), spec([batch, 2, side, side], 2)]
    return images if full else images + targets


def tv(build, side=64, **options):
    return Original("torchvision", build, image(side), **options)


ORIGINALS = {
    "alexnet": tv(alexnet),
    "vgg11": tv(vgg("vgg11"), tolerance=2e-5),
    "vgg16": tv(vgg("vgg16"), tolerance=2e-5),
    "resnet18": tv(resnet("BasicBlock", [2, 2, 2, 2])),
    "resnet34": tv(resnet("BasicBlock", [3, 4, 6, 3])),
    "resnet50": tv(resnet("Bottleneck", [3, 4, 6, 3])),
    "resnet152": tv(resnet("Bottleneck", [3, 8, 36, 3])),
    "functorch_dp_cifar10": Original("torchvision", resnet(
        "BasicBlock", [2, 2, 2, 2], norm_layer=lambda c: nn.GroupNorm(min(c, 32), c)), image(32, 32)),
    # With two threads instead of one, the original's own gradients differ by 1.5e-4.
    "resnext50_32x4d": tv(resnet("Bottleneck", [3, 4, 6, 3], groups=32, width_per_group=4), train_tolerance=1e-3),
    "wide_resnet50_2": tv(resnet("Bottleneck", [3, 4, 6, 3], width_per_group=128)),
    "googlenet": tv(googlenet),
    "densenet121": tv(densenet("densenet121")),
    "densenet161": tv(densenet("densenet161")),
    "densenet169": tv(densenet("densenet169")),
    "densenet201": tv(densenet("densenet201")),
    "squeezenet1_1": tv(lambda full: published("squeezenet1_1")),
    "mobilenet_v2": tv(mobilenet_v2),
    "mobilenet_v3_large": tv(mobilenet_v3("mobilenet_v3_large")),
    "mobilenet_v3_small": tv(mobilenet_v3("mobilenet_v3_small")),
    "deeplabv3_mobilenet_v3_large": tv(deeplab),
    "mnasnet1_0": tv(mnasnet),
    "shufflenet_v2_x1_0": tv(shufflenet),
    # The restated RoIAlign adds its samples in another order than torchvision's operators: the results differ by 8e-6.
    "vision_maskrcnn": Original("torchvision", mask_rcnn, detector_inputs, tolerance=5e-5, training_inputs=True,
                                mini_batch=2),
    # Each refinement reads at the position that the last one computed, which amplifies rounding errors. With two
    # threads instead of one, the original itself differs by 4e-6.
    "raft_small": Original("torchvision", raft, lambda full: 2 * image(64)(full), tolerance=1e-4),
}
