"""Configurations of transformers: upstream's where the class's default differs, and small ones of the same structure."""

# Small values by key. They apply to configurations that have the key.
SMALL = {
    "hidden_size": 64, "d_model": 64, "dim": 64, "n_embd": 64, "embedding_size": 64, "emb_dim": 64, "word_embed_proj_dim": 64,
    "embedding_dim": 64, "projection_dim": 32, "d_kv": 16, "head_dim": 16, "d_head": 16, "true_hidden_size": 32,
    "intermediate_size": 128, "ffn_dim": 128, "d_ff": 128, "d_inner": 128, "hidden_dim": 128, "n_inner": 128,
    "encoder_ffn_dim": 128, "decoder_ffn_dim": 128, "feed_forward_size": 128, "moe_intermediate_size": 64,
    "shared_expert_intermediate_size": 64, "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2, "encoder_layers": 2,
    "decoder_layers": 2, "num_decoder_layers": 2, "num_encoder_layers": 2, "num_attention_heads": 4, "num_heads": 4,
    "n_head": 4, "n_heads": 4, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2,
    "vocab_size": 512, "max_position_embeddings": 128, "n_positions": 128, "max_source_positions": 128, "max_target_positions": 64,
    "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4, "image_size": 32, "patch_size": 8, "sliding_window": 16,
    "num_hidden_groups": 1, "num_mel_bins": 16, "rotary_dim": 8, "block_size": 16, "max_2d_position_embeddings": 1024,
    "num_buckets": 4, "hidden_size_per_layer_input": 16, "vocab_size_per_layer_input": 512,
    "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 16, "linear_value_head_dim": 16,
    "state_size": 8, "num_blocks": 2, "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16,
    "v_head_dim": 16, "num_experts_per_tok": 2,
}
# Values for classes whose names start with the key. They extend SMALL and override it.
SMALL_OF = {
    "GPTNeo": {"attention_types": [[["global", "local"], 1]], "window_size": 16},
    "Longformer": {"attention_window": [8, 8]}, "MobileBert": {"intra_bottleneck_size": 32, "num_feedforward_networks": 2},
    "ConvBert": {"head_ratio": 2, "conv_kernel_size": 9}, "XLNet": {"d_head": 16},
    "Reformer": {"axial_pos_shape": [8, 8], "axial_pos_embds_dim": [32, 32], "attn_layers": ["local", "lsh"],
                 "attention_head_size": 16, "lsh_attn_chunk_length": 16, "local_attn_chunk_length": 16, "num_buckets": 4,
                 "max_position_embeddings": 64},
    "Albert": {"embedding_size": 32}, "Funnel": {"block_sizes": [1, 1]}, "LayoutLM": {}, "GPTJ": {"rotary_dim": 8},
    "Swin": {"depths": [1, 1], "num_heads": [2, 4], "embed_dim": 16, "window_size": 2, "patch_size": 2},
    "Llava": {"image_token_index": 511},
    "Levit": {"image_size": 224, "patch_size": 16}, "Whisper": {"max_source_positions": 32, "num_mel_bins": 16},
}
# Upstream's configurations of classes whose default configuration belongs to another model.
FULL_OF = {
    "T5Small": {}, "DistillGPT2": {"n_layer": 6},
    "GoogleFnet": {"vocab_size": 32000, "type_vocab_size": 4, "max_position_embeddings": 512},
    "AllenaiLongformerBase": {"attention_window": [512] * 12, "vocab_size": 50265, "max_position_embeddings": 4098,
                              "type_vocab_size": 1, "pad_token_id": 1},
    "CamemBert": {"vocab_size": 32005, "max_position_embeddings": 514, "type_vocab_size": 1},
    "Qwen/Qwen3-0.6B": {"hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8,
                        "head_dim": 128, "intermediate_size": 3072, "tie_word_embeddings": True},
    "google/gemma-2-2b": {"hidden_size": 2304, "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
                          "head_dim": 256, "intermediate_size": 9216},
    "google/gemma-3-4b-it": {"hidden_size": 2560, "num_hidden_layers": 34, "num_attention_heads": 8,
                             "num_key_value_heads": 4, "head_dim": 256, "intermediate_size": 10240},
    "meta-llama/Llama-3.2-1B": {"hidden_size": 2048, "num_hidden_layers": 16, "num_attention_heads": 32,
                                "num_key_value_heads": 8, "intermediate_size": 8192, "vocab_size": 128256,
                                "tie_word_embeddings": True},
    "openai/gpt-oss-20b": {"num_hidden_layers": 24, "num_local_experts": 32},
    "openai/whisper-tiny": {"d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6,
                            "decoder_attention_heads": 6, "encoder_ffn_dim": 1536, "decoder_ffn_dim": 1536},
}
NEEDS_PADDING = ("GPT2ForSequenceClassification", "GPTNeoForSequenceClassification", "GPTJForSequenceClassification")


def of(cls, name, preset, given):
    config_class = cls.config_class
    default = config_class()
    chosen = dict(FULL_OF.get(name, {}), **given)
    if preset == "mini":
        chosen.update(small(cls, default))
    config = config_class(**chosen)
    if cls.__name__ in NEEDS_PADDING or name.startswith("Roberta"):
        config.pad_token_id = 0
    # Turns off dropout and caches, as upstream does.
    for key in list(vars(config)):
        if "drop" in key and isinstance(getattr(config, key), float):
            setattr(config, key, 0.0)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    config._experts_implementation = "batched_mm"  # the default calls an operator written in Python
    return config


def small(cls, default):
    known = default.to_dict()
    values = {key: value for key, value in SMALL.items()
              if key in known and type(known[key]) in (int, type(None)) and (known[key] or 0) != 0}
    values.update({k: v for k, v in SMALL.items() if k in getattr(default, "attribute_map", {}) and k not in values and
                   default.attribute_map[k] not in SMALL and isinstance(getattr(default, k), int)})
    for prefix, own in SMALL_OF.items():
        if cls.__name__.startswith(prefix):
            values.update(own)
    if "layer_types" in known and known["layer_types"]:
        values["layer_types"] = known["layer_types"][:1] + known["layer_types"][-1:]
    for key, value in known.items():  # tokens that the small vocabulary does not have
        if key.endswith("_token_id") and isinstance(value, int) and value >= values.get("vocab_size", value + 1):
            values[key] = values["vocab_size"] - 1
    for key, value in known.items():  # configurations within
        if key.endswith("_config") and hasattr(getattr(default, key, None), "to_dict"):
            values[key] = small(cls, getattr(default, key))
    return values
