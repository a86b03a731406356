"""What an original is."""
from dataclasses import dataclass
from typing import Callable

from torch import nn

MINI_BATCH = 4


@dataclass(frozen=True)
class Original:
    """An input is (shape without the batch, None for float32 or the bound of int64). `tolerance` is what the C++ model may
    differ by: the largest absolute difference over the largest absolute output, float32; `train_tolerance` is that of the
    gradients' norms."""
    package: str
    build: Callable[[bool], nn.Module]
    inputs: Callable[[bool], list]
    tolerance: float = 1e-5
    train_tolerance: float = 1e-4
    batch: int = 0  # of both presets; 0: MINI_BATCH for mini, 1 for full
    double: bool = False  # compared in float64: float32's rounding grows too much in it, differently on each processor
    whole_shapes: bool = False  # the shapes of the inputs are whole, without a batch
    output: Callable = staticmethod(lambda value: value)

    def input_specs(self, full):
        batch = [] if self.whole_shapes else [self.batch_size(full)]
        return [{"shape": [*batch, *shape], "high": high} for shape, high in self.inputs(full)]

    def batch_size(self, full):
        return self.batch or (1 if full else MINI_BATCH)


def image(side_mini, side_full=224):
    return lambda full: [((3, side_full, side_full) if full else (3, side_mini, side_mini), None)]
