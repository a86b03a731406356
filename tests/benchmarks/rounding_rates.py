#!/usr/bin/env python3
"""Measures how often the statistics of docs/rounding.md err: false alarms on right results, and missed planted errors.

Usage: rounding_rates.py [--models mlp,lstm] [--dtypes float32,bfloat16] [--modes inference,training] [--rows 10] [--first-seed 0]
Needs only torch. Restates the formulas of reports/statistics/rounding.cpp in Python. Prints a CSV line for each model,
dtype and mode, and prints each alarm to stderr. Each row generates weights and inputs from its own seed.
"""
import argparse
import copy
import functools
import math
import statistics
import sys

import torch
from torch import nn
from torch.nn import functional as F

RATE, LEAST = 1e-3, 3
# (amplitude, runs, further runs if the first ones give an alarm, unit roundoff)
PLANS = {torch.float32: (64, 4, 16, 2**-24), torch.bfloat16: (1, 8, 24, 2**-9)}


class Transformer(nn.Module):
    def __init__(self, width=64, words=101):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(torch.randn(32, width) * 0.02)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "norm": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width),
            "second": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)}) for _ in range(2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)

    def forward(self, tokens):
        x = self.words(tokens) + self.places
        batch, length, width = x.shape
        for layer in self.layers:
            q, k, v = (t.view(batch, length, 4, width // 4).transpose(1, 2) for t in layer["qkv"](layer["norm"](x)).chunk(3, -1))
            attention = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // 4), -1) @ v
            x = x + layer["out"](attention.transpose(1, 2).reshape(batch, length, width))
            x = x + layer["down"](F.gelu(layer["up"](layer["second"](x))))
        return self.head(self.norm(x))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.head = nn.LSTM(20, 32, 2, batch_first=True), nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.cells(x)[0])


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first, self.second = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norm, self.last = nn.BatchNorm2d(after), nn.BatchNorm2d(after)
        self.skip = nn.Sequential(nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)) if before != after else nn.Identity()

    def forward(self, x):
        return F.relu(self.last(self.second(F.relu(self.norm(self.first(x))))) + self.skip(x))


def pooled(*layers, width):
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def residual_net():
    return pooled(nn.Conv2d(3, 32, 3, 1, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(3, 1, 1), Residual(32, 32, 1),
                  Residual(32, 64, 2), Residual(64, 64, 1), Residual(64, 128, 2), Residual(128, 128, 1), width=128)


def mobile_net():
    layers, width = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()], 16
    for after, stride in ((24, 1), (24, 1), (40, 2), (40, 1), (64, 1)):
        wide = 4 * width
        layers += [nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU(),
                   nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.Hardswish(),
                   nn.Conv2d(wide, after, 1, bias=False), nn.BatchNorm2d(after)]
        width = after
    return pooled(*layers, width=64)


def deep_net():  # convolutions before batch norm have a bias, whose gradient is pure rounding noise
    layers, width = [], 3
    for _ in range(12):
        layers += [nn.Conv2d(width, 24, 3, 1, 1), nn.BatchNorm2d(24), nn.ReLU()]
        width = 24
    return pooled(*layers, width=24)


def images(batch, size):
    return lambda: torch.randn(batch, 3, size, size)


MODELS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(50, 200), nn.ReLU(), nn.Linear(200, 200), nn.ReLU(), nn.Linear(200, 10)), lambda: torch.randn(8, 50)),
    "lstm": (Recurrent, lambda: torch.randn(4, 12, 20)),
    "transformer": (Transformer, lambda: torch.randint(0, 101, (4, 32))),
    "convolutions": (lambda: nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(),
                                           nn.MaxPool2d(2), nn.Flatten(), nn.Linear(2048, 10)), images(2, 32)),
    "residual": (residual_net, images(4, 16)),
    "mobile": (mobile_net, images(4, 24)),
    "deep": (deep_net, images(4, 8)),
}


