"""Dimensions in which the inputs of a package's model may vary, as the attribute `dynamic` of a Python module declares them
(fixtures/python/process/subject_sizes.py). The batch is not among them."""

# Inputs with a sequence in their second axis.
SEQUENCES = ("input_ids", "decoder_input_ids", "labels")
# Limits of a configuration, of the whole model or of its decoder.
LIMITS = ("max_position_embeddings", "n_positions", "max_target_positions")
MARGIN = 64  # of a side, to both ends of its range
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
    """Returns the length of the sequences, which have the same one. It ends at the configuration's limit, and at four times
    the mini preset's length, or twice the full one's."""
    sequences = {key: arguments[key] for key in SEQUENCES if key in arguments and arguments[key].dim() == 2}
    sizes = {tensor.shape[1] for tensor in sequences.values()}
    if has_places_of_images(model.config) or len(sizes) != 1:
        return {}
    size = sizes.pop()
    least = shortest(model, arguments)
    longest = min((4 if preset == "mini" else 2) * size, limit_of(model, sequences))
    return {"length": {"axes": dict.fromkeys(sequences, 1), "minimum": least, "maximum": longest}} if longest >= size > least else {}


def shortest(model, arguments):
    """Returns the smallest length with a loss. A causal loss of a single word is the mean of nothing, and so is one of answers
    that begin and end behind the text. The first one remains for each batch."""
    if "start_positions" in arguments:
        return 1 + max(int(arguments[key][0]) for key in ("start_positions", "end_positions"))
    return 2 if "labels" in arguments and type(model).__name__.endswith(("CausalLM", "LMHeadModel")) else 1


def has_places_of_images(config):
    """Returns whether the words of a text are places of an image's patches, of which none may be lost."""
    return any(getattr(config, key, None) is not None for key in ("image_token_index", "image_token_id"))


def limit_of(model, sequences):
    """Returns the largest length that the model has positions for. Those of Roberta begin behind the padding's."""
    config = getattr(model.config, "text_config", None) or model.config
    keys = LIMITS if "decoder_input_ids" in sequences else LIMITS[:2]
    limits = [value for value in (getattr(config, key, None) for key in keys) if isinstance(value, int) and value > 0]
    padding = [module.padding_idx + 1 for name, module in model.named_modules()
               if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None]
    return min(limits, default=2**31) - max(padding, default=0)


def of_sound(arguments):
    """Returns the number of samples of a sound, which must fill the windows of the first layers."""
    sound = arguments.get("input_values")
    if sound is None or sound.dim() != 2 or "labels" in arguments and arguments["labels"].dim() > 1:
        return {}
    size = sound.shape[1]
    return {"length": {"axes": {"input_values": 1}, "minimum": size // 2, "maximum": 2 * size}}
