"""Makes models as upstream's timm suite does: without dropout, with random integers from 0 to 255 as pixels, which are then
scaled to mean 0 and standard deviation 1."""
import torch

import package_dimensions
from subject import Subject, batch_size

# Upstream's batch sizes after division by its divisors, if not 128.
BATCH = {
    "beit_base_patch16_224": 64, "cait_m36_384": 4, "convit_base": 64, "convmixer_768_32": 32, "convnext_base": 64,
    "crossvit_9_240": 256, "cspdarknet53": 64, "deit_base_distilled_patch16_224": 64, "dpn107": 64,
    "ese_vovnet19b_dw": 256, "fbnetc_100": 512, "fbnetv3_b": 256, "ghostnet_100": 512, "gluon_inception_v3": 256,
    "jx_nest_base": 32, "lcnet_050": 256, "levit_128": 1024, "mnasnet_100": 512, "mobilenetv3_large_100": 512,
    "mobilevit_s": 64, "pit_b_224": 64, "pnasnet5large": 16, "poolformer_m36": 64, "regnety_002": 1024, "resnest101e": 64,
    "rexnet_100": 256, "sebotnet33ts_256": 64, "swin_base_patch4_window7_224": 64, "swsl_resnext101_32x16d": 32,
    "vit_base_patch16_224": 64, "volo_d1_224": 64, "xcit_large_24_p8_224": 16,
}
# Names that timm has renamed.
RENAMED = {"gluon_inception_v3": "inception_v3", "adv_inception_v3": "inception_v3",
           "swsl_resnext101_32x16d": "resnext101_32x16d", "jx_nest_base": "nest_base_jx"}
MINI_IMAGE = 96
# Fewer blocks in the mini preset. With all blocks, the model and its float64 reference would take many minutes.
SMALL = {"cait_m36_384": dict(depth=2, img_size=MINI_IMAGE), "xcit_large_24_p8_224": dict(depth=2),
         "vit_base_patch14_dinov2.lvd142m": dict(depth=2, img_size=98)}
OWN_SIZE = ("halo",)  # architectures whose block size must divide the image's side in each stage


def image_size(model, options):
    """Returns timm's image size for evaluation or training as (channels, height, width). The mini preset has at most MINI_IMAGE
    pixels per side if the model accepts any size."""
    from timm.data import resolve_data_config
    channels, height, width = resolve_data_config({}, model=model, use_test_size=options.mode == "eval")["input_size"]
    if options.preset == "mini" and not has_fixed_size(model):
        height, width = min(height, MINI_IMAGE), min(width, MINI_IMAGE)
    return channels, height, width


def has_fixed_size(model):
    config = getattr(model, "default_cfg", {})
    return config.get("fixed_input_size", False) or any(part in config.get("architecture", "") for part in OWN_SIZE)


def draw_zeros(model):
    """Replaces weights that are initialised to zero by random ones, because otherwise all outputs would be zero."""
    for parameter in model.parameters():
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)


def make(name, options):
    import timm
    known = name if timm.is_model(name) else RENAMED.get(name, name)
    small = SMALL.get(name, {}) if options.preset == "mini" else {}
    model = timm.create_model(known, pretrained=False, in_chans=3, drop_rate=0.0, **small)
    draw_zeros(model)
    size = (3, small["img_size"], small["img_size"]) if "img_size" in small else image_size(model, options)
    torch.manual_seed(options.seed)
    pixels = torch.randint(256, (batch_size(options, 2, BATCH.get(name, 128)), *size)).float()
    least = max((getattr(model, "default_cfg", {}).get("min_input_size") or (0,))[1:], default=0)
    dynamic = {} if "img_size" in small or has_fixed_size(model) else package_dimensions.of_image({0: pixels}, least)
    return Subject(model, ((pixels - pixels.mean()) / pixels.std(),), packages=("timm", "torchvision"), suite="timm",
                   dynamic=dynamic)
