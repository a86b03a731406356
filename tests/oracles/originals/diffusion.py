"""diffusers' networks."""
import importlib.util

from .entry import Called, Original
from .vision import torchvision


def network(name, **sizes):
    """diffusers' class `name`, which returns a tensor and takes its inputs in the order of `forward`."""
    if importlib.util.find_spec("torchvision"):
        torchvision()  # diffusers imports transformers, which imports it when it is there
    import diffusers
    return Called(getattr(diffusers, name)(**sizes), lambda model, *inputs: model(*inputs, return_dict=False)[0])


def stable_diffusion_unet(full):
    if full:
        # diffusers calls the numbers of heads attention_head_dim.
        return network("UNet2DConditionModel", sample_size=96, cross_attention_dim=1024, attention_head_dim=(5, 10, 20, 20),
                       use_linear_projection=True)
    return network("UNet2DConditionModel", sample_size=16, block_out_channels=(32, 64), layers_per_block=1,
                   cross_attention_dim=32, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                   up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), attention_head_dim=(2, 4), norm_num_groups=8,
                   use_linear_projection=True)


def stable_diffusion_inputs(full):
    return [((4, 128, 128), None), ((), None), ((1, 1024), None)] if full else [((4, 16, 16), None), ((), None), ((7, 32), None)]


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
    "stable_diffusion_unet": Original("diffusers", stable_diffusion_unet, stable_diffusion_inputs, mini_batch=2),
}
