"""Makes a model with inputs from SOURCE:NAME. Each source is a module that is imported on demand."""
import importlib

import upstream_names
from subject import Unknown

# The module of each source, and the packages whose versions affect its models.
SOURCES = {
    "timm": ("source_timm", ("timm", "torchvision")),
    "torchvision": ("source_torchvision", ("torchvision",)),
    "transformers": ("source_transformers", ("transformers",)),
    "pyg": ("source_pyg", ("torch_geometric",)),
    "diffusers": ("source_diffusers", ("diffusers", "transformers")),
    "torchbench": ("source_torchbench", ("timm", "torchvision", "transformers", "torch_geometric", "diffusers",
                                         "torchbenchmark")),
}


def resolve(text):
    """Returns (source, name) of SOURCE:NAME. For `upstream:` it returns the source that has the name. Raises Unknown."""
    source, colon, name = text.partition(":")
    if not colon or not name:
        raise Unknown(f"expected SOURCE:NAME with SOURCE one of {', '.join(SOURCES)}, upstream")
    if source == "upstream":
        return upstream_names.source_of(name)
    if source not in SOURCES:
        raise Unknown(f"unknown source {source} (expected one of {', '.join(SOURCES)}, upstream)")
    return source, name


def packages_of(source):
    return SOURCES[source[0]][1]


def make(source, options):
    import torch

    import missing_operators
    missing_operators.declare()  # transformers and diffusers import torchvision if it is installed
    torch.manual_seed(options.seed)
    return importlib.import_module(SOURCES[source[0]][0]).make(source[1], options)
