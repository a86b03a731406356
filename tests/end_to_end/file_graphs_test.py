#!/usr/bin/env python3
"""Tests that Inductor gets the same graph from Torchstone as from the .pt2 file: file_graphs_test.py TORCHSTONE.

Each exported program reaches Inductor in two ways. Plain torch uses torch.export.load and aoti_compile_and_package.
Torchstone captures the program (--torchstone_print_program), and its compile service lowers it. Both stop at Inductor's
compiler, so nothing is compiled. The test compares the two graphs node by node: tensors in order with their kinds,
calls with operator, arguments, sizes and strides, returned values and mutated inputs. `canonical` lists and explains
the differences that are allowed."""
import collections
import difflib
import functools
import json
import operator
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch
from torch import nn
from torch.nn import functional

root = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(root / "fixtures" / "compile" / "lowering"))
import partitioned_step  # noqa: E402
import program_export  # noqa: E402
import program_graph  # noqa: E402
import program_nodes  # noqa: E402

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
TORCHSTONE = ""  # the first argument


class Of(nn.Module):
    """Wraps a function with its tensors and layers as a module."""

    def __init__(self, function, **members):
        super().__init__()
        self.function = function
        for name, value in members.items():
            if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                self.register_buffer(name, value)
            else:
                setattr(self, name, value)

    def forward(self, *inputs):
        return self.function(self, *inputs)


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.norm, self.head = nn.Embedding(10, 8), nn.LayerNorm(8), nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.norm(self.embed(ids)))


class State(nn.Module):
    """Writes its buffers in another order than they are registered or named in. One buffer is not in the state_dict."""

    def __init__(self):
        super().__init__()
        self.register_buffer("zeta", torch.zeros(3))
        self.register_buffer("alpha", torch.ones(3))
        self.register_buffer("middle", torch.ones(3), persistent=False)

    def forward(self, x):
        self.alpha.add_(self.zeta)
        self.middle[1:] = x[1:]
        self.zeta[0:] = self.alpha[0:]
        x.mul_(2)
        return self.alpha * x + self.middle


class Nested(nn.Module):
    """Has a submodule with only buffers before the first one with parameters, and has unused parameters."""

    def __init__(self):
        super().__init__()
        self.scale = Of(lambda m, x: x * m.by, by=torch.full((4,), 2.0))
        self.linear, self.norm, self.unused = nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4)
        self.top, self.plain = nn.Parameter(torch.ones(4)), torch.ones(4)

    def forward(self, x):
        return self.norm(self.linear(self.scale(x))) * self.top + self.plain


