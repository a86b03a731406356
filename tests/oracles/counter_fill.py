"""Generates weights and inputs with the same bits as counter_fill.h, whose comment states the rule."""
import math

import numpy as np
import torch

_CHUNK = 1 << 15  # small enough for the buffers to fit into a core's cache


def _key(name):
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    return np.uint64(key)


def _draws(key, begin, end):
    with np.errstate(over="ignore"):
        z = np.arange(begin + 1, end + 1, dtype=np.uint64)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z += key
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        return z


def _scaled(bound):
    return np.float32(math.ldexp(bound, -23))


def _rule(name, tensor):
    """Returns (offset, shift, scale). A value is float32(offset + (k >> shift)) * scale."""
    if tensor.dim() > 1 and tensor.numel() > 0:
        return 0, 0, _scaled(math.sqrt(4.5 / (tensor.numel() // tensor.shape[0])))
    last = name.rsplit(".", 1)[-1]
    if last == "running_var":
        return 1 << 24, 1, np.float32(2.0**-24)
    if last == "weight":
        return 1 << 24, 2, np.float32(2.0**-24)
    return 0, 0, np.float32(2.0**-27)


def _filled(name, shape, rule):
    offset, shift, scale = rule
    count = math.prod(shape)
    values = np.empty(count, dtype=np.float32)
    key = _key(name)
    for begin in range(0, count, _CHUNK):
        end = min(begin + _CHUNK, count)
        k = (_draws(key, begin, end) >> np.uint64(40)).astype(np.int32) - np.int32(1 << 23)
        values[begin:end] = (np.int32(offset) + (k >> np.int32(shift))).astype(np.float32) * scale
    return torch.from_numpy(values.reshape(shape))


def state(model):
    """Returns all parameters and buffers by name, and the names outside the state_dict. Tied ones have all their
    names."""
    tensors = dict(model.named_parameters(remove_duplicate=False))
    tensors.update(model.named_buffers(remove_duplicate=False))
    return tensors, sorted(set(tensors) - set(model.state_dict()))


@torch.no_grad()
def counter_fill(model):
    tensors, constants = state(model)
    done = set()
    for name in sorted(tensors):
        tensor = tensors[name]
        if tensor.is_floating_point() and name not in constants and id(tensor) not in done:
            done.add(id(tensor))
            tensor.copy_(_filled(name, tuple(tensor.shape), _rule(name, tensor)))


def counter_input(name, shape, high=None):
    """Returns float32 values with mean 0 and variance 1, or int64 values in [0, high)."""
    if high is None:
        return _filled(name, shape, (0, 0, _scaled(math.sqrt(3.0))))
    draws = _draws(_key(name), 0, math.prod(shape)) >> np.uint64(33)
    return torch.from_numpy((draws % np.uint64(high)).astype(np.int64).reshape(shape))


def input_of(name, spec):
    """Returns the input that a spec (originals/entry.py) describes."""
    shape, high = tuple(spec["shape"]), spec["high"]
    if high is None:
        values = counter_input(name, shape)
        if "range" not in spec:
            return values
        low, top = spec["range"]
        spread = low + (top - low) * (values.double() / (2 * math.sqrt(3.0)) + 0.5)
        return spread.float() if spec.get("single") else spread
    low = spec.get("low", 0)
    values = low + counter_input(name, shape, high - low)
    if spec.get("ascending"):
        values = values.sort(dim=-1).values
        values[..., 0] = 0
    if spec.get("ragged"):
        for row in range(1, shape[0]):
            values[row, -row:] = -1
    return values
