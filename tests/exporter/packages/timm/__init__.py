"""A stand-in for timm, for tests: models that are exported, one that cannot be, and one that its author keeps."""
import torch

__version__ = "0.0.1"


class Tiny(torch.nn.Module):
    default_cfg = {"input_size": (3, 16, 16)}

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.head = torch.nn.Linear(4, 10)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class Random(Tiny):
    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x), 0.5, True)


class Branching(Tiny):
    def forward(self, x):
        return self.head.weight if x.sum() > 0 else super().forward(x)


class ReadingItsState(Tiny):
    """Reads a value that is the same for all inputs, and keeps a grid that it makes when it is first called."""

    def forward(self, x):
        if not hasattr(self, "grid"):
            self.register_buffer("grid", torch.arange(16.0, device=x.device).expand(16, 16))
        steps = torch.full((2,), 3).max().item()
        return super().forward(x + self.grid) * steps


MODELS = {"tiny.net/v1": Tiny, "random": Random, "branching": Branching, "reading": ReadingItsState}


def is_model(name):
    return name in MODELS


def create_model(name, pretrained, in_chans, drop_rate):
    assert not pretrained and drop_rate == 0.0
    if name == "gated":
        raise PermissionError("gated: ask its author")
    if name not in MODELS:
        raise RuntimeError(f"Unknown model ({name})")
    return MODELS[name]()