class Regions(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            stopped = self.a(x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            low = self.a(x)
        return stopped + low.float() * torch.tensor([1.0, 2.0, 3.0, 4.0]) + torch.arange(4) + torch.zeros(4, dtype=x.dtype)


def numbers(m, x):
    return x * 2 + 1 - x / 3, 1 - x, 2 / (x.abs() + 1), x ** 2, x // 2, x % 3, x > 0, x.clamp(min=0.1), 2.0 ** x


def indexing(m, x):
    y = x.clone()
    y[:, 1] = 0
    y[0] += 1
    y[..., 2:] *= 2
    return y, x[:, None, ::2], x[torch.tensor([1, 0])], x.masked_fill(x > 0, 1.0), torch.where(x > 0, x, 0.0)


def choosing(m, x):
    places = torch.zeros(4, 2, dtype=torch.long)
    return *torch.topk(x, 2), *x.sort(-1), x.argmax(-1), x.gather(1, places), torch.cumsum(x, 1)


def shapes(m, x):
    return (x.view(2, -1), x.permute(1, 0).contiguous(), x.expand(2, 4, 6), torch.cat([x, x], 1).chunk(3, 1),
            torch.stack([x, x]).flatten(1), x.unflatten(1, (2, 3)), x.repeat(2, 1), functional.pad(x, (1, 1)))


def fused_attention(m, x):
    heads = [part.view(2, 5, 2, 4).transpose(1, 2) for part in m.into(x).chunk(3, -1)]
    return m.out(functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(1, 2).reshape(2, 5, 8))


def attention(m, x):
    scores = torch.einsum("bid,bjd->bij", m.q(x), m.k(x)) / 8 ** 0.5 + torch.triu(torch.full((5, 5), float("-inf")), 1)
    return scores.softmax(-1) @ m.v(x)


def gated(m, x):
    hidden = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * m.weight
    return x + m.down(functional.silu(m.gate(hidden)) * m.up(hidden))


def resized(m, x):
    wide = functional.interpolate(x, scale_factor=2, mode="bilinear")
    return functional.pixel_shuffle(m.conv(wide), 2) + functional.interpolate(m.transposed(x), size=(32, 32)).mean(1, keepdim=True)


def dtypes(m, x):
    return (x.view(torch.int32) >> 31) & 1, x.to(torch.float16).float(), x.double().sum(), x.long() * 2, m.packed.view(torch.int16)


def losses(m, x, y):
    return (functional.cross_entropy(x, y), functional.mse_loss(x, x * 2), functional.embedding_bag(y.view(2, 2), m.table),
            functional.one_hot(y, 6), x.std(0), torch.logsumexp(x, 1), x.norm(dim=1))


def lists(m, x):
    """Operators that write to lists of tensors and return nothing. One of them also reads what it writes."""
    torch._foreach_add_([m.state], [m.state.flip(0) * x])
    torch._foreach_mul_([m.state, m.other], [2.0, 3.0])
    torch._foreach_neg_([m.other])
    return m.state + m.other


def models():
    """Returns (model, inputs…) by name."""
    torch.manual_seed(0)
    image, rows, text = torch.randn(2, 3, 8, 8), torch.randn(4, 6), torch.randn(2, 5, 8)
    convolutions = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
                                 nn.Conv2d(4, 4, 3, groups=2), nn.GroupNorm(2, 4), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                 nn.Dropout(0.5), nn.Linear(4, 2))
    linear = functools.partial(nn.Linear, bias=False)
    return {
        "convolutions": (convolutions, image),
        "resized": (Of(resized, conv=nn.Conv2d(3, 4, 1), transposed=nn.ConvTranspose2d(3, 4, 2, 2)), image),
        "perceptron": (nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2), nn.Softmax(-1)), rows),
        "lstm": (Of(lambda m, x: m.r(x)[0], r=nn.LSTM(8, 5, 2, batch_first=True, bidirectional=True)), text),
        "gru": (Of(lambda m, x: m.r(x), r=nn.GRU(8, 5)), text),
        "fused_attention": (Of(fused_attention, into=nn.Linear(8, 24), out=nn.Linear(8, 8)), text),
        "attention": (Of(attention, q=nn.Linear(8, 8), k=nn.Linear(8, 8), v=nn.Linear(8, 8)), text),
        "multihead": (Of(lambda m, x: m.a(x, x, x)[0], a=nn.MultiheadAttention(8, 2, batch_first=True)), text),
        "encoder": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), text),
        "gated": (Of(gated, weight=nn.Parameter(torch.ones(8)), up=linear(8, 16), gate=linear(8, 16), down=linear(16, 8)), text),
        "tied": (Tied(), torch.arange(6).view(2, 3)),
        "state": (State(), torch.arange(3.0)),
        "nested": (Nested(), torch.randn(3, 4)),
        "regions": (Regions(), torch.randn(2, 4)),
        "numbers": (Of(numbers), rows),
        "indexing": (Of(indexing), rows),
        "choosing": (Of(choosing), rows),
        "shapes": (Of(shapes), rows),
        "dtypes": (Of(dtypes, packed=torch.arange(8, dtype=torch.int8)), rows),
        "lists": (Of(lists, state=torch.rand(4, 6), other=torch.ones(4, 6)), rows),
        "losses": (Of(losses, table=torch.randn(6, 3)), rows, torch.tensor([0, 1, 2, 3])),
    }


class Reached(Exception):
    """Raised with the graph when Inductor's compiler is called."""


def reach(graph_module, _inputs, **_):
    raise Reached(graph_module)


def graph_of_package(program):
    """Returns the graph module that aoti_compile_and_package passes to Inductor's compiler. Stops there."""
    from torch._inductor import compile_fx
    own = compile_fx.compile_fx_aot
    compile_fx.compile_fx_aot = functools.partial(own, inner_compile=reach)
    try:
        torch._inductor.aoti_compile_and_package(program, package_path="/nonexistent/package.pt2")
    except Reached as reached:
        return reached.args[0]
    finally:
        compile_fx.compile_fx_aot = own
    raise AssertionError("Inductor's compiler was not called")


def merged_names(graph_module, nodes):
    """Returns the first name of the tensor that each node reads. Inductor merges all names of a tensor into one
    constant."""
    first, names = {}, {}
    for node in nodes:
        tensor = operator.attrgetter(node.target)(graph_module)
        place = (tensor.data_ptr(), tuple(tensor.stride()), tuple(tensor.shape)) if tensor.numel() else node.target
        names[node] = first.setdefault(place, node.target)
    return names


def tied_names(program):
    """Returns all names of those tensors of a program that have several names."""
    names = {}
    for name, tensor in program.state_dict.items():
        names.setdefault((tensor.data_ptr(), tuple(tensor.shape)), []).append(name)
    return {name for several in names.values() if len(several) > 1 for name in several}


