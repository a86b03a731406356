"""diffusers' networks."""
import importlib.util

from .entry import Called, Original
from .vision import torchvision


def network(name, **sizes):
    """Makes diffusers' class `name`, with inputs in the order of `forward` and a tensor as its output."""
    if importlib.util.find_spec("torchvision"):
        torchvision()  # diffusers imports transformers, which imports torchvision if it is installed
    import diffusers
    return Called(getattr(diffusers, name)(**sizes), lambda model, *inputs: model(*inputs, return_dict=False)[0])


# In diffusers, attention_head_dim is the number of heads.
MINI_UNET = dict(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32,
                 down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
                 attention_head_dim=(2, 4), norm_num_groups=8)


def unet(sizes, side, words, **both):
    """A U-Net. In the full preset it has these sizes, latents with this side length, and this number of words."""
    def build(full):
        return network("UNet2DConditionModel", **(sizes if full else MINI_UNET), **both)

    def inputs(full):
        if full:
            return [((4, side, side), None), ((), None), ((words, sizes["cross_attention_dim"]), None)]
        return [((4, 16, 16), None), ((), None), ((7, 32), None)]
    return Original("diffusers", build, inputs, mini_batch=2)


STABLE_DIFFUSION_2 = dict(sample_size=96, cross_attention_dim=1024, attention_head_dim=(5, 10, 20, 20))
STABLE_DIFFUSION_15 = dict(sample_size=64, cross_attention_dim=768)


def sd3_transformer(full):
    sizes = dict(num_layers=6, num_attention_heads=24, caption_projection_dim=1536, pos_embed_max_size=192)
    if not full:
        sizes = dict(sample_size=16, num_layers=2, num_attention_heads=4, attention_head_dim=16, joint_attention_dim=48,
                     caption_projection_dim=64, pooled_projection_dim=32, pos_embed_max_size=12)
    return network("SD3Transformer2DModel", **sizes)


def sd3_inputs(full):
    side, words, width, prompt = (128, 333, 4096, 2048) if full else (16, 7, 48, 32)
    return [((16, side, side), None), ((words, width), None), ((prompt,), None), ((), 1000)]


ORIGINALS = {
    "sd3_transformer": Original("diffusers", sd3_transformer, sd3_inputs),
    "stable_diffusion_15_unet": unet(STABLE_DIFFUSION_15, 64, 77),
    "stable_diffusion_unet": unet(STABLE_DIFFUSION_2, 128, 1, use_linear_projection=True),
}
