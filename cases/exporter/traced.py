"""Writes a TorchScript file by torch.jit.trace, and a file with its inputs."""
import inspect
import json

import torch
from torch.utils._pytree import tree_leaves


INFO = "torchstone_info.json"


class Positional(torch.nn.Module):
    """A model that takes tensors by position and returns the output's tensors, as a trace requires."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        count = len(tensors) - len(self.names)
        out = self.model(*tensors[:count], **dict(zip(self.names, tensors[count:])))
        return out if isinstance(out, torch.Tensor) else tuple(t for t in tree_leaves(out) if isinstance(t, torch.Tensor))


def write(subject, info, path):
    subject.model.eval()
    in_order = list(inspect.signature(subject.model.forward).parameters)
    names = sorted(subject.kwargs, key=lambda name: in_order.index(name) if name in in_order else len(in_order))
    tensors = (*subject.args, *(subject.kwargs[name] for name in names))
    if not all(isinstance(t, torch.Tensor) for t in tensors):
        raise ValueError("its inputs are not all tensors, which a trace needs")
    with torch.no_grad():
        program = torch.jit.trace(Positional(subject.model, names).eval(), tensors, check_trace=False, strict=False)
    torch.jit.save(program, path, _extra_files={INFO: json.dumps(info)})  # in the archive's folder extra
    torch.save(list(tensors), path[:-len(".pt")] + "_inputs.pt")