def kind_of(graph_module, name):
    return "parameter" if name in dict(graph_module.named_parameters(remove_duplicate=False)) else "buffer"


def canonical(graph_module, tied, constants=()):
    """Returns the graph as lines, without the differences that are allowed:
    - Names of nodes. They are numbered instead.
    - Inputs and outputs that are not tensors. A captured program contains their values.
    - Tensors that no node uses. Inductor removes them.
    - The position and the further names of a tied tensor. Inductor has one constant for all names. A captured program
      has one name, the first in the file, which may differ from the name that the file's graph uses.
    - Tensor constants (`constants` in a captured program, _tensor_constant… in the file). A package takes values only
      by the name of a buffer, so a captured program lists its constants among the buffers. The file has them where they
      are used. They are numbered by their first use.
    - lift_fresh_copy of such a constant. Nothing writes to the copy.
    - _assert_tensor_metadata. torch.export adds it to casts that are calls, such as those of autocast in a captured
      program. Inductor drops it."""
    lines, names, counted, count = [], {}, {}, 0
    nodes = list(graph_module.graph.nodes)
    tensors = merged_names(graph_module, [node for node in nodes if node.op == "get_attr"])

    def name_of(node):
        name = names[node]
        return counted.setdefault(name, f"constant {len(counted)}") if name in own else name

    own = {name for name in tensors.values() if name in constants or name.startswith(("_tensor_constant", "lifted_tensor"))}
    for node in nodes:
        if node.op == "placeholder":
            if isinstance(node.meta.get("val"), torch.Tensor):
                names[node] = f"input {sum(name.startswith('input') for name in names.values())}"
        elif node.op == "get_attr":
            names[node] = tensors[node]
            if node.users and names[node] not in own and node.target not in tied:
                lines.append(f"{kind_of(graph_module, names[node])} {names[node]}")
        elif "_assert_tensor_metadata" in str(node.target):
            continue
        elif "lift_fresh_copy" in str(node.target):
            names[node] = names[node.args[0]]
        else:
            given = ([value for value in node.args[0] if isinstance(value, torch.fx.Node)],) if node.op == "output" else node.args
            arguments = torch.fx.node.map_arg((given, node.kwargs), name_of)
            value = node.meta.get("val")
            shape = f" {value.dtype} {tuple(value.shape)} {value.stride()}" if isinstance(value, torch.Tensor) else ""
            names[node] = f"%{count}"
            count += 1
            lines.append(f"{names[node]} = {node.target} {arguments}{shape}")
    return lines


def difference(of_torch, own):
    """Returns a diff of the two graphs; empty if they are equal."""
    return "\n".join(difflib.unified_diff(of_torch, own, "of torch", "of Torchstone", lineterm=""))


