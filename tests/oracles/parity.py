#!/usr/bin/env python3
"""Writes golden outputs of the Python originals, which the C++ models are compared with.

  parity.py --write [MODEL …]   writes golden/<model>_<preset>.safetensors
  parity.py --check [MODEL …]   recomputes and compares them: exit code 1 if one differs, 77 if a package is missing
  parity.py --check --large     checks only the models of large.txt, which --check without names leaves out

Weights and inputs come from counter_fill.py, so a file contains only results:
- the outputs in evaluation mode in float32, or in float64 if the original asks for it. At most SAMPLE elements of each
  output are stored, evenly strided.
- for mini, also one training pass without dropout, if the model has parameters. It consists of the loss (the mean of
  the outputs, or the original's own rule), the norm of each gradient, and the norm of each floating-point buffer
  afterwards, in the order of their names.

The metadata contains model, preset, batch, inputs, output shapes, tolerance, package and versions. For mini it also
contains the names and shapes of the state, nested at the dots, and the constants outside the state_dict. For full, the
outputs prove the names, because each name determines its values.
"""
import argparse
import importlib.metadata
import importlib.util
import json
import math
import pathlib
import sys

try:
    import torch
    from safetensors import safe_open
    from safetensors.torch import save_file
except ImportError as error:
    print(f"not compared: {error}", file=sys.stderr)
    sys.exit(77)

from counter_fill import counter_fill, input_of, state
from originals import ORIGINALS

GOLDEN = pathlib.Path(__file__).with_name("golden")
SAMPLE = 1024
LARGE = set(pathlib.Path(__file__).with_name("large.txt").read_text().split())


def leaves(value):
    if torch.is_tensor(value):
        return [value]
    values = value.values() if isinstance(value, dict) else value
    return [leaf for item in values for leaf in leaves(item)]


def training_pass(model, inputs, original):
    """Returns the loss, gradients and buffers of one pass in train mode, without dropout and stochastic depth."""
    model.train()
    torch.manual_seed(0)  # for models that generate random numbers
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if type(module).__name__ == "DropPath":
            module.drop_prob = 0.0
    outputs = leaves(original.output(model(*inputs)))
    loss = original.loss(outputs)
    loss.backward()
    tensors, constants = state(model)
    names = sorted(set(tensors) - set(constants))
    gradients = [tensors[name].grad.norm() for name in names if tensors[name].requires_grad]
    buffers = [tensors[name].norm() for name in names
               if tensors[name].is_floating_point() and not tensors[name].requires_grad]
    results = {"train.loss": loss.detach().reshape(1), "train.gradients": torch.stack(gradients)}
    return results | ({"train.buffers": torch.stack(buffers)} if buffers else {})


def nested(tensors):
    """Converts {"a.b": tensor} to {"a": {"b": shape}}."""
    tree = {}
    for name, tensor in tensors.items():
        *path, last = name.split(".")
        place = tree
        for part in path:
            place = place.setdefault(part, {})
        place[last] = list(tensor.shape)
    return tree


def relative_error(found, expected, key):
    """Returns the largest difference relative to the largest value. The norms of a training pass differ in magnitude,
    so their differences are relative to the value itself plus a thousandth of the largest value."""
    scale = expected.abs().max()
    if key.startswith("train."):
        scale = expected.abs() + 1e-3 * scale
    return ((found - expected).abs() / scale).max().item()


class WithoutDrawing(torch.overrides.TorchFunctionMode):
    """Skips the random initialisation of weights. It takes most of the time for large models, and counter_fill replaces
    the values anyway."""

    DRAWS = {"normal_", "uniform_", "erfinv_", "kaiming_uniform_"}  # matched by name, because transformers wraps them

    def __torch_function__(self, function, types, arguments=(), options=None):
        options = options or {}
        if function.__name__ in self.DRAWS:
            return arguments[0] if arguments else options["tensor"]
        return function(*arguments, **options)


