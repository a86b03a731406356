"""Finds dimensions, other than the batch, in which the inputs of a package's model may vary. The result has the form of the
attribute `dynamic` of a Python module (fixtures/python/process/subject_sizes.py)."""

# Inputs whose second axis is a sequence.
SEQUENCES = ("input_ids", "decoder_input_ids", "labels")
# Keys of a configuration that limit the length: two for the whole model, one for its decoder.
LIMITS = ("max_position_embeddings", "n_positions", "max_target_positions")
MARGIN = 64  # pixels below and above a side's size that its range includes
SMALLEST_SIDE = 64


def of_image(images, smallest=0):
    """Returns height and width of the images {place or keyword: tensor}, in steps of 32 if their size allows it."""
    found = {}
    for name, axis in (("height", -2), ("width", -1)):
        size = next(iter(images.values())).shape[axis]
        step = 32 if size % 32 == 0 else 1
        least = min(size, max(SMALLEST_SIDE, size - MARGIN, -(-smallest // step) * step))
        found[name] = {"axes": dict.fromkeys(images, axis), "minimum": least, "maximum": size + MARGIN, "step": step}
    return found


def of_text(model, arguments, preset):
    """Returns the range of the common length of all sequences; empty if there is none. Its maximum is four times the length in
    the mini preset and twice the length in the full preset, but at most the configuration's limit."""
    sequences = {key: arguments[key] for key in SEQUENCES if key in arguments and arguments[key].dim() == 2}
    sizes = {tensor.shape[1] for tensor in sequences.values()}
    if has_places_of_images(model.config) or len(sizes) != 1:
        return {}
    size = sizes.pop()
    least = shortest(model, arguments)
    longest = min((4 if preset == "mini" else 2) * size, limit_of(model, sequences))
    return {"length": {"axes": dict.fromkeys(sequences, 1), "minimum": least, "maximum": longest}} if longest >= size > least else {}


def shortest(model, arguments):
    """Returns the smallest length with a finite loss. A causal loss of a single token is the mean of an empty set. So is the
    loss for question answering if all answers begin and end after the text, so the first answer of the batch must fit."""
    if "start_positions" in arguments:
        return 1 + max(int(arguments[key][0]) for key in ("start_positions", "end_positions"))
    return 2 if "labels" in arguments and type(model).__name__.endswith(("CausalLM", "LMHeadModel")) else 1


def has_places_of_images(config):
    """Returns whether some tokens of the text are placeholders for an image's patches, so that the text cannot be shortened."""
    return any(getattr(config, key, None) is not None for key in ("image_token_index", "image_token_id"))


def limit_of(model, sequences):
    """Returns the largest length for which the model has position embeddings. Roberta's positions start after the padding
    index."""
    config = getattr(model.config, "text_config", None) or model.config
    keys = LIMITS if "decoder_input_ids" in sequences else LIMITS[:2]
    limits = [value for value in (getattr(config, key, None) for key in keys) if isinstance(value, int) and value > 0]
    padding = [module.padding_idx + 1 for name, module in model.named_modules()
               if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None]
    return min(limits, default=2**31) - max(padding, default=0)


def of_sound(arguments):
    """Returns the range of the number of audio samples. The minimum must fill the windows of the first layers."""
    sound = arguments.get("input_values")
    if sound is None or sound.dim() != 2 or "labels" in arguments and arguments["labels"].dim() > 1:
        return {}
    size = sound.shape[1]
    return {"length": {"axes": {"input_values": 1}, "minimum": size // 2, "maximum": 2 * size}}