def printed(file, mode="inference"):
    """Returns the neutral program that Torchstone captures from a file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TORCHSTONE_", "GTEST_"))}
    run = subprocess.run([TORCHSTONE, "--torchstone_print_program", "--torchstone_format=json", "--torchstone_checks=accuracy",
                          f"--torchstone_modes={mode}", "--torchstone_backends=inductor", f"--torchstone_only={file}"],
                         capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(f"{file}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return json.loads(run.stdout)[0]["program"]


def with_fixed_sizes(program):
    """Returns the program for the sizes of its example inputs, because Torchstone captures it for these sizes. The
    program is made functional first: torch.export writes detach_ for a tensor literal, but does not accept detach_ in a
    second export."""
    if not program.range_constraints:
        return program
    args, kwargs = program.example_inputs
    return torch.export.export(program.run_decompositions({}).module(), args, kwargs)


class Graphs(unittest.TestCase):
    def expect_same(self, program, neutral):
        constants, tied, fixed = neutral["signature"]["constants"], tied_names(program), with_fixed_sizes(program)
        with torch.no_grad():
            of_file = canonical(graph_of_package(fixed), tied)
            own = canonical(graph_of_package(program_export.exported(neutral, None)), tied, constants)
        self.assertEqual(difference(of_file, own), "")

    def test_of_models(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (model, *inputs) in models().items():
                with self.subTest(name):
                    file = f"{folder}/{name}.pt2"
                    torch.export.save(torch.export.export(model.eval(), tuple(inputs)), file)
                    self.expect_same(torch.export.load(file), printed(file))

    def test_of_the_archives_of_the_tests(self):
        """Excludes archives that Torchstone refuses (branch, nonzero, other_outputs). Also excludes `two`, which
        torch.export.load cannot read: it contains two programs, and eval and train are copies of them."""
        pair = collections.namedtuple("Pair", "first second")
        torch.utils._pytree._register_namedtuple(pair, serialized_type_name="test.Pair")
        for version in ("torch213", "torch211"):
            for name in ("eval", "functional", "plain", "texts"):
                file = root / "tests" / "oracles" / "exported" / version / f"{name}.pt2"
                with self.subTest(f"{version}/{name}"):
                    self.expect_same(torch.export.load(file), printed(file))


class DynamoGraphs(unittest.TestCase):
    """Dynamo traces the same calls in the file's module and in that of the captured program."""

    def seen(self, module, inputs):
        graphs = []

        def backend(graph_module, _):
            graphs.append(graph_module)
            return graph_module.forward

        torch._dynamo.reset()
        with torch.no_grad():
            torch.compile(module, backend=backend)(*inputs)
        self.assertEqual(len(graphs), 1)
        return graphs[0]

    def test_tensors_are_taken_in_the_order_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, model, inputs in (("state", State(), [torch.arange(3.0)]), ("nested", Nested(), [torch.randn(3, 4)])):
                file = f"{folder}/{name}.pt2"
                torch.export.save(torch.export.export(model.eval(), tuple(inputs)), file)
                neutral = printed(file)
                used = set(neutral["constants"])
                taken = [self.seen(module, [value.clone() for value in inputs])
                         for module in (torch.export.load(file).module(), program_graph.graph_module_of(neutral, None))]
                shapes = [[tuple(node.meta["example_value"].shape) for node in graph.graph.nodes if node.op == "placeholder"]
                          for graph in taken]
                targets = [[str(node.target) for node in graph.graph.nodes if node.op == "call_function"] for graph in taken]
                self.assertEqual(len(shapes[1]), len(used) + len(inputs))
                self.assertEqual(targets[0], targets[1])
                # In the file's module, inputs come first, because the module flattens them. Otherwise each comes at its
                # first use.
                count = len(inputs)
                self.assertEqual(shapes[0][count:], shapes[1][:-count])


class TrainingGraphs(unittest.TestCase):
    """A training step in two packages has the same forward and backward graphs as under torch.compile."""

    def parts(self, compile_step):
        """Returns the graphs that reach Inductor's compiler: "forward" or "backward" → lines."""
        from torch._inductor import compile_fx
        found = {}

        def inner(graph_module, inputs, **keywords):
            found["backward" if keywords.get("is_backward") else "forward"] = canonical(graph_module, ())
            return graph_module.forward

        compile_step(functools.partial(compile_fx.compile_fx, inner_compile=inner))
        return found

    def in_two_packages(self, neutral):
        from torch._functorch import config
        module, inputs, _ = partitioned_step.step_module(neutral)

        def compile_step(compiler):
            with torch.enable_grad(), config.patch(force_non_lazy_backward_lowering=True, enable_autograd_cache=False):
                compiler(module, inputs)

        return self.parts(compile_step)

    def under_torch_compile(self, neutral):
        inputs = [program_nodes.tensor_like(spec) for spec in neutral["inputs"]]
        for place in neutral["training"]["inputs"]:
            inputs[place].requires_grad_()
        module = program_graph.graph_module_of(neutral, None)

        def compile_step(compiler):
            from torch._functorch import config
            torch._dynamo.reset()
            with config.patch(enable_autograd_cache=False):
                torch.compile(module, backend=compiler)(*inputs)[0].backward()

        return self.parts(compile_step)

    def test_are_torch_compiles(self):
        scattered = lambda scatter: lambda m, x: scatter(m.weight, x).sum()
        steps = {
            "slices": (Of(scattered(lambda w, x: torch.slice_scatter(w, x, 1, 0, 6)), weight=nn.Parameter(torch.ones(4, 9))),
                       torch.randn(4, 6)),
            "diagonal": (Of(scattered(torch.diagonal_scatter), weight=nn.Parameter(torch.ones(8, 8))), torch.randn(8)),
            "perceptron": (nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2)), torch.randn(4, 6)),
            "statistics": (nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2)), torch.randn(4, 6)),
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, (model, x) in steps.items():
                with self.subTest(name):
                    file = f"{folder}/{name}.pt2"
                    torch.export.save(torch.export.export(model.train(), (x,)), file)
                    neutral = printed(file, "training")
                    packages, compiled = self.in_two_packages(neutral), self.under_torch_compile(neutral)
                    self.assertEqual(set(packages), {"forward", "backward"})
                    for part in ("forward", "backward"):
                        self.assertEqual(difference(compiled[part], packages[part]), "", part)


if __name__ == "__main__":
    TORCHSTONE = sys.argv.pop(1)
    unittest.main()
