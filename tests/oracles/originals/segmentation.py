"""transformers' image models that take prompts."""
from .entry import Called, Original, spec
from .words import transformers

PROMPTS = POINTS = 2


def call(model, images, points, labels, boxes, masks):
    return model(pixel_values=images, input_points=points, input_labels=labels, input_boxes=boxes, input_masks=masks)


def sam(**published):
    def build(full):
        kinds = transformers()
        vision = published if full else dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=2, image_size=128,
                                             window_size=5, global_attn_indexes=[1], output_channels=32, num_pos_feats=16)
        prompt = {} if full else dict(hidden_size=32, image_size=128)
        decoder = {} if full else dict(hidden_size=32, mlp_dim=64, num_attention_heads=4, iou_head_hidden_dim=32)
        model = kinds.SamModel(kinds.SamConfig(
            vision_config=kinds.SamVisionConfig(**vision), prompt_encoder_config=kinds.SamPromptEncoderConfig(**prompt),
            mask_decoder_config=kinds.SamMaskDecoderConfig(**decoder)))
        model.prompt_encoder.no_mask_embed.requires_grad_(False)  # unused, because a mask is given
        return Called(model, call)
    return build


def sam_inputs(full):
    side = 1024 if full else 128
    return [([3, side, side], None), ([PROMPTS, POINTS, 2], None), labels(full), ([PROMPTS, 4], None),
            ([1, side // 4, side // 4], None)]


def labels(full):
    return spec([1 if full else 4, PROMPTS, POINTS], 2, low=-1)


ORIGINALS = {
    "sam_vit_base": Original("transformers", sam(), sam_inputs),
}