def beta_fraction(a, b, x):
    def guarded(value):
        return value if abs(value) > 1e-300 else 1e-300
    c, d = 1, 1 / guarded(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1 / guarded(1 + even * d), guarded(1 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1 / guarded(1 + odd * d), guarded(1 + odd / c)
        result *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return result


def fisher_tail(f, above, below):
    x, a, b = below / (below + above * f), below / 2, above / 2
    if x >= 1:
        return 1
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front * beta_fraction(a, b, x) / a if x < (a + 1) / (a + b + 2) else 1 - front * beta_fraction(b, a, 1 - x) / b


@functools.lru_cache(None)
def fisher_bound(tail, above, below):
    low, high = 0, 1
    while fisher_tail(high, above, below) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fisher_tail(middle, above, below) > tail else (low, middle)
    return high


def rms(tensor):
    return tensor.square().mean().sqrt().item()


class Judge:
    """The error that rounding explains in one tensor."""

    def __init__(self, exact, eager, runs, tensors):
        amplitude, _, _, roundoff = PLANS[eager.dtype]
        self.exact, self.size, self.eager = exact.flatten(), rms(exact), rms(eager.double() - exact)
        errors = torch.stack([run.double().flatten() for run in runs]) - self.exact
        count, elements = errors.shape
        unit, lost = amplitude * roundoff, min(1, self.eager / max(self.size, 1e-300))
        scale = math.sqrt(max(errors.square().mean().item(), self.eager**2) + (unit * self.size)**2 + (amplitude * self.eager * lost)**2)
        self.scale = max(scale, 1e-38)
        self.scales = (errors.square().mean(0) + self.scale**2 + (unit * self.exact)**2).sqrt()
        products = errors[:8] @ errors[:8].T
        sizes = products.diagonal()
        degrees = 1
        if (sizes > 0).all():
            pairs = len(sizes) * (len(sizes) - 1)
            cosines = (products.square() / sizes.outer(sizes)).sum().item() - len(sizes)
            degrees = min(max(1, pairs / max(cosines, pairs / 10_000)), elements)
        factors = errors @ self.exact / max(self.size, 1e-300)**2 / elements
        of_factors = max(factors.square().mean().item(), self.factor(eager)**2)
        cancelled = amplitude * self.eager * lost / max(self.size, 1e-300)
        self.factor_scale = math.sqrt(of_factors + unit**2 + cancelled**2 / degrees)
        tail = RATE / (3 * tensors)
        of_runs = errors.square().mean().sqrt().item()
        if of_runs < amplitude * self.eager:  # errors that do not grow with the amplitude
            amplitude = max(1, of_runs / self.eager)
        self.norm = max(LEAST, math.sqrt(fisher_bound(tail, round(degrees, 1), round(count * degrees, 1))) / amplitude)
        self.alike = max(LEAST, math.sqrt(fisher_bound(tail, 1, count)) / amplitude)
        self.element = max(LEAST, math.sqrt(fisher_bound(tail / elements, 1, count)) / amplitude)

    def factor(self, result):
        """Returns the relative error that all values of the result have in common; 0 if all exact values are 0."""
        error = result.double().flatten() - self.exact
        return abs((error @ self.exact).item()) / len(error) / max(self.size, 1e-300)**2 if self.size else 0

    def limit(self):
        """Returns the detection limit, or None if the tensor is pure rounding noise."""
        if self.eager >= self.size:
            return None
        return min(self.norm * self.scale / self.size, self.alike * self.factor_scale,
                   self.element * (self.scales / self.exact.abs().clamp_min(1e-300)).min().item())

    def times(self, result):
        error = result.double().flatten() - self.exact
        return max(rms(error) / self.scale / self.norm, self.factor(result) / self.factor_scale / self.alike,
                   (error.abs() / self.scales).max().item() / self.element)


def perturbed(tensor, generator, is_input):
    amplitude, _, _, roundoff = PLANS[tensor.dtype]
    value, noise = tensor.detach(), torch.rand(tensor.shape, generator=generator)
    if tensor.dtype == torch.float32:
        moved = value + amplitude * roundoff * (2 * noise - 1) * (value.abs() if value.any() else torch.ones_like(value))
        return torch.where(value == value.round(), value, moved) if is_input else moved
    moved = value.float() * (1 + 2 * roundoff * ((noise < 1 / 8).float() - (noise > 7 / 8).float()))
    return torch.where(value == value.round(), value, moved.to(tensor.dtype))


class Row:
    """One model with its inputs. Results are dicts of tensors by name."""

    def __init__(self, model, dtype, training, seed):
        torch.manual_seed(seed)
        make, inputs = MODELS[model]
        self.dtype, self.training, self.model, self.inputs = dtype, training, make().to(dtype), self.cast(inputs(), dtype)
        with torch.no_grad():
            output = self.copy()(self.inputs)
        self.labels = torch.randint(0, output.shape[-1], output.shape[:-1])
        self.generator = torch.Generator().manual_seed(seed)

    @staticmethod
    def cast(tensor, dtype):
        return tensor.to(dtype) if tensor.is_floating_point() else tensor

    def copy(self):
        return copy.deepcopy(self.model).train(self.training)

    def results(self, model, inputs, call=None, labels=None):
        call = model if call is None else call
        if not self.training:
            with torch.no_grad():
                return {"output": call(inputs)}
        model.zero_grad(set_to_none=True)
        inputs = inputs.detach().clone(memory_format=torch.preserve_format).requires_grad_(inputs.is_floating_point())
        output = call(inputs)
        wide = output if output.dtype == torch.float64 else output.float()
        loss = F.cross_entropy(wide.reshape(-1, wide.shape[-1]), (self.labels if labels is None else labels).reshape(-1))
        loss.backward()
        found = {"loss": loss.detach().to(self.dtype) if output.dtype == self.dtype else loss.detach()}
        found |= {name: parameter.grad for name, parameter in model.named_parameters()}
        return found | ({"inputs": inputs.grad} if inputs.grad is not None else {})

    def exact(self):
        found = self.results(self.copy().double(), self.cast(self.inputs, torch.float64))
        return {name: value.double() for name, value in found.items()}

    def other_rounding(self, count):
        runs = []
        for _ in range(count):
            model = self.copy()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(perturbed(parameter, self.generator, is_input=False))
            inputs = perturbed(self.inputs, self.generator, is_input=True) if self.inputs.is_floating_point() else self.inputs
            runs.append(self.results(model, inputs))
        return runs

    def right_by_construction(self):
        """Yields the name of a condition, and the results of the same computation under it."""
        torch.set_num_threads(2)
        yield "threads", self.results(self.copy(), self.inputs)
        torch.set_num_threads(1)
        traced = torch.jit.trace(self.copy(), self.inputs, check_trace=False)
        for _ in range(2):  # the profiling executor optimizes after its first run
            traced.load_state_dict(self.model.state_dict())
            found = self.results(traced, self.inputs)
        yield "jit.trace", found
        order = torch.randperm(len(self.inputs), generator=self.generator)
        found = self.results(self.copy(), self.inputs[order], labels=self.labels[order])
        yield "batch", {name: value[order.argsort()] if name in ("output", "inputs") else value for name, value in found.items()}
        with torch.backends.mkldnn.flags(enabled=False):
            yield "no oneDNN", self.results(self.copy(), self.inputs)
        if self.inputs.dim() == 4:
            layout = torch.channels_last
            yield "channels last", self.results(self.copy().to(memory_format=layout), self.inputs.contiguous(memory_format=layout))
        else:
            torch._dynamo.reset()
            model = self.copy()
            yield "decomposed", self.results(model, self.inputs, torch.compile(model, backend="aot_eager_decomp_partition"))


def measured(model, dtype, training, seeds):
    """Returns counts of (results, alarms, alarms confirmed by further runs, planted errors of twice the limit, missed
    ones of these, errors of half the limit that were called wrong), and the rows' detection limits."""
    counts, limits = [0] * 6, []
    for seed in seeds:
        row = Row(model, dtype, training, seed)
        exact, eager, runs, more = row.exact(), row.results(row.copy(), row.inputs), None, None
        runs = row.other_rounding(PLANS[dtype][1])

        def judges(runs):
            return {name: Judge(exact[name], eager[name].to(dtype), [run[name] for run in runs], len(exact)) for name in exact}

        first = judges(runs)
        found = {name: judge.limit() for name, judge in first.items()}
        limits.append(max((limit for limit in found.values() if limit is not None), default=0))
        for name, limit in found.items():
            if limit is not None:
                counts[3] += 1
                counts[4] += first[name].times(eager[name].double() * (1 + 2 * limit)) <= 1
                counts[5] += first[name].times(eager[name].double() * (1 + limit / 2)) > 1
        for kind, results in row.right_by_construction():
            counts[0] += 1
            name = max(exact, key=lambda name: first[name].times(results[name]))
            times = first[name].times(results[name])
            if times <= 1:
                continue
            counts[1] += 1
            more = more or judges(runs + row.other_rounding(PLANS[dtype][2]))
            again = max(more[name].times(results[name]) for name in exact)
            counts[2] += again > 1
            print(f"{model} seed {seed}, {kind}: {name} {times:.2f} times, then {again:.2f}", file=sys.stderr)
    return counts, limits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--dtypes", default="float32,bfloat16")
    parser.add_argument("--modes", default="inference,training")
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.rows)
    print("model,dtype,mode,results,alarms,alarms after the second look,planted,missed at twice the limit,red at half of it,"
          "median limit (%),worst limit (%)")
    for model in arguments.models.split(","):
        for dtype in arguments.dtypes.split(","):
            for mode in arguments.modes.split(","):
                counts, limits = measured(model, getattr(torch, dtype), mode == "training", seeds)
                print(",".join(map(str, [model, dtype, mode, *counts, f"{100 * statistics.median(limits):.2g}", f"{100 * max(limits):.2g}"])),
                      flush=True)


if __name__ == "__main__":
    main()
