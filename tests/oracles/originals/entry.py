"""The description of an original."""
from dataclasses import dataclass
from typing import Callable

from torch import nn

MINI_BATCH = 4


def spec(shape, high=None, **more):
    """Describes how an input is generated (counter_fill.input_of): float32, or int64 below `high`. `more` may contain
    - low: the least integer;
    - range: float64 between two bounds, or float32 with `single`;
    - ascending: integers sorted along the last dimension, starting with 0;
    - ragged: the last i elements of row i are -1."""
    return {"shape": list(shape), "high": high} | more


@dataclass(frozen=True)
class Original:
    """An input is (shape without the batch, bound), or a complete `spec`. The bound is None for float32, and the
    exclusive maximum for int64. `tolerance` is the allowed difference of the C++ model: the largest absolute difference
    relative to the largest absolute output. `train_tolerance` is the same for the norms of the gradients."""
    package: str
    build: Callable[[bool], nn.Module]
    inputs: Callable[[bool], list]
    tolerance: float = 1e-5
    train_tolerance: float = 1e-4
    batch: int = 0  # batch size of both presets; 0: MINI_BATCH for mini, 1 for full
    mini_batch: int = 0  # batch size of mini, if it differs
    double: bool = False  # compared in float64, because rounding errors in float32 grow too large
    whole_shapes: bool = False  # the shapes of the inputs are complete, without a batch dimension to add
    training_inputs: bool = False  # mini uses the inputs of training, which differ from those of inference
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
    """Wraps a model that needs a special call: call(model, inputs…). Its tensors have the names of the wrapped
    model."""

    def __init__(self, model, call):
        super().__init__()
        self.model_and_call = model, call
        # Shares the wrapped model's dicts, so that a change of dtype applies to both.
        self._parameters, self._buffers = model._parameters, model._buffers
        for name, child in model.named_children():
            self.add_module(name, child)

    def forward(self, *inputs):
        model, call = self.model_and_call
        return call(model, *inputs)

    def train(self, mode=True):
        self.model_and_call[0].train(mode)
        return super().train(mode)
