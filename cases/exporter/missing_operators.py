"""Declares torchvision's operators, without kernels, where its extension does not load.

torchvision from PyPI is built for CUDA, and its extension does not load with another build of torch. Its Python part then
fails at import, because it registers rules for the missing operators. Models that do not use them can be made with the
declarations; a model that does use one fails with the operator's name."""
import importlib.util
import pathlib
import re

import torch

LIBRARIES = []


def declare():
    spec = importlib.util.find_spec("torchvision")
    if LIBRARIES or spec is None or not spec.origin:
        return
    folder = pathlib.Path(spec.origin).parent
    try:
        for extension in sorted(folder.glob("_C*.so")):
            torch.ops.load_library(str(extension))
        if hasattr(torch.ops.torchvision, "nms"):
            return
    except OSError:
        pass
    rules = folder / "_meta_registrations.py"
    names = set(re.findall(r"register_meta\(\"(\w+)\"\)|torchvision::(\w+)", rules.read_text())) if rules.exists() else set()
    library = torch.library.Library("torchvision", "DEF")
    LIBRARIES.append(library)
    for name in {a or b for a, b in names} | {"nms", "qnms"}:
        library.define(f"{name}(Tensor a, Tensor b, float c) -> Tensor")
