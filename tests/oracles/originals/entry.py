"""What an original is."""
from dataclasses import dataclass
from typing import Callable

from torch import nn

MINI_BATCH = 4


def spec(shape, high=None, **more):
    """What an input is drawn from (counter_fill.input_of): float32, or int64 below `high`; `more` may hold low (of
    integers), range (float64 between two bounds, float32 with single), ascending (integers in order along the last dimension, from 0 on) and
    ragged (row i ends in i places of -1)."""
    return {"shape": list(shape), "high": high} | more


@dataclass(frozen=True)
class Original:
    """An input is (shape without the batch, None for float32 or the bound of int64), or a whole `spec`. `tolerance` is
    what the C++ model may differ by: the largest absolute difference over the largest absolute output; `train_tolerance`
    is that of the gradients' norms."""
    package: str
    build: Callable[[bool], nn.Module]
    inputs: Callable[[bool], list]
    tolerance: float = 1e-5
    train_tolerance: float = 1e-4
    batch: int = 0  # of both presets; 0: MINI_BATCH for mini, 1 for full
    mini_batch: int = 0  # of mini, where it is another
    double: bool = False  # compared in float64: float32's rounding grows too much in it, differently on each processor
    whole_shapes: bool = False  # the shapes of the inputs are whole, without a batch
    training_inputs: bool = False  # mini is run as in training, where the inputs are others than in inference
    loss: Callable = staticmethod(lambda outputs: sum(leaf.sum() / leaf.numel() for leaf in outputs) / len(outputs))
    output: Callable = staticmethod(lambda value: value)

    def input_specs(self, full):
        batch = [] if self.whole_shapes else [self.batch_size(full)]
        return [one if isinstance(one, dict) else spec([*batch, *one[0]], one[1]) for one in self.inputs(full)]

    def batch_size(self, full):
        if self.mini_batch and not full:
            return self.mini_batch
        return self.batch or (1 if full else MINI_BATCH)


def image(side_mini, side_full=224):
    return lambda full: [((3, side_full, side_full) if full else (3, side_mini, side_mini), None)]


class Called(nn.Module):
    """A model that is called in a way of its own: call(model, inputs…). The names are those of the model inside."""

    def __init__(self, model, call):
        super().__init__()
        self.model_and_call = model, call
        # Of the model itself; the same dicts, so that a change of dtype reaches both.
        self._parameters, self._buffers = model._parameters, model._buffers
        for name, child in model.named_children():
            self.add_module(name, child)

    def forward(self, *inputs):
        model, call = self.model_and_call
        return call(model, *inputs)

    def train(self, mode=True):
        self.model_and_call[0].train(mode)
        return super().train(mode)
