"""timm's models."""
import dataclasses
import functools
import importlib

from torch import nn

from .entry import Original, image
from .vision import torchvision


def models():
    torchvision()  # timm imports torchvision
    import timm.models
    return timm.models


def made(name):
    """Makes the full preset by its name, with random weights."""
    torchvision()
    import timm
    return timm.create_model(name, pretrained=False)


def vision_transformer(name, kind="VisionTransformer", **mini):
    def build(full):
        return getattr(models().vision_transformer if kind == "VisionTransformer" else models().deit, kind)(
            **{"img_size": 64, "embed_dim": 96, "depth": 2, "num_heads": 3, **mini}) if not full else made(name)
    return build


def mlp_mixer(name, ratio, block, mlp="Mlp", norm="LayerNorm"):
    def build(full):
        if full:
            return made(name)
        mixer = models().mlp_mixer
        act = {"act_layer": nn.SiLU} if mlp == "GluMlp" else {}
        norm_layer = mixer.Affine if norm == "Affine" else functools.partial(nn.LayerNorm, eps=1e-6)
        return mixer.MlpMixer(img_size=64, num_blocks=2, embed_dim=64, mlp_ratio=ratio, mlp_layer=getattr(mixer, mlp),
                              block_layer=getattr(mixer, block), norm_layer=norm_layer, **act)
    return build


def convmixer(name, kernel, patch, act):
    def build(full):
        if full:
            return made(name)
        return models().convmixer.ConvMixer(96, 2, kernel, patch, act_layer=getattr(nn, act))
    return build


def convnext(name, **kind):
    def build(full):
        return made(name) if full else models().convnext.ConvNeXt(depths=(1, 1, 1, 1), dims=(16, 32, 64, 128), **kind)
    return build


def repvgg(deployed):
    def build(full):
        byobnet = models().byobnet
        if full:
            model = made("repvgg_a2")
        else:
            blocks = tuple(byobnet.ByoBlockCfg(type="rep", d=2, c=c, s=2, gs=0) for c in (16, 32))
            model = byobnet.ByobNet(byobnet.ByoModelCfg(blocks=blocks, stem_type="rep", stem_chs=16))
        if deployed:
            from timm.utils import reparameterize_model
            model = reparameterize_model(model)
            for parameter in model.parameters():
                parameter.requires_grad_(True)  # merged parameters are detached
        return model
    return build


def efficientnet(name, squeeze="_se0.25", act="SiLU", first="ds", features=1280, **more):
    def build(full):
        if full:
            return made(name)
        rows = [f"{first}_r1_k3_s1_e1_c16", "ir_r2_k3_s2_e6_c24", "ir_r1_k5_s2_e3_c40"]
        stages = models()._efficientnet_builder.decode_arch_def([[row + squeeze] for row in rows])
        return models().efficientnet.EfficientNet(block_args=stages, stem_size=16, num_features=features,
                                                  act_layer=getattr(nn, act), **more)
    return build


MIXED_ROWS = [["ds_r1_k3_s1_e1_c16"], ["ir_r1_k3.5.7_a1.1_p1.1_s2_e6_c24", "ir_r1_k3_a1.1_p1.1_s1_e3_c24"],
              ["ir_r1_k3.5.7.9_p1.1_s2_e3_c40_se0.5_nsw"]]


def mixnet(name, **more):
    def build(full):
        if full:
            return made(name)
        stages = models()._efficientnet_builder.decode_arch_def(MIXED_ROWS)
        return models().efficientnet.EfficientNet(block_args=stages, stem_size=16, num_features=1536, **more)
    return build


V3_ROWS = [["ds_r1_k3_s1_e1_c16"], ["ir_r2_k3_s2_e6_c24"], ["ir_r1_k5_s2_e3_c40_se0.25"], ["cn_r1_k1_s1_c240"]]
LIGHT_ROWS = [["dsa_r1_k3_s1_c16"], ["dsa_r2_k3_s2_c32"], ["dsa_r1_k5_s2_c40_se0.25"]]


