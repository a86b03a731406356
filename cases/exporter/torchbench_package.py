"""Imports files of pytorch/benchmark without the `__init__` of their folder, which requires data, weights or CUDA."""
import contextlib
import importlib
import importlib.util
import os
import sys
import types

import torch


def folder_of(name):
    """Returns the folder and the package name of a model of torchbenchmark. Raises ImportError if it is not installed."""
    package = importlib.import_module("torchbenchmark")
    for group in ("models", "canary_models"):
        for root in package.__path__:
            if os.path.isdir(os.path.join(root, group, name)):
                return os.path.join(root, group, name), f"torchbenchmark.{group}.{name}"
    raise ModuleNotFoundError(f"torchbenchmark has no folder {name}", name=f"torchbenchmark.models.{name}")


def part(name, file):
    """Imports the module `file` of the folder `name`."""
    folder, package = folder_of(name)
    if package not in sys.modules:
        sys.modules[package] = types.ModuleType(package)
        sys.modules[package].__path__ = [folder]
    return importlib.import_module(f"{package}.{file}")


def whole(name):
    """Imports the folder's package, including its `__init__` with the class Model."""
    return importlib.import_module(folder_of(name)[1])


@contextlib.contextmanager
def without_weights():
    """Makes torchvision's models keep their random weights in this context, so that nothing is downloaded."""
    from torchvision.models._api import WeightsEnum

    class Absent(dict):
        pass

    load, get = torch.nn.Module.load_state_dict, WeightsEnum.get_state_dict
    torch.nn.Module.load_state_dict = lambda model, state, *args, **kwargs: (
        None if isinstance(state, Absent) else load(model, state, *args, **kwargs))
    WeightsEnum.get_state_dict = lambda *args, **kwargs: Absent()
    try:
        yield
    finally:
        torch.nn.Module.load_state_dict, WeightsEnum.get_state_dict = load, get


@contextlib.contextmanager
def loaded(value):
    """Makes torch.load return `value` in this context, for folders that load a file which is missing."""
    load = torch.load
    torch.load = lambda *args, **kwargs: value
    try:
        yield
    finally:
        torch.load = load
