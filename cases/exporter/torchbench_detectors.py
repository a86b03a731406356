"""Makes the detectors of pytorch/benchmark, whose folders require images of COCO, downloaded weights or CUDA. The networks come
from detectron2 and effdet, with upstream's configurations, random weights and random images."""
import torch

from subject import Subject, batch_size

# Upstream's configuration in detectron2's model zoo.
DETECTRON2 = {
    "detectron2_fasterrcnn_r_101_c4": "COCO-Detection/faster_rcnn_R_101_C4_3x.yaml",
    "detectron2_fasterrcnn_r_101_dc5": "COCO-Detection/faster_rcnn_R_101_DC5_3x.yaml",
    "detectron2_fasterrcnn_r_101_fpn": "COCO-Detection/faster_rcnn_R_101_FPN_3x.yaml",
    "detectron2_fasterrcnn_r_50_c4": "COCO-Detection/faster_rcnn_R_50_C4_1x.yaml",
    "detectron2_fasterrcnn_r_50_dc5": "COCO-Detection/faster_rcnn_R_50_DC5_1x.yaml",
    "detectron2_fasterrcnn_r_50_fpn": "COCO-Detection/faster_rcnn_R_50_FPN_1x.yaml",
    "detectron2_fcos_r_50_fpn": "COCO-Detection/fcos_R_50_FPN_1x.py",
    "detectron2_maskrcnn": "common/models/mask_rcnn_fpn.py",
    "detectron2_maskrcnn_r_101_c4": "COCO-InstanceSegmentation/mask_rcnn_R_101_C4_3x.yaml",
    "detectron2_maskrcnn_r_101_fpn": "COCO-InstanceSegmentation/mask_rcnn_R_101_FPN_3x.yaml",
    "detectron2_maskrcnn_r_50_c4": "COCO-InstanceSegmentation/mask_rcnn_R_50_C4_1x.yaml",
    "detectron2_maskrcnn_r_50_fpn": "COCO-InstanceSegmentation/mask_rcnn_R_50_FPN_1x.yaml",
}
# With random weights no score exceeds the default thresholds. The mini preset keeps few candidates, also in training.
KEPT = {"test_score_thresh": 0.0}
MINI_KEPT = {"test_topk_per_image": 10, "test_topk_candidates": 20, "max_detections_per_image": 10, "batch_size_per_image": 16}
MINI_PROPOSALS = {"pre_nms_topk": 100, "post_nms_topk": 20}


class Detector(torch.nn.Module):
    """A detector of detectron2 that takes a batch of images [batch, 3, height, width]. It returns the tensors of the detected
    instances, as upstream's `eval()` does. In training it returns the losses for one fixed object."""

    def __init__(self, model, height, width):
        super().__init__()
        self.model = model
        self.register_buffer("boxes", torch.tensor([[width / 8, height / 8, width / 2, height / 2]]))
        self.register_buffer("classes", torch.tensor([1]))
        masks = torch.zeros(1, height, width, dtype=torch.bool)
        masks[:, height // 8:height // 2, width // 8:width // 2] = True
        self.register_buffer("masks", masks)

    def forward(self, images):
        from detectron2.utils.events import EventStorage
        height, width = images.shape[-2:]
        items = [{"image": image, "height": height, "width": width} for image in images]
        if not self.training:
            return [value for item in self.model(items) for value in tensors_of(item["instances"])]
        for item in items:
            item["instances"] = self.objects(height, width)
        with EventStorage():
            return self.model(items)

    def objects(self, height, width):
        from detectron2.structures import BitMasks, Boxes, Instances
        return Instances((height, width), gt_boxes=Boxes(self.boxes), gt_classes=self.classes, gt_masks=BitMasks(self.masks))


def tensors_of(instances):
    """Returns the fields of Instances, and of their Boxes, as tensors."""
    return [getattr(value, "tensor", value) for value in instances.get_fields().values()]


def network(configuration):
    from detectron2 import model_zoo
    from detectron2.config import instantiate
    from detectron2.modeling import build_model
    settings = model_zoo.get_config(configuration)
    if configuration.endswith(".yaml"):
        settings.MODEL.DEVICE = "cpu"
        return build_model(settings)
    if "fcos" in configuration:
        settings.model.head.norm = "BN"  # as upstream
    return instantiate(settings.model)


def bound_activations(model):
    """Scales images and residual branches. Frozen batch norms do not normalise, so the activations of a random network would grow
    until every score is 0 or 1."""
    from detectron2.layers import FrozenBatchNorm2d
    model.pixel_std.fill_(58.0)
    for name, module in model.named_modules():
        if isinstance(module, FrozenBatchNorm2d) and name.endswith("conv3.norm"):
            module.weight.fill_(0.2)


def keep_few(model, small):
    for module in model.modules():
        for name, value in {**KEPT, **(MINI_KEPT if small else {})}.items():
            if hasattr(module, name):
                setattr(module, name, value)
        for name, value in (MINI_PROPOSALS if small else {}).items():
            if isinstance(getattr(module, name, None), dict):  # key: whether the model trains
                setattr(module, name, {True: value, False: value})


def detectron2(name):
    """Returns the maker of a detector."""
    def make(options):
        small = options.preset == "mini"
        model = network(DETECTRON2[name])
        bound_activations(model)
        keep_few(model, small)
        height, width = (128, 192) if small else (800, 1088)
        images = torch.randint(256, (batch_size(options, 1, 1), 3, height, width)).float()
        return Subject(Detector(model, height, width), (images,), packages=("detectron2", "torchvision"))
    return make


class Trained(torch.nn.Module):
    """A detector of effdet with its loss for one fixed object."""

    def __init__(self, model, side):
        super().__init__()
        self.model = model
        self.register_buffer("boxes", torch.tensor([[side / 8, side / 8, side / 2, side / 2]]))
        self.register_buffer("classes", torch.ones(1))

    def forward(self, images):
        count = len(images)
        return self.model(images, {"bbox": self.boxes.expand(count, 1, 4), "cls": self.classes.expand(count, 1)})


def efficientdet(options):
    """Makes timm_efficientdet. Upstream's folder calls `Tensor.cuda()`, and the network does not."""
    from effdet import create_model
    side, training = 128 if options.preset == "mini" else 640, options.mode == "train"
    model = create_model("tf_efficientdet_d1", bench_task="train" if training else "predict", pretrained=False,
                         pretrained_backbone=False, image_size=(side, side), bench_labeler=training)
    images = torch.randn(batch_size(options, 2, 16 if training else 128), 3, side, side)
    return Subject(Trained(model, side) if training else model, (images,), packages=("effdet", "timm", "torchvision"),
                   loss="loss" if training else None)


MAKERS = {**{name: detectron2(name) for name in DETECTRON2}, "timm_efficientdet": efficientdet}
