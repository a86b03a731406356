"""Exports a model with its sample inputs by torch.export, and restores state that a call changes."""
import torch
from torch.utils._pytree import tree_map_only

import reads


def exported(subject):
    """Returns the exported program. Replaces the values that Python reads from tensors by constants, but only if the export
    reads them too: packages skip some checks during an export."""
    known = constant_reads(subject)
    try:
        program = torch.export.export(subject.model, subject.args, subject.kwargs, strict=False)
        if not known or not reads.has_reads(program):
            return program
    except Exception:
        if not known:
            raise
    with reads.Replayer(subject.model, known):
        return torch.export.export(subject.model, subject.args, subject.kwargs, strict=False)


def constant_reads(subject):
    """Returns the values that Python reads from tensors while the model runs; empty if there are none, or if they depend on the
    inputs."""
    known, agreed = read_values(subject, (subject.args, subject.kwargs)), 0
    if known:
        with torch.random.fork_rng():
            for inputs in reads.others((subject.args, subject.kwargs)):
                try:
                    if read_values(subject, inputs) != known:
                        return []
                    agreed += 1
                except Exception:  # inputs that the model refuses are no evidence
                    pass
    return known if agreed else []


def read_values(subject, inputs):
    state = state_of(subject.model)
    try:
        with torch.no_grad(), torch.random.fork_rng(), reads.Recorder() as recorder:
            subject.model(*copied(inputs[0]), **copied(inputs[1]))
        return recorder.values
    finally:
        put_back(subject.model, state)


def state_of(model):
    """Returns copies of the model's tensors. Quantized modules also have types and packed weights, which no call changes."""
    return {name: value.clone() for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}


def put_back(model, state):
    """Restores tensors that a call changed. Keeps tensors that the call created, such as a grid for later calls."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name in state and not torch.equal(tensor, state[name]):
                tensor.copy_(state[name])


def copied(tree):
    return tree_map_only(torch.Tensor, torch.clone, tree)
