#!/usr/bin/env python3
"""Runs Torchstone and PyTorch's harness alternately on the same Python models, and writes one CSV file.

  PYTHON harness_side_by_side.py TORCHSTONE --harness=DIR --out=FOLDER [--device=cuda] timm:resnet50 transformers:BertForMaskedLM …

PYTHON needs torch, the packages of the models, and what the harness imports: numpy, pandas, scipy, psutil, tqdm,
PyYAML. DIR is userbenchmark/dynamo/dynamobench of pytorch/benchmark, from the month of torch's release. No network is
needed: weights are random, and the harness's timm_models.py loads each model as a class from a file, as Torchstone
does.

First, both programs judge accuracy. Then they time each model alternately, up to --turns times each and while time is
left (--limit). A program's speed-up is the median of its turns. Its interval extends from the lowest to the highest
bound of its turns. The harness reports no interval, so each of its turns gets the 95 % bootstrap interval of its ratio
of medians. FOLDER/side_by_side.csv is complete after each step, and FOLDER/runs has the logs. On CUDA, the default
dtype is bfloat16, because the harness allows TF32 for float32 and Torchstone does not. Exit code 0: each model has a
status and a timing from both programs. 1: something is missing."""
import argparse
import ast
import concurrent.futures
import csv
import json
import os
import pathlib
import random
import re
import signal
import statistics
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
EXPORTER = HERE.parents[1] / "cases" / "exporter"

COLUMNS = ("model", "device", "dtype", "mode", "status", "harness_status", "graphs", "harness_graphs", "graph_breaks",
           "harness_graph_breaks", "calls", "harness_calls", "recompiles", "speedup", "speedup_low", "speedup_high", "turns",
           "harness_speedup", "harness_low", "harness_high", "harness_turns", "speedups", "eager_ms", "compiled_ms",
           "harness_eager_ms", "harness_compiled_ms", "reason", "harness_reason")
DYNAMO = {"graphs": "unique_graphs", "graph_breaks": "graph_breaks", "calls": "calls_captured", "recompiles": "recompiles"}
BOTH, OVERLAP, APART = "within both intervals", "intervals overlap", "intervals apart"
RESAMPLES = 1000


def class_name(model):
    """Returns an identifier for SOURCE:NAME."""
    return re.sub(r"\W", "_", model)


def models_file(models, options):
    """Returns the text of the file with a class for each model."""
    lines = ["import sys", "", f"sys.path[:0] = [{str(EXPORTER)!r}, {str(HERE)!r}]", "from package_model import PackageModel"]
    for model in models:
        lines += ["", "", f"class {class_name(model)}(PackageModel):", f"    source = {model!r}",
                  f"    preset, batch_size, training_mode = {options.preset!r}, {options.batch_size!r}, {options.mode == 'training'!r}"]
    return "\n".join(lines) + "\n"


def torchstone_command(options, model, check, out):
    backend = ["--torchstone_backends=torch_compile:mode=reduce-overhead"] if options.cuda_graphs else []
    threads = [f"--torchstone_threads={options.threads}"] if options.threads else []
    timing = [f"--torchstone_measure_budget={options.budget}", f"--torchstone_processes={options.processes}"]
    timing = timing if check == "performance" else []  # Torchstone refuses flags without effect
    return [options.torchstone, f"--torchstone_only=path:{options.file},class:{class_name(model)}", f"--torchstone_checks={check}",
            f"--torchstone_modes={options.mode}", f"--torchstone_dtypes={options.dtype}", f"--torchstone_devices={options.device}",
            f"--torchstone_python={options.python}", f"--torchstone_out={out}/results", "--torchstone_diagnose=never",
            "--torchstone_color=never", *timing, *backend, *threads]


