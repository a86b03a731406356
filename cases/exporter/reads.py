"""Records and replays values that a model's Python reads from tensors (`.item()`, `if tensor:`) while it runs.

An exported program cannot read such values. If they are the same for other inputs, they are properties of the model, such as
the largest position, and the export uses them as constants. If they depend on the inputs, the export replaces nothing, and
fails with torch.export's error."""
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map_only

READERS = {getattr(torch.Tensor, name): name for name in ("item", "tolist", "__bool__", "__int__", "__float__", "__index__")}


class Recorder(TorchFunctionMode):
    """Records each value that is read, in order."""

    def __init__(self):
        super().__init__()
        self.values = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        value = func(*args, **(kwargs or {}))
        if func in READERS:
            self.values.append((READERS[func], value))
        return value


class Replayer(TorchFunctionMode):
    """Returns the recorded value for each read of a fake tensor, from the first value on in each call of the model. Raises
    RuntimeError if the reads differ from the recorded ones."""

    def __init__(self, model, values):
        super().__init__()
        self.values, self.next = values, 0
        self.hook = model.register_forward_pre_hook(self.begin)

    def begin(self, *_):
        self.next = 0

    def __exit__(self, kind, error, trace):
        self.hook.remove()
        super().__exit__(kind, error, trace)
        if kind is None and self.next != len(self.values):
            raise RuntimeError(f"the export reads {self.next} of the {len(self.values)} values that a call reads")

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func not in READERS or not is_fake(args[0]):
            return func(*args, **(kwargs or {}))
        if self.next >= len(self.values) or self.values[self.next][0] != READERS[func]:
            raise RuntimeError(f"the export and a call read different values ({READERS[func]}, number {self.next + 1})")
        self.next += 1
        return self.values[self.next - 1][1]


def is_fake(tensor):
    return isinstance(tensor, torch._subclasses.FakeTensor)


def has_reads(program):
    """Returns whether the exported program reads values from tensors."""
    graphs = [module.graph for module in program.graph_module.modules() if hasattr(module, "graph")]
    targets = [str(node.target) for graph in graphs for node in graph.nodes]
    return any("aten.item" in target or "_local_scalar_dense" in target for target in targets)


def others(tree):
    """Yields two other inputs of the same shapes, types and ranges: permuted with the opposite sign, and new random ones."""
    yield tree_map_only(torch.Tensor, lambda t: signed(t.flatten()[torch.randperm(t.numel())].view(t.shape)), tree)
    yield tree_map_only(torch.Tensor, redrawn, tree)


def signed(tensor):
    return -tensor if tensor.is_floating_point() else tensor


def redrawn(tensor):
    if tensor.is_floating_point():
        return torch.randn_like(tensor) * tensor.abs().max()
    if tensor.dtype == torch.bool or not tensor.numel():
        return ~tensor if tensor.dtype == torch.bool else tensor
    return torch.randint(int(tensor.min()), int(tensor.max()) + 1, tensor.shape).to(tensor.dtype)
