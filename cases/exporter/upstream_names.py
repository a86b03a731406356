"""Finds the source of upstream's names. Upstream lists models of timm, classes and checkpoints of transformers, and folders of
pytorch/benchmark. A name that is in neither of the first two lists counts as a folder of pytorch/benchmark."""

HUGGINGFACE_SUFFIXES = ("ForMaskedLM", "ForCausalLM", "ForQuestionAnswering", "ForConditionalGeneration",
                        "ForSequenceClassification", "LMHeadModel")
HUGGINGFACE = ("AllenaiLongformerBase", "CamemBert", "DistillGPT2", "GoogleFnet", "Reformer", "T5Small", "YituTechConvBert")
TORCHBENCH_PREFIXES = ("hf_", "timm_", "basic_gnn_", "detectron2_", "pyhpc_", "stable_diffusion_", "functorch_")
TIMM = frozenset("""
adv_inception_v3 beit_base_patch16_224 botnet26t_256 cait_m36_384 coat_lite_mini convit_base convmixer_768_32 convnext_base
convnextv2_nano.fcmae_ft_in22k_in1k crossvit_9_240 cspdarknet53 deit_base_distilled_patch16_224
deit_tiny_patch16_224.fb_in1k dla102 dm_nfnet_f0 dpn107 eca_botnext26ts_256 eca_halonext26ts ese_vovnet19b_dw fbnetc_100
fbnetv3_b gernet_l ghostnet_100 gluon_inception_v3 gmixer_24_224 gmlp_s16_224 hrnet_w18 inception_v3
jx_nest_base lcnet_050 levit_128 mixer_b16_224 mixnet_l mnasnet_100 mobilenetv2_100 mobilenetv3_large_100 mobilevit_s nfnet_l0
pit_b_224 pnasnet5large poolformer_m36 regnety_002 repvgg_a2 res2net101_26w_4s res2net50_14w_8s res2next50 resmlp_12_224
resnest101e rexnet_100 sebotnet33ts_256 selecsls42b spnasnet_100 swin_base_patch4_window7_224 swsl_resnext101_32x16d
tf_efficientnet_b0 tf_mixnet_l tinynet_a tnt_s_patch16_224 twins_pcpvt_base visformer_small vit_base_patch14_dinov2.lvd142m
vit_base_patch16_224 vit_base_patch16_siglip_256 volo_d1_224 xcit_large_24_p8_224
""".split())


def source_of(name):
    if name in TIMM:
        return "timm", name
    if name in HUGGINGFACE or "/" in name or name.endswith(HUGGINGFACE_SUFFIXES) and not name.startswith(TORCHBENCH_PREFIXES):
        return "transformers", name
    return "torchbench", name