def mobilenet_v3(name, rows=V3_ROWS, features=1280, squeeze={"force_act_layer": nn.ReLU}, **more):
    def build(full):
        if full:
            return made(name)
        builder = models()._efficientnet_builder
        squeezed = functools.partial(models()._efficientnet_blocks.SqueezeExcite, gate_layer="hard_sigmoid",
                                     rd_round_fn=builder.round_channels, **squeeze)
        return models().mobilenetv3.MobileNetV3(block_args=builder.decode_arch_def(rows), stem_size=16,
                                                num_features=features, act_layer=nn.Hardswish, se_layer=squeezed, **more)
    return build


def inception_v3(full):
    model = made("inception_v3")
    if not full:
        blocks = importlib.import_module("timm.models.inception_v3")  # the package's attribute is a function
        conv = functools.partial(blocks.ConvNormAct, padding=0, norm_kwargs={"eps": 1e-3}, act_layer="relu")
        model.Mixed_6a = blocks.InceptionB(256, conv_block=conv)
        model.Mixed_6b = blocks.InceptionC(736, channels_7x7=128, conv_block=conv)
        for name in ("5c", "5d", "6c", "6d", "6e", "7c"):
            setattr(model, f"Mixed_{name}", nn.Identity())
    return model


def swin(name):
    def build(full):
        return made(name) if full else models().swin_transformer.SwinTransformer(
            img_size=32, window_size=4, embed_dim=24, depths=(2, 2), num_heads=(2, 4))
    return build


def beit(full):
    return made("beit_base_patch16_224") if full else models().beit.Beit(
        img_size=64, embed_dim=96, depth=2, num_heads=3, use_abs_pos_emb=False, use_rel_pos_bias=True, init_values=0.1)


def nfnet(name):
    def build(full):
        if full:
            return made(name)
        nfnet = models().nfnet
        return nfnet.NormFreeNet(dataclasses.replace(
            nfnet.model_cfgs[name], depths=(1, 1, 2, 1), channels=(32, 64, 128, 128), stem_chs=32, group_size=8,
            num_features=192))
    return build


def levit(full):
    return made("levit_128") if full else models().levit.LevitDistilled(
        img_size=128, embed_dim=(64, 96), key_dim=16, num_heads=(2, 3), depth=(1, 1))


def mobilevit(full):
    if full:
        return made("mobilevit_s")
    mobilevit = models().mobilevit
    plain, mixed = mobilevit._inverted_residual_block, mobilevit._mobilevit_block
    blocks = (plain(d=1, c=16, s=1), plain(d=1, c=24, s=2),
              mixed(d=1, c=32, s=2, transformer_dim=48, transformer_depth=1, patch_size=2),
              mixed(d=1, c=48, s=2, transformer_dim=64, transformer_depth=1, patch_size=2))
    byobnet = models().byobnet
    return byobnet.ByobNet(byobnet.ByoModelCfg(blocks=blocks, stem_chs=16, stem_type="3x3", stem_pool="", downsample="",
                                               act_layer="silu", num_features=128))


def xcit(name, **mini):
    def build(full):
        return made(name) if full else models().xcit.Xcit(
            img_size=64, patch_size=8, embed_dim=64, depth=2, num_heads=4, **mini)
    return build


def hrnet(full):
    if full:
        return made("hrnet_w18")
    stages = {f"stage{i}": dict(num_modules=1, num_branches=i, block_type="BASIC" if i > 1 else "BOTTLENECK",
                                num_blocks=(1,) * i, num_channels=(64,) if i == 1 else tuple(8 << k for k in range(i)),
                                fuse_method="SUM") for i in (1, 2, 3, 4)}
    return models().hrnet.HighResolutionNet(dict(stem_width=64, **stages))


def volo(full):
    return made("volo_d1_224") if full else models().volo.VOLO(
        (1, 1, 1, 1), img_size=64, embed_dims=(48, 96, 96, 96), num_heads=(2, 4, 4, 4))