def harness_command(options, model, check, out):
    graphs = [] if options.cuda_graphs else ["--disable-cudagraphs"]
    threads = [f"--threads={options.threads}"] if options.threads else []
    raw = ["--dump-raw-metrics"] if check == "performance" else []
    script = pathlib.Path(options.harness, "timm_models.py").resolve()
    return [options.python, str(HERE / "start_harness.py"), str(EXPORTER), str(script), f"--{check}", f"--{options.mode}",
            "--inductor", f"--{options.dtype}", f"--device={options.device}",
            f"--only=path:{options.file},class:{class_name(model)}", f"--output={out}/harness.csv", *graphs, *threads, *raw]


def run(command, out, seconds):
    """Runs the command with its output in OUT/log. Returns why it has no result, if it was stopped or failed."""
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "log", "w") as log:
        try:
            process = subprocess.Popen(command, cwd=out, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            return str(error)
        try:
            code = process.wait(seconds)
        except BaseException as reason:
            os.killpg(process.pid, signal.SIGKILL)  # also kills its children, which would disturb the next run
            process.wait()
            if not isinstance(reason, subprocess.TimeoutExpired):
                raise
            return f"stopped after {seconds:.0f} s"
    lines = (out / "log").read_text(errors="replace").strip().splitlines()
    return f"exit code {code}: {lines[-1] if lines else 'no output'}" if code else ""


def of_torchstone(out, failure):
    """Returns {status, reason, …} of one case. The results have their own folder, because Torchstone refuses a folder
    with other files, such as the log."""
    file = out / "results" / "results.json"
    rows = json.loads(file.read_text())["results"] if file.exists() else []
    if not rows:
        return {"status": "", "reason": failure or "no result"}
    outcome = rows[0]["outcome"]
    metrics = {key: value for key, value in outcome.get("metrics", {}).items() if isinstance(value, (int, float))}
    found = {name: int(metrics[metric]) for name, metric in DYNAMO.items() if metric in metrics}
    found |= {name: metrics[name] for name in ("speedup", "speedup_low", "speedup_high", "eager_ms", "compiled_ms") if name in metrics}
    return found | {"status": outcome["status"], "reason": "" if outcome["status"] == "pass" else outcome.get("reason", "")}


def of_harness(out, failure):
    """Returns the same from the harness's table, where a speed-up of 0 means a failure."""
    file = out / "harness.csv"
    with open(file if file.exists() else os.devnull, newline="") as stream:
        rows = list(csv.DictReader(stream))
    if not rows:
        return {"status": "", "reason": failure or "no row"}
    row = rows[-1]
    found = {name: int(float(row[column])) for name, column in DYNAMO.items() if row.get(column)}
    status = row.get("accuracy") or ""
    speedup = float(row.get("speedup") or 0)
    if speedup > 0:
        found |= {"speedup": speedup, "compiled_ms": float(row["abs_latency"]), "eager_ms": speedup * float(row["abs_latency"])}
        raw = next(iter(sorted(out.glob("harness-raw_timings-*.npy"))), None)
        if raw is not None:
            found["speedup_low"], found["speedup_high"] = ratio_interval(array_of(raw.read_bytes()))
    ended = bool(status) or speedup > 0
    return found | {"status": status, "reason": "" if status.startswith("pass") or not status and ended else failure or status}


def array_of(data):
    """Returns the rows of a two-dimensional array of float64 in NumPy's format."""
    if data[:6] != b"\x93NUMPY":
        raise ValueError("not a file of NumPy")
    length, start = (struct.unpack("<H", data[8:10])[0], 10) if data[6] == 1 else (struct.unpack("<I", data[8:12])[0], 12)
    header = ast.literal_eval(data[start:start + length].decode("latin1"))
    if header["descr"] != "<f8" or header["fortran_order"] or len(header["shape"]) != 2:
        raise ValueError(f"expected rows of float64, found {header}")
    height, width = header["shape"]
    values = struct.unpack_from(f"<{height * width}d", data, start + length)
    return [values[row * width:(row + 1) * width] for row in range(height)]


def ratio_interval(rows):
    """Returns the 95 % bootstrap interval of median(eager) ÷ median(compiled), with rounds resampled in pairs."""
    draw = random.Random(1337)
    ratios = sorted(ratio(draw.choices(rows, k=len(rows))) for _ in range(RESAMPLES))
    return ratios[round(0.025 * (RESAMPLES - 1))], ratios[round(0.975 * (RESAMPLES - 1))]


def ratio(rows):
    return statistics.median(row[0] for row in rows) / statistics.median(row[1] for row in rows)


def joined(turns):
    """Combines the speed-ups of the repetitions into one. It has an interval only if every repetition has one."""
    timed = [one for one in turns if "speedup" in one]
    found = {name: statistics.median(one[name] for one in timed) for name in ("speedup", "eager_ms", "compiled_ms")
             if timed and all(name in one for one in timed)}
    if timed and all("speedup_low" in one and "speedup_high" in one for one in timed):
        found |= {"speedup_low": min(one["speedup_low"] for one in timed), "speedup_high": max(one["speedup_high"] for one in timed)}
    return found | {"turns": len(timed)}


def relation(ours, theirs):
    """Says whether the speed-ups agree; empty if one has no interval."""
    if not all(key in one for one in (ours, theirs) for key in ("speedup", "speedup_low", "speedup_high")):
        return ""
    if inside(ours["speedup"], theirs) and inside(theirs["speedup"], ours):
        return BOTH
    return OVERLAP if ours["speedup_low"] <= theirs["speedup_high"] and theirs["speedup_low"] <= ours["speedup_high"] else APART


def inside(value, one):
    return one["speedup_low"] <= value <= one["speedup_high"]


def row_of(model, options, results):
    """Returns the row of a model. `results` is (program, check) → list of the results of its runs."""
    sides = []
    for program in PROGRAMS:
        accuracy, timings = results.get((program, "accuracy"), []), results.get((program, "performance"), [])
        known = next((one for one in [*accuracy, *timings] if "graphs" in one), {})
        reasons = [one["reason"] for one in [*accuracy, *timings] if one["reason"]]
        status = accuracy[0]["status"] if accuracy else ""
        sides.append(joined(timings) | {name: known[name] for name in DYNAMO if name in known} |
                     {"status": status or "none", "reason": reasons[0] if reasons else "" if accuracy and timings else "no time was left"})
    ours, theirs = sides
    row = {"model": model, "device": options.device, "dtype": options.dtype, "mode": options.mode, "speedups": relation(ours, theirs)}
    row |= ours | {"harness_" + key.removeprefix("speedup_"): value for key, value in theirs.items() if key != "recompiles"}
    return {name: f"{row[name]:.4g}" if isinstance(row.get(name), float) else row.get(name, "") for name in COLUMNS}


def write(options, results):
    """Writes the table and returns its rows."""
    rows = [row_of(model, options, results.get(model, {})) for model in options.models]
    partial = options.out / "side_by_side.csv.part"
    with open(partial, "w", newline="") as stream:
        table = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    partial.replace(options.out / "side_by_side.csv")
    return rows


PROGRAMS = {"torchstone": (torchstone_command, of_torchstone), "harness": (harness_command, of_harness)}


def one_run(options, model, program, check, turn):
    """Runs once and returns the result. If no time is left, prints that the run is left out and returns None."""
    left = options.end - time.monotonic()
    if left < options.least:
        options.left_out += 1
        print(f"{program:10} {check:11} {model}: left out, turn {turn + 1}", flush=True)
        return None
    command, read = PROGRAMS[program]
    out = options.out / "runs" / f"{class_name(model)}_{check}_{turn}_{program}"
    began = time.monotonic()
    found = read(out, run(command(options, model, check, out), out, min(left, options.timeout)))
    text = found["status"] if check == "accuracy" else f"{found['speedup']:.3f}x" if "speedup" in found else "no timing"
    print(f"{program:10} {check:11} {model}: {text} {found['reason']} ({time.monotonic() - began:.0f} s)", flush=True)
    return found


def compared(options):
    """Makes all runs and returns the rows."""
    results = {}

    def keep(model, program, check, found):
        if found is not None:
            results.setdefault(model, {}).setdefault((program, check), []).append(found)
            write(options, results)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = [(model, program, pool.submit(one_run, options, model, program, "accuracy", 0))
                for model in options.models for program in PROGRAMS]
        for model, program, future in runs:
            keep(model, program, "accuracy", future.result())
    for turn in range(options.turns):
        for model in options.models:
            for program in (list(PROGRAMS) if turn % 2 == 0 else reversed(PROGRAMS)):
                keep(model, program, "performance", one_run(options, model, program, "performance", turn))
    return write(options, results)


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torchstone", type=os.path.abspath)
    parser.add_argument("models", nargs="+", metavar="SOURCE:NAME")
    parser.add_argument("--harness", required=True, help="folder with the harness's timm_models.py and common.py")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="a new folder")
    parser.add_argument("--python", default=sys.executable, help="the Python of both programs")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--mode", default="inference", choices=("inference", "training"))
    parser.add_argument("--dtype", choices=("float32", "bfloat16", "float16"), help="float32; with cuda bfloat16")
    parser.add_argument("--preset", choices=("mini", "full"), help="size of the models: mini; with cuda full")
    parser.add_argument("--batch_size", type=int, help="that of the preset")
    parser.add_argument("--cuda_graphs", action="store_true", help="both programs record CUDA graphs; without, none does")
    parser.add_argument("--threads", type=int, help="threads of torch in both programs")
    parser.add_argument("--turns", type=int, default=3, help="the most timings of each program and model")
    parser.add_argument("--processes", type=int, default=0, help="exactly so many processes in a turn of Torchstone, each of which "
                        "imports torch and compiles; 0: as many as it needs")
    parser.add_argument("--budget", type=float, default=5, help="seconds that Torchstone measures in a turn")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 4), help="concurrent runs of accuracy")
    parser.add_argument("--limit", type=float, default=300, help="seconds in all; no run continues after them")
    parser.add_argument("--timeout", type=float, default=240, help="seconds of one run")
    parser.add_argument("--least", type=float, default=15, help="seconds that must be left to start a run")
    options = parser.parse_args(argv)
    cuda = options.device == "cuda"
    options.dtype = options.dtype or ("bfloat16" if cuda else "float32")
    options.preset = options.preset or ("full" if cuda else "mini")
    if not pathlib.Path(options.harness, "timm_models.py").exists():
        parser.error(f"{options.harness} has no timm_models.py")
    options.out = options.out.resolve()
    if (options.out / "runs").exists():
        parser.error(f"{options.out} has the runs of an earlier comparison")
    options.models = list(dict.fromkeys(options.models))
    classes = {class_name(model): model for model in options.models}
    for model in options.models:
        if classes[class_name(model)] != model:
            parser.error(f"{model} and {classes[class_name(model)]} would both be the class {class_name(model)}: compare them in two runs")
    options.file = options.out / "models_of_packages.py"
    options.end = time.monotonic() + options.limit
    options.left_out = 0
    return options


def main(argv=None):
    options = arguments(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    options.file.write_text(models_file(options.models, options))
    rows = compared(options)
    for row in rows:
        print(f"{row['model']}: {row['status']} / {row['harness_status']}, graphs {row['graphs']} / {row['harness_graphs']}, breaks "
              f"{row['graph_breaks']} / {row['harness_graph_breaks']}, speed-up {row['speedup']} [{row['speedup_low']} {row['speedup_high']}] / "
              f"{row['harness_speedup']} [{row['harness_low']} {row['harness_high']}] {row['speedups']}")
    if options.left_out:
        print(f"Left out: {options.left_out} runs (--limit={options.limit:g}, --least={options.least:g})")
    whole = all(row["status"] != "none" and row["harness_status"] != "none" and row["turns"] and row["harness_turns"] for row in rows)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main())
