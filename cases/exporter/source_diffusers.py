"""Makes models of diffusers from their configuration, with inputs for the parameters of forward."""
import inspect

import torch

from subject import Subject, Unknown, batch_size

# Small configurations of the same structure. Classes that are not listed use their default.
SMALL = {
    "UNet2DConditionModel": dict(sample_size=16, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32,
                                 down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                 up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), attention_head_dim=8,
                                 norm_num_groups=8),
    "UNet2DModel": dict(sample_size=16, block_out_channels=(32, 64), layers_per_block=1,
                        down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
                        norm_num_groups=8),
    "UNet1DModel": dict(sample_size=64, block_out_channels=(16, 32), extra_in_channels=16,
                        down_block_types=("DownBlock1DNoSkip", "DownBlock1D"), up_block_types=("UpBlock1D", "UpBlock1DNoSkip")),
    "AutoencoderKL": dict(sample_size=32, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8,
                          down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2),
    "VQModel": dict(sample_size=32, block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8, num_vq_embeddings=64,
                    down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2),
    "AutoencoderTiny": dict(encoder_block_out_channels=(16, 16), decoder_block_out_channels=(16, 16),
                            num_encoder_blocks=(1, 1), num_decoder_blocks=(1, 1)),
    "DiTTransformer2DModel": dict(sample_size=16, num_layers=2, num_attention_heads=2, attention_head_dim=16,
                                  num_embeds_ada_norm=10, in_channels=4),
    "Transformer2DModel": dict(sample_size=16, num_layers=1, num_attention_heads=2, attention_head_dim=16, in_channels=32),
    "PixArtTransformer2DModel": dict(sample_size=16, num_layers=2, num_attention_heads=2, attention_head_dim=16,
                                     cross_attention_dim=32, caption_channels=32, use_additional_conditions=False),
    "SD3Transformer2DModel": dict(sample_size=16, patch_size=2, in_channels=4, num_layers=2, num_attention_heads=2,
                                  attention_head_dim=16, joint_attention_dim=32, caption_projection_dim=32,
                                  pooled_projection_dim=32, out_channels=4),
    "ControlNetModel": dict(block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32, attention_head_dim=8,
                            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), norm_num_groups=8,
                            conditioning_embedding_out_channels=(16, 32)),
    "PriorTransformer": dict(num_attention_heads=2, attention_head_dim=16, num_layers=2, embedding_dim=32, num_embeddings=7),
}
# Configuration of Stable Diffusion 2, which upstream times.
FULL = {"UNet2DConditionModel": dict(sample_size=96, cross_attention_dim=1024, attention_head_dim=(5, 10, 20, 20),
                                     use_linear_projection=True)}


def make(name, options):
    import diffusers
    cls = getattr(diffusers, name, None)
    if cls is None or not isinstance(cls, type) or not issubclass(cls, torch.nn.Module):
        raise Unknown(f"diffusers has no model {name}")
    small = options.preset == "mini"
    model = cls(**(SMALL if small else FULL).get(name, {}))
    batch = batch_size(options, 2, 1)
    arguments = inputs_of(model, batch, small)
    parameters = inspect.signature(model.forward).parameters
    return Subject(tuple_output(model), kwargs={k: v for k, v in arguments.items() if k in parameters},
                   packages=("diffusers", "transformers"), suite="torchbench")


def inputs_of(model, batch, small):
    config = model.config
    get = lambda key, other: config.get(key) or other  # noqa: E731
    channels = get("in_channels", 3)
    side = get("sample_size", 32) if small else 128 if channels == 4 else get("sample_size", 64)
    width = get("joint_attention_dim", None) or get("caption_channels", None) or get("cross_attention_dim", 32)
    width = width[0] if isinstance(width, (tuple, list)) else width
    image = torch.randn(batch, channels, side) if type(model).__name__ == "UNet1DModel" else torch.randn(batch, channels, side, side)
    inputs = {"sample": image, "hidden_states": image, "timestep": torch.ones(batch),
              "encoder_hidden_states": torch.randn(batch, 7 if small else 77, width)}
    if get("num_embeds_ada_norm", None):
        inputs.update(class_labels=torch.zeros(batch, dtype=torch.long), timestep=torch.ones(batch, dtype=torch.long))
        inputs.pop("encoder_hidden_states")
    elif type(model).__name__ == "Transformer2DModel":
        inputs = {"hidden_states": image}
    if type(model).__name__ == "SD3Transformer2DModel":
        inputs["pooled_projections"] = torch.randn(batch, config["pooled_projection_dim"])
    if type(model).__name__ == "ControlNetModel":
        inputs["controlnet_cond"] = torch.randn(batch, 3, side * 2 ** (len(config["conditioning_embedding_out_channels"]) - 1),
                                                side * 2 ** (len(config["conditioning_embedding_out_channels"]) - 1))
    if type(model).__name__ == "PriorTransformer":
        size, words = config["embedding_dim"], config["num_embeddings"]
        inputs = {"hidden_states": torch.randn(batch, size), "timestep": torch.ones(batch),
                  "proj_embedding": torch.randn(batch, size), "encoder_hidden_states": torch.randn(batch, words, size)}
    return inputs


def tuple_output(model):
    """Makes the model's forward return a tuple."""
    cls = type(model)
    if "return_dict" not in inspect.signature(cls.forward).parameters:
        return model

    def forward(self, *args, **kwargs):
        return cls.forward(self, *args, **kwargs, return_dict=False)

    forward.__signature__ = inspect.signature(cls.forward)
    model.__class__ = type(cls.__name__, (cls,), {"forward": forward, "__module__": cls.__module__})
    return model