def regnet(full):
    if full:
        return made("regnety_002")
    model = made("regnety_002")
    for stage in (model.s3, model.s4):
        for name in [name for name, _ in stage.named_children() if name != "b1"]:
            delattr(stage, name)
    return model


def wide_regnet(full):
    regnet = models().regnet
    return made("regnety_120") if full else regnet.RegNet(
        regnet.RegNetCfg(w0=56, wa=56, wm=1.6, group_size=28, depth=4, se_ratio=0.25))


def resnext(full):
    resnet = models().resnet
    return made("resnext101_32x16d") if full else resnet.ResNet(
        resnet.Bottleneck, (2, 1, 1, 1), cardinality=32, base_width=16)


def ghostnet(full):
    if full:
        return made("ghostnet_100")
    stages = [[[3, 16, 16, 0, 1]], [[3, 48, 24, 0, 2]], [[3, 72, 24, 0, 1]], [[5, 72, 40, 0.25, 2]]]
    return models().ghostnet.GhostNet(stages, drop_rate=0.0)  # no dropout layer that a test could switch off later


def res2net(name, base_width, scale, cardinality=1):
    def build(full):
        if full:
            return made(name)
        return models().resnet.ResNet(models().res2net.Bottle2neck, (2, 1, 1, 1), base_width=base_width,
                                      cardinality=cardinality, block_args=dict(scale=scale))
    return build


def rexnet(full):
    return made("rexnet_100") if full else models().rexnet.RexNet(depth_mult=1 / 3)


def poolformer(full):
    if full:
        return made("poolformer_m36")
    metaformer = models().metaformer
    return metaformer.MetaFormer(
        depths=(1, 1, 1, 1), dims=(16, 32, 64, 128), downsample_norm=None, mlp_act=nn.GELU, mlp_bias=True,
        norm_layers=metaformer.GroupNorm1, layer_scale_init_values=1e-6, res_scale_init_values=None, use_mlp_head=False)


def cait(full):
    return made("cait_m36_384") if full else models().cait.Cait(img_size=64, embed_dim=96, depth=2, num_heads=3)


def pit(full):
    return made("pit_b_224") if full else models().pit.PoolingVisionTransformer(
        img_size=56, patch_size=14, stride=7, base_dims=(16, 16, 16), depth=(1, 1, 1), heads=(2, 4, 8))


def vovnet(name):
    def build(full):
        if full:
            return made(name)
        vovnet = models().vovnet
        config = dict(vovnet.model_cfgs[name], stem_chs=[16, 16, 24], stage_conv_chs=[16, 20, 24, 28],
                      stage_out_chs=[32, 48, 64, 80])
        config["block_per_stage"] = [*config["block_per_stage"][:3], 1]
        return vovnet.VovNet(config)
    return build


def cspdarknet(full):
    if full:
        return made("cspdarknet53")
    cspnet = models().cspnet
    config = cspnet.model_cfgs["cspdarknet53"]
    stages = dataclasses.replace(config.stages, **{key: value[:3] for key, value in vars(config.stages).items()}
                                 | dict(depth=(1, 2, 1), out_chs=(16, 32, 64)))
    return cspnet.CspNet(dataclasses.replace(config, stages=stages))


def coat(full):
    return made("coat_lite_mini") if full else models().coat.CoaT(
        img_size=64, patch_size=4, embed_dims=(16, 32, 64, 64), serial_depths=(2, 1, 1, 1), mlp_ratios=(8, 8, 4, 4))


def visformer(full):
    return made("visformer_small") if full else models().visformer.Visformer(
        img_size=64, init_channels=16, embed_dim=96, depth=(1, 1, 1), num_heads=3, attn_stage="011", spatial_conv="100",
        norm_layer=nn.BatchNorm2d, conv_init=True, embed_norm=nn.BatchNorm2d)


def twins(full):
    return made("twins_pcpvt_base") if full else models().twins.Twins(
        img_size=64, embed_dims=(16, 32, 48, 64), num_heads=(1, 2, 3, 4), mlp_ratios=(8, 8, 4, 4), depths=(2, 1, 1, 1))


