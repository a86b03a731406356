"""measure_shipped.py make ORDER.json REPLY.json    makes the file that ships a variant of a tournament
measure_shipped.py run ORDER.json REPLY.json     loads that file, calls it and times the calls

The two steps are separate processes, so that the second one starts as a user's program does.

ORDER: {"folder": where the file is made, "program": Python expression that loads the exported program, "make" and "load": Python code as
the tournament prints it, "threads": number of torch's threads, 0 for torch's default}. `load` must define `model`.
REPLY: {"bytes": size of all files made}, or {"load_s", "first_call_s", "seconds": per call, "error": RMS of the difference from the
exported program's answer divided by the answer's RMS}, or {"refused": the error}."""
import json
import os
import sys
import time

BLOCKS, BLOCK_S, MOST_CALLS = 9, 0.02, 10000


def make(order):
    exec(order["make"], {})
    return {"bytes": sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names)}


def tensors_of(output):
    """Returns the tensors and arrays of an output in their order, as float64 tensors on the CPU. A complex tensor gets a last
    dimension with its real and imaginary parts."""
    import torch
    leaves = [torch.as_tensor(leaf).detach().cpu() for leaf in torch.utils._pytree.tree_leaves(output) if hasattr(leaf, "shape")]
    return [(torch.view_as_real(leaf.resolve_conj()) if leaf.is_complex() else leaf).double() for leaf in leaves]


def relative_error(expected, found):
    """Returns the largest error of any output: the RMS of the difference over the RMS of the expected values. Raises ValueError
    if shapes differ, or if only one of two values is finite."""
    if [leaf.shape for leaf in expected] != [leaf.shape for leaf in found]:
        raise ValueError("the outputs have other shapes than the exported program's")
    worst = 0.0
    for a, b in zip(expected, found):
        if not bool((a.isfinite() == b.isfinite()).all()):
            raise ValueError("the outputs have NaN or infinities where the exported program's have none, or the reverse")
        a, b = a[a.isfinite()], b[b.isfinite()]
        if a.numel() > 0:
            worst = max(worst, float((b - a).square().mean().sqrt() / a.square().mean().sqrt().clamp_min(1e-300)))
    return min(worst, sys.float_info.max)  # JSON has no infinities


def fastest_call(call):
    """Returns the seconds per call in the fastest of several blocks, as a tournament does for each process."""
    start = time.perf_counter()
    call()
    calls = min(MOST_CALLS, max(1, int(BLOCK_S / max(time.perf_counter() - start, 1e-9))))
    seconds = []
    for _ in range(BLOCKS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        seconds.append((time.perf_counter() - start) / calls)
    return min(seconds)


def measured(order):
    import torch
    import torch.export.passes  # noqa: F401  (the expression of the program may use it)
    if order["threads"] > 0:
        torch.set_num_threads(order["threads"])
    program = eval(order["program"], {"torch": torch})
    inputs, keywords = program.example_inputs
    if keywords:
        return {"refused": f"its example inputs have names: {', '.join(keywords)}"}
    own_inputs = torch.utils._pytree.tree_map(lambda x: x.clone() if torch.is_tensor(x) else x, inputs)
    with torch.no_grad():
        wait = torch.cuda.synchronize if any(getattr(x, "is_cuda", False) for x in inputs) else lambda: None
        names = {"torch": torch}
        start = time.perf_counter()
        exec(order["load"], names)
        loaded = time.perf_counter()
        found = names["model"](*inputs)
        wait()
        called = time.perf_counter()
        # Runs after the first call is timed, because the exported program would warm up threads and oneDNN's kernels.
        error = relative_error(tensors_of(program.module()(*own_inputs)), tensors_of(found))
        del program, own_inputs, found

        def call():
            names["model"](*inputs)
            wait()

        return {"load_s": loaded - start, "first_call_s": called - loaded, "seconds": fastest_call(call), "error": error}


def main(step, order_file, reply_file):
    with open(order_file) as file:
        order = json.load(file)
    reply_file = os.path.abspath(reply_file)
    os.chdir(order["folder"])
    try:
        reply = make(order) if step == "make" else measured(order)
    except Exception as fault:  # any error of a compiler, a runtime or the file
        reply = {"refused": f"{type(fault).__name__}: {fault}".splitlines()[0][:500]}
    with open(reply_file, "w") as file:
        json.dump(reply, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
