"""A model of a Python package as a class without constructor arguments. Torchstone and PyTorch's harness can then load
the same module with path:FILE.py,class:NAME. harness_side_by_side.py writes the file, with one class for each model."""
import types

import torch

import missing_operators

missing_operators.declare()  # before any import of torchvision

import sources

# Inputs by source. They are not attributes of the module, because both programs copy and compare its state.
INPUTS = {}


class PackageModel(torch.nn.Module):
    """Subclasses set `source` (timm:resnet18) and, if they differ, the options below."""
    source = ""
    preset, batch_size, training_mode = "mini", None, False

    def __init__(self):
        super().__init__()
        options = types.SimpleNamespace(batch_size=self.batch_size, preset=self.preset, seed=1337, dtype="float32", weights=None,
                                        traced=False, mode="train" if self.training_mode else "eval")
        made = sources.make(sources.resolve(self.source), options)
        self.model = made.model
        self.positional, self.keywords = len(made.args), tuple(made.kwargs)
        INPUTS[self.source] = (*made.args, *made.kwargs.values())
        self.train(self.training_mode)  # the harness does not set the mode of a model from a file

    def get_example_inputs(self):
        return INPUTS[self.source]

    def forward(self, *inputs):
        return self.model(*inputs[:self.positional], **dict(zip(self.keywords, inputs[self.positional:])))