def compute(name, full):
    original = ORIGINALS[name]
    batch = original.batch_size(full)
    inputs = original.input_specs(full)
    with WithoutDrawing():
        model = original.build(full).eval()
    counter_fill(model)
    values = [input_of(f"input.{i}", spec) for i, spec in enumerate(inputs)]
    if original.double:
        model.double()
        values = [value.double() if value.is_floating_point() else value for value in values]
    with torch.no_grad():
        outputs = leaves(original.output(model(*values)))
    samples = {}
    for i, output in enumerate(outputs):
        stride = math.ceil(output.numel() / SAMPLE)
        samples[f"output.{i}"] = output.flatten()[::stride].clone()
    facts = {
        "model": name, "preset": "full" if full else "mini", "batch": batch, "inputs": inputs,
        "outputs": [list(output.shape) for output in outputs], "tolerance": original.tolerance,
        "train_tolerance": original.train_tolerance,
    }
    if original.double:
        facts["double"] = True
    if original.training_inputs and not full:
        facts["training"] = True
    if not full:
        if any(parameter.requires_grad for parameter in model.parameters()):
            samples |= training_pass(model, values, original)
        tensors, constants = state(model)
        facts |= {"state": nested(tensors), "constants": constants}
    versions = {"torch": torch.__version__, original.package: importlib.metadata.version(original.package),
                "vectors": torch.backends.cpu.get_cpu_capability()}
    return samples, facts, versions


def path_of(name, full):
    return GOLDEN / f"{name}_{'full' if full else 'mini'}.safetensors"


def write(name, full):
    samples, facts, versions = compute(name, full)
    metadata = {"facts": json.dumps(facts, sort_keys=True, separators=(",", ":")), "versions": json.dumps(versions, sort_keys=True)}
    save_file(samples, path_of(name, full), metadata)
    print(f"{path_of(name, full).name}: largest", {key: f"{s.abs().max().item():.4g}" for key, s in samples.items()})


def check(name, full):
    """Returns the differences as lines."""
    samples, facts, _ = compute(name, full)
    with safe_open(path_of(name, full), framework="pt") as file:
        lines = [] if json.loads(file.metadata()["facts"]) == facts else ["shapes, names or inputs differ"]
        stored = {key: file.get_tensor(key) for key in file.keys()}
        vectors = json.loads(file.metadata()["versions"]).get("vectors", "AVX512")
    if stored.keys() != samples.keys():
        return lines + ["the outputs' names differ"]
    for key, sample in samples.items():
        error = relative_error(sample, stored[key], key)
        allowed = facts["train_tolerance" if key.startswith("train.") else "tolerance"]
        if torch.backends.cpu.get_cpu_capability() != vectors:  # the same rule as allowance() in parity_test.cpp
            allowed *= 100
        print(f"{name} {'full' if full else 'mini'} {key}: relative difference {error:.2g}")
        if not error <= allowed:
            lines.append(f"{key} differs by {error:.3g}, allowed {allowed:g}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--write", action="store_true")
    action.add_argument("--check", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    options = parser.parse_args()
    unknown = set(options.models) - set(ORIGINALS)
    if unknown:
        parser.error(f"no original of {', '.join(sorted(unknown))}; known: {', '.join(ORIGINALS)}")
    absent, failed = set(), False
    for name in options.models or ORIGINALS:
        package = ORIGINALS[name].package
        if importlib.util.find_spec(package) is None:
            absent.add(package)
            continue
        for full in (False, True):
            if options.check and not options.models and (path_of(name, full).stem in LARGE) != options.large:
                continue
            if options.write:
                write(name, full)
                continue
            for line in check(name, full):
                failed = True
                print(f"{path_of(name, full).name}: {line}", file=sys.stderr)
    for package in sorted(absent):
        print(f"not compared: the Python package {package} is absent", file=sys.stderr)
    return 1 if failed else 77 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