def crossvit(full):
    return made("crossvit_9_240") if full else models().crossvit.CrossVit(
        img_size=120, img_scale=(1.0, 224 / 240), patch_size=(12, 16), embed_dim=(32, 48), depth=((1, 2, 0),) * 2,
        num_heads=(2, 2), mlp_ratio=(3, 3, 1))


def convit(full):
    return made("convit_base") if full else models().convit.ConVit(
        img_size=64, embed_dim=16, depth=3, num_heads=4, local_up_to_layer=2)


def nest(full):
    return made("nest_base_jx") if full else models().nest.Nest(
        img_size=64, embed_dims=(32, 48, 64), num_heads=(2, 3, 4), depths=(1, 1, 2), pad_type="same")


def tnt(full):
    return made("tnt_s_patch16_224") if full else models().tnt.TNT(
        img_size=64, embed_dim=96, inner_dim=12, depth=2, num_heads_outer=3)


def image_model(build, side=64, side_full=224, **options):
    return Original("timm", build, image(side, side_full), **options)


ORIGINALS = {
    "vit_small_patch16_224": image_model(vision_transformer("vit_small_patch16_224")),
    "vit_base_patch16_224": image_model(vision_transformer("vit_base_patch16_224")),
    "vit_giant_patch14_224": image_model(
        vision_transformer("vit_giant_patch14_224", img_size=56, patch_size=14, mlp_ratio=48 / 11), side=56),
    "deit_tiny_patch16_224": image_model(vision_transformer("deit_tiny_patch16_224")),
    "deit_base_distilled_patch16_224": image_model(
        vision_transformer("deit_base_distilled_patch16_224", "VisionTransformerDistilled")),
    "vit_base_patch16_siglip_256": image_model(
        vision_transformer("vit_base_patch16_siglip_256", class_token=False, global_pool="map", num_classes=0), side_full=256),
    "vit_base_patch14_dinov2": image_model(
        vision_transformer("vit_base_patch14_dinov2", img_size=56, patch_size=14, init_values=1e-5, num_classes=0),
        side=56, side_full=518),
    "mixer_s16_224": image_model(mlp_mixer("mixer_s16_224", (0.5, 4.0), "MixerBlock")),
    "mixer_b16_224": image_model(mlp_mixer("mixer_b16_224", (0.5, 4.0), "MixerBlock")),
    "gmlp_s16_224": image_model(mlp_mixer("gmlp_s16_224", 6, "SpatialGatingBlock", mlp="GatedMlp")),
    "resmlp_12_224": image_model(mlp_mixer("resmlp_12_224", 4, "ResBlock", norm="Affine")),
    "convmixer_768_32": image_model(convmixer("convmixer_768_32", 7, 7, "ReLU"), side=56),
    "convmixer_1024_20_ks9_p14": image_model(convmixer("convmixer_1024_20_ks9_p14", 9, 14, "GELU"), side=56),
    "convnext_tiny": image_model(convnext("convnext_tiny"), side_full=288),
    "convnext_base": image_model(convnext("convnext_base"), side_full=288),
    "convnextv2_nano": image_model(convnext("convnextv2_nano", use_grn=True, conv_mlp=True, ls_init_value=None),
                                   side_full=288),
    "inception_v3": image_model(inception_v3, side=107, side_full=299, double=True),
    "efficientnet_b0": image_model(efficientnet("efficientnet_b0")),
    "tf_efficientnet_b0": image_model(efficientnet("tf_efficientnet_b0", pad_type="same",
                                            norm_layer=functools.partial(nn.BatchNorm2d, eps=1e-3))),
    "mobilenetv2_100": image_model(efficientnet("mobilenetv2_100", squeeze="", act="ReLU6")),
    "mnasnet_100": image_model(efficientnet("mnasnet_100", squeeze="", act="ReLU")),
    "spnasnet_100": image_model(efficientnet("spnasnet_100", squeeze="", act="ReLU")),
    "mobilenetv3_large_100": image_model(mobilenet_v3("mobilenetv3_large_100")),
    "fbnetv3_b": image_model(mobilenet_v3("fbnetv3_b", features=1984, squeeze={}, se_from_exp=False, head_bias=False),
                             side_full=256),
    "lcnet_050": image_model(mobilenet_v3("lcnet_050", rows=LIGHT_ROWS)),
    "mixnet_l": image_model(mixnet("mixnet_l")),
    "tf_mixnet_l": image_model(mixnet("tf_mixnet_l", pad_type="same",
                                      norm_layer=functools.partial(nn.BatchNorm2d, eps=1e-3))),
    "swin_tiny_patch4_window7_224": image_model(swin("swin_tiny_patch4_window7_224"), side=32),
    "swin_base_patch4_window7_224": image_model(swin("swin_base_patch4_window7_224"), side=32),
    "beit_base_patch16_224": image_model(beit),
    # With two threads instead of one, the originals themselves differ by up to 4e-4. This concerns LeViT's gradients in
    # train mode and NFNet's full preset. NFNet's random gains have both signs and amplify rounding errors.
    "levit_128": image_model(levit, side=128, double=True),
    "mobilevit_s": image_model(mobilevit, side_full=256),
    "nfnet_l0": image_model(nfnet("nfnet_l0"), side_full=288, tolerance=2e-3),
    "dm_nfnet_f0": image_model(nfnet("dm_nfnet_f0"), side_full=256, tolerance=2e-3),
    "timm_nfnet": image_model(nfnet("dm_nfnet_f0"), side_full=192, tolerance=2e-3),
    "repvgg_a2": image_model(repvgg(deployed=False)),
    "repvgg_a2_deployed": image_model(repvgg(deployed=True)),
    "xcit_nano_12_p8_224": image_model(xcit("xcit_nano_12_p8_224")),
    "xcit_large_24_p8_224": image_model(xcit("xcit_large_24_p8_224", tokens_norm=True)),
    "hrnet_w18": image_model(hrnet),
    "volo_d1_224": image_model(volo),
    "regnety_002": image_model(regnet),
    "timm_regnet": image_model(wide_regnet),
    "swsl_resnext101_32x16d": image_model(resnext, train_tolerance=1e-3),
    "gmixer_24_224": image_model(mlp_mixer("gmixer_24_224", (1.0, 4.0), "MixerBlock", mlp="GluMlp"), double=True),
    "tinynet_a": image_model(efficientnet("tinynet_a"), side_full=192),
    "fbnetc_100": image_model(efficientnet("fbnetc_100", squeeze="", act="ReLU", first="ir", features=1984)),
    "ghostnet_100": image_model(ghostnet),
    "res2net50_14w_8s": image_model(res2net("res2net50_14w_8s", 14, 8)),
    "res2net101_26w_4s": image_model(res2net("res2net101_26w_4s", 26, 4)),
    "res2next50": image_model(res2net("res2next50", 4, 4, cardinality=8)),
    "rexnet_100": image_model(rexnet),
    "poolformer_m36": image_model(poolformer),
    "cait_m36_384": image_model(cait, side_full=384),
    "pit_b_224": image_model(pit, side=56),
    "ese_vovnet19b_dw": image_model(vovnet("ese_vovnet19b_dw"), side_full=288),
    "vovnet39a": image_model(vovnet("vovnet39a")),
    "cspdarknet53": image_model(cspdarknet, side_full=256),
    "coat_lite_mini": image_model(coat),
    # The gradients of biases before BatchNorm consist only of rounding errors.
    "visformer_small": image_model(visformer, double=True),
    "twins_pcpvt_base": image_model(twins),
    "crossvit_9_240": image_model(crossvit, side=120, side_full=240),
    "convit_base": image_model(convit),
    "jx_nest_base": image_model(nest),
    "tnt_s_patch16_224": image_model(tnt),
}
