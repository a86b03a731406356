"""Writes the archive: one or two exported programs, facts about how they were made, and the outputs of Python's eager mode."""
import io
import json
import os
import tempfile
import zipfile

import torch
from torch.export.pt2_archive._package import package_pt2
from torch.utils._pytree import tree_leaves, tree_map_only

import cache_name
import exporting
import sources
import traced

OUTPUTS = "torchstone/outputs.pt"  # not under extra/, which torch.export.load reads as text


def write(subject, source, options, path):
    prepare(subject, options)
    if options.traced:
        return traced.write(subject, facts(subject, source, options), path)
    # The archive's inner folder is named like the file, so the temporary file has the final name. The move is atomic.
    with tempfile.TemporaryDirectory(prefix=".export-", dir=os.path.dirname(os.path.abspath(path))) as folder:
        part = os.path.join(folder, os.path.basename(path))
        write_programs(subject, source, options, part)
        os.replace(part, path)


def prepare(subject, options):
    if options.weights:
        subject.model.load_state_dict(read_weights(options.weights))
    dtype = getattr(torch, options.dtype)
    cast = lambda t: t.to(dtype) if t.is_floating_point() else t  # noqa: E731
    subject.model._apply(cast)  # Module.to() would drop the imaginary parts of complex weights
    spread(subject.model)
    subject.args = tree_map_only(torch.Tensor, cast, subject.args)
    subject.kwargs = tree_map_only(torch.Tensor, cast, subject.kwargs)


def spread(model):
    """Replaces expanded tensors by contiguous copies, which can be written in place."""
    for tensor in (*model.parameters(), *model.buffers()):
        if any(stride == 0 and size > 1 for stride, size in zip(tensor.stride(), tensor.shape)):
            tensor.data = tensor.data.clone(memory_format=torch.contiguous_format)


def read_weights(path):
    if path.endswith(".safetensors"):
        import safetensors.torch
        return safetensors.torch.load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True)


def write_programs(subject, source, options, path):
    modes = ["eval", "train"] if options.mode == "both" else [options.mode]
    programs, outputs = {}, None
    for mode in modes:
        subject.model.train(mode == "train")
        if outputs is None:
            outputs = eager_outputs(subject)
        with torch.random.fork_rng():
            program = exporting.exported(subject)
        programs["train" if mode == "train" and options.mode == "both" else "model"] = program
    info = facts(subject, source, options) | {"mode": modes[0], "random_outputs": outputs is None}
    package_pt2(path, exported_programs=programs, extra_files={traced.INFO: json.dumps(info)})
    if outputs is not None:
        add_record(path, OUTPUTS, outputs)


def facts(subject, source, options):
    """Returns facts about how the file was made. If they name a `suite`, Torchstone applies the policy of this upstream
    suite."""
    known = {"format": 1, "source": ":".join(source), "packages": cache_name.versions(subject.packages),
             "preset": options.preset, "seed": options.seed}
    return known | {key: getattr(subject, key) for key in ("loss", "suite") if getattr(subject, key)}


def eager_outputs(subject):
    """Returns the output tensors for the sample inputs as a flat list; None if they depend on the seed. Restores the model's
    state after each call."""
    state = exporting.state_of(subject.model)
    results = []
    for seed in (1, 2):
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(seed)
            out = subject.model(*exporting.copied(subject.args), **exporting.copied(subject.kwargs))
        results.append([t.detach().clone().contiguous() for t in tree_leaves(out) if isinstance(t, torch.Tensor)])
        exporting.put_back(subject.model, state)
    first, second = results
    same = [t.shape for t in first] == [t.shape for t in second] and all(
        torch.equal(a, b) or (a.isnan() == b.isnan()).all() and torch.allclose(a, b, 1e-5, 1e-6, equal_nan=True)
        for a, b in zip(first, second))
    return first if same else None


def add_record(path, name, tensors):
    """Adds an uncompressed record to the archive's inner folder."""
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        folder = archive.namelist()[0].split("/", 1)[0]
        archive.writestr(f"{folder}/{name}", buffer.getvalue())
