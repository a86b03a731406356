#!/usr/bin/env python3
"""The graph that reaches Inductor is the file's: file_graphs_test.py TORCHSTONE.

Each exported program goes to Inductor twice: by plain torch (torch.export.load and aoti_compile_and_package), and as Torchstone
captures it (--torchstone_print_program) and its compile service lowers it. Both stop at Inductor's compiler, so that nothing is
compiled, and their graphs are compared node by node: the tensors in order with their kinds, each call with its operator, arguments,
sizes and strides, and what is returned and written back. `canonical` lists and explains what may differ."""
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
    """A model of a function and its tensors and layers."""

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
    """Buffers that are written in another order than they are registered and named in, one outside of the state_dict."""

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
    """A module with buffers alone before the first with parameters, and parameters that nothing uses."""

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
    """Operators that write to lists and return nothing: one of them reads what it writes."""
    torch._foreach_add_([m.state], [m.state.flip(0) * x])
    torch._foreach_mul_([m.state, m.other], [2.0, 3.0])
    torch._foreach_neg_([m.other])
    return m.state + m.other


def models():
    """Twenty-one models and their inputs by name."""
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
    """A graph came to Inductor's compiler."""


def reach(graph_module, _inputs, **_):
    raise Reached(graph_module)


def graph_of_package(program):
    """The graph module that Inductor's compiler gets from aoti_compile_and_package, which ends there."""
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
    """For each node that reads a tensor the first name of this tensor: Inductor makes one constant of all of its names."""
    first, names = {}, {}
    for node in nodes:
        tensor = operator.attrgetter(node.target)(graph_module)
        place = (tensor.data_ptr(), tuple(tensor.stride()), tuple(tensor.shape)) if tensor.numel() else node.target
        names[node] = first.setdefault(place, node.target)
    return names


def tied_names(program):
    """The names of the tensors of a program that have several."""
    names = {}
    for name, tensor in program.state_dict.items():
        names.setdefault((tensor.data_ptr(), tuple(tensor.shape)), []).append(name)
    return {name for several in names.values() if len(several) > 1 for name in several}


def kind_of(graph_module, name):
    return "parameter" if name in dict(graph_module.named_parameters(remove_duplicate=False)) else "buffer"


def canonical(graph_module, tied, constants=()):
    """The graph as lines. Explained differences, which it leaves out:
    - names of nodes, which are counted instead;
    - inputs and outputs that are no tensors: a captured program has their values;
    - tensors that no node uses: Inductor removes them;
    - the place of a tied tensor and its further names: Inductor has one constant for them, and a captured program one name, the
      first of the file's, which need not be the name that the file uses;
    - tensor constants of the program (`constants` of ours, _tensor_constant… of the file's): a package can be given their values
      under the name of a buffer alone, so ours stand among the buffers, and the file's where they are used. They are counted by
      their first use;
    - lift_fresh_copy of such a constant, a copy that nobody writes to;
    - _assert_tensor_metadata, which torch.export adds to a cast that is a call, as autocast's are in a captured program, and
      Inductor drops."""
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
    """What differs, as text; empty where nothing does."""
    return "\n".join(difflib.unified_diff(of_torch, own, "of torch", "of Torchstone", lineterm=""))


def printed(file, mode="inference"):
    """The neutral program of a file, as Torchstone captures it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("TORCHSTONE_", "GTEST_"))}
    run = subprocess.run([TORCHSTONE, "--torchstone_print_program", "--torchstone_format=json", "--torchstone_checks=accuracy",
                          f"--torchstone_modes={mode}", "--torchstone_backends=inductor", f"--torchstone_only={file}"],
                         capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        raise AssertionError(f"{file}: {run.stdout[-2000:]}{run.stderr[-2000:]}")
    return json.loads(run.stdout)[0]["program"]


def with_fixed_sizes(program):
    """The program of a file for the sizes of its example, for which it is captured too. torch.export takes no detach_ again, which
    it writes for a tensor of numbers, so the program is made functional before."""
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
        """But for those that Torchstone refuses (branch, nonzero, other_outputs) and for two, which torch.export.load does not read:
        it has two programs, of which eval and train are copies."""
        pair = collections.namedtuple("Pair", "first second")
        torch.utils._pytree._register_namedtuple(pair, serialized_type_name="test.Pair")
        for version in ("torch213", "torch211"):
            for name in ("eval", "functional", "plain", "texts"):
                file = root / "tests" / "oracles" / "exported" / version / f"{name}.pt2"
                with self.subTest(f"{version}/{name}"):
                    self.expect_same(torch.export.load(file), printed(file))


class DynamoGraphs(unittest.TestCase):
    """Under torch.compile Dynamo sees a module of calls, of the file and of the captured program."""

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
                # Of the file's module Dynamo takes the inputs first, because it flattens them; else it takes each at its first use.
                count = len(inputs)
                self.assertEqual(shapes[0][count:], shapes[1][:-count])


class TrainingGraphs(unittest.TestCase):
    """A step in two packages is divided into the forward and backward that torch.compile makes of the same program."""

    def parts(self, compile_step):
        """The graphs that come to Inductor's compiler, as lines by the part of the step."""
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
