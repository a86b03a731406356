"""The file: one or two exported programs, what they were made of, and the outputs of Python's eager mode."""
import contextlib
import io
import json
import os
import tempfile
import zipfile

import torch
from torch.export.pt2_archive._package import package_pt2
from torch.utils._pytree import tree_leaves, tree_map_only

import cache_name
import reads
import sources
import traced

INFO = "torchstone_info.json"
OUTPUTS = "torchstone/outputs.pt"  # not under extra/, which torch.export.load reads as text


def write(subject, source, options, path):
    prepare(subject, options)
    if options.traced:
        return traced.write(subject, path)
    # In a folder beside it: the archive's own folder is called as the file is, and nobody sees half a file.
    with tempfile.TemporaryDirectory(prefix=".export-", dir=os.path.dirname(os.path.abspath(path))) as folder:
        part = os.path.join(folder, os.path.basename(path))
        write_programs(subject, source, options, part)
        os.replace(part, path)


def prepare(subject, options):
    if options.weights:
        subject.model.load_state_dict(read_weights(options.weights))
    dtype = getattr(torch, options.dtype)
    subject.model.to(dtype)
    spread(subject.model)
    cast = lambda t: t.to(dtype) if t.is_floating_point() else t  # noqa: E731
    subject.args = tree_map_only(torch.Tensor, cast, subject.args)
    subject.kwargs = tree_map_only(torch.Tensor, cast, subject.kwargs)


def spread(model):
    """A tensor that is expanded, as a grid of one row: its elements get memory of their own, so that they can be written."""
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
        known = constant_reads(subject)
        with torch.random.fork_rng(), reads.Replayer(subject.model, known) if known else contextlib.nullcontext():
            program = torch.export.export(subject.model, subject.args, subject.kwargs, strict=False)
        programs["train" if mode == "train" and options.mode == "both" else "model"] = program
    info = {"format": 1, "source": ":".join(source), "packages": cache_name.versions(subject.packages),
            "mode": modes[0], "preset": options.preset, "seed": options.seed,
            "random_outputs": outputs is None}
    for key in ("loss", "suite"):
        if getattr(subject, key):
            info[key] = getattr(subject, key)
    package_pt2(path, exported_programs=programs, extra_files={INFO: json.dumps(info)})
    if outputs is not None:
        add_record(path, OUTPUTS, outputs)


def eager_outputs(subject):
    """The flat outputs for the sample inputs; None when they are random. State that a call changes is put back."""
    state = state_of(subject.model)
    results = []
    for seed in (1, 2):
        with torch.no_grad(), torch.random.fork_rng():
            torch.manual_seed(seed)
            out = subject.model(*copied(subject.args), **copied(subject.kwargs))
        results.append([t.detach().clone().contiguous() for t in tree_leaves(out) if isinstance(t, torch.Tensor)])
        put_back(subject.model, state)
    same = all(torch.equal(a, b) or (a.isnan() == b.isnan()).all() and torch.allclose(a, b, 1e-5, 1e-6, equal_nan=True)
               for a, b in zip(*results))
    return results[0] if same else None


def constant_reads(subject):
    """The values that Python reads while the model runs; empty when there are none or other inputs give others."""
    known, agreed = read_values(subject, (subject.args, subject.kwargs)), 0
    if known:
        with torch.random.fork_rng():
            for inputs in reads.others((subject.args, subject.kwargs)):
                try:
                    if read_values(subject, inputs) != known:
                        return []
                    agreed += 1
                except Exception:  # inputs that the model refuses say nothing
                    pass
    return known if agreed else []


def read_values(subject, inputs):
    state = state_of(subject.model)
    try:
        with torch.no_grad(), torch.random.fork_rng(), reads.Recorder() as recorder:
            subject.model(*copied(inputs[0]), **copied(inputs[1]))
        return recorder.values
    finally:
        put_back(subject.model, state)


def state_of(model):
    """Copies of its tensors; modules of quantized models also hold types and packed weights, which no call changes."""
    return {name: value.clone() for name, value in model.state_dict().items() if isinstance(value, torch.Tensor)}


def put_back(model, state):
    """What a call changed; what it made, as a grid that is kept for the next call, stays."""
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            if name in state and not torch.equal(tensor, state[name]):
                tensor.copy_(state[name])


def copied(tree):
    return tree_map_only(torch.Tensor, torch.clone, tree)


def add_record(path, name, tensors):
    """A record beside those of the archive's own folder, stored as they are: uncompressed."""
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        folder = archive.namelist()[0].split("/", 1)[0]
        archive.writestr(f"{folder}/{name}", buffer.getvalue())
