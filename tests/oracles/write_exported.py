#!/usr/bin/env python3
"""write_exported.py FOLDER: writes the small exported programs that test their C++ reader.

The committed files are in exported/torch213 and exported/torch211. PyTorch 2.13.0 and 2.11.0 wrote them.
"""
import collections
import io
import json
import pathlib
import re
import sys
import warnings

import torch
from torch.export.pt2_archive._package import PT2ArchiveWriter, _package_exported_programs

warnings.filterwarnings("ignore")
OUT = pathlib.Path(sys.argv[1])
OUT.mkdir(parents=True, exist_ok=True)
Pair = collections.namedtuple("Pair", "first second")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="test.Pair")


class Net(torch.nn.Module):
    """Has tied weights, a buffer outside the state_dict, a constant, autocast, no_grad, and numbers computed from
    sizes."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.inner = torch.nn.Sequential(torch.nn.Linear(4, 4, bias=False), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5))
        self.last = torch.nn.Linear(4, 4, bias=False)
        self.last.weight = self.inner[0].weight
        self.register_buffer("places", torch.arange(4.0), persistent=False)

    def forward(self, x, scale=2, *, ids, mask=None):
        with torch.no_grad():
            shift = self.first(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = self.first(x)
        rows = torch.zeros(x.shape[0], 4, device=x.device) + ids.unsqueeze(1) * 0.5
        hidden = self.inner(low.float() + shift + rows) + self.places.to(x.device) * torch.tensor([1.0, 2.0, 3.0, 4.0])
        left, right = (self.last(hidden) * scale).split(2, 1)
        flat = hidden.reshape(x.shape[0] * 2, 2)
        return {"left": left, "more": [right, (flat.relu(), None, 3)], "pair": Pair(left + 1, right - x.shape[0])}


class Plain(torch.nn.Module):
    """Does not depend on the mode, and returns its loss by name."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def forward(self, x, labels):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


class Branch(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))


class Nonzero(torch.nn.Module):
    def forward(self, x):
        return x[x > 0] * 2


class Counter(torch.nn.Module):
    """Writes to a buffer and to its input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))

    def forward(self, x):
        self.count.add_(x)
        x.mul_(2)
        return x + self.count


class Texts(torch.nn.Module):
    """Has sizes that are the number of texts, their length, and the product of both."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(20, 8)
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, ids):
        x = self.words(ids)
        scores = torch.softmax(x @ self.layer(x).transpose(1, 2), -1)
        flat = (scores @ x).reshape(ids.shape[0] * ids.shape[1], 8)
        return flat.relu().view(ids.shape[0], ids.shape[1], 8) + torch.arange(ids.shape[1]).unsqueeze(1)


def export(model, args, kwargs=None, **options):
    torch.manual_seed(0)
    return torch.export.export(model, args, kwargs or {}, **options)


def save(name, programs, outputs=None, **info):
    programs = programs if isinstance(programs, dict) else {"model": programs}
    for program in programs.values():  # the files are committed, so metadata that nobody reads is removed
        for module in program.graph_module.modules():
            for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else []:
                for key in ("from_node", "nn_module_stack", "torch_fn", "source_fn_stack"):
                    node.meta.pop(key, None)
                if "stack_trace" in node.meta:  # removes paths of the machine
                    node.meta["stack_trace"] = re.sub(r'File "[^"]*/(site-packages/|write_exported)', r'File "\1',
                                                      node.meta["stack_trace"])
    with PT2ArchiveWriter(str(OUT / f"{name}.pt2")) as writer:
        _package_exported_programs(writer, programs)
        if outputs is not None:
            buffer = io.BytesIO()
            torch.save([t.detach() for t in torch.utils._pytree.tree_leaves(outputs) if isinstance(t, torch.Tensor)], buffer)
            writer.write_bytes("torchstone/outputs.pt", buffer.getvalue())
        if info:
            writer.write_string("extra/torchstone_info.json", json.dumps({"format": 1, **info}))


torch.manual_seed(1)
x, ids = torch.randn(3, 4), torch.tensor([0, 1, 2])
rows = torch.export.Dim("rows", min=2, max=64)
dynamic = {"dynamic_shapes": {"x": {0: rows}, "scale": None, "ids": {0: rows}}}
net = Net()
train = export(net.train(), (x, 3), {"ids": ids}, **dynamic)
evaluating = export(net.eval(), (x, 3), {"ids": ids}, **dynamic)
save("two", {"model": evaluating, "train": train}, net(x, 3, ids=ids), source="test:Net", mode="eval")
save("eval", evaluating)
save("train", train)
save("functional", export(Counter(), (torch.arange(3.0),)).run_decompositions())
plain, given = Plain(), (torch.randn(5, 3), torch.tensor([0, 1, 0, 1, 1]))
save("plain", export(plain, given), plain(*given), mode="train", loss="loss")
save("other_outputs", export(plain, given), plain(given[0] + 1, given[1]))
save("branch", export(Branch(), (torch.ones(3),)))
save("nonzero", export(Nonzero(), (torch.ones(3),)))
length = torch.export.Dim("length", min=2, max=30)
save("texts", export(Texts(), (torch.arange(12).view(2, 6),), dynamic_shapes={"ids": {0: rows, 1: length}}))
save("length", export(Texts(), (torch.arange(6).view(1, 6),), dynamic_shapes={"ids": {1: length}}))  # batch size 1
