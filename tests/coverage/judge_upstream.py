#!/usr/bin/env python3
"""Judges compilers on upstream's models, and appends one line to a ledger for each verdict.

  PYTHON judge_upstream.py TORCHSTONE --files FOLDER [--ledger verdicts.jsonl] [--kinds native,exported,python]
         [--modes inference,training] [--preset mini] [--devices cpu] [--jobs N] [NAME…]

Without names, it runs all models of upstream_models.txt. PYTHON needs the packages (timm, transformers, …). Kinds:
`native` is the model of the zoo and `exported` a .pt2 file, both with Inductor; `python` is the module under
torch.compile. An interrupted run can be continued. A verdict is not repeated while the versions of the packages are the
same. --again repeats verdicts other than `pass`. Jobs are distributed over the devices. Models that upstream skips run
too."""
import argparse
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time

import coverage

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "cases" / "exporter"), str(ROOT / "tests" / "exporter")]
from judge_packages import next_time, without_folders  # noqa: E402

PACKAGES = ("timm", "torchvision", "transformers", "torch_geometric", "diffusers", "torchbenchmark")
BACKENDS = {"native": "inductor", "exported": "inductor", "python": "torch_compile"}
NOT_RUN = "not_run"  # status if the program wrote no row


def key_of(row):
    return tuple(row[field] for field in ("name", "kind", "mode", "device", "preset"))


def read_ledger(path):
    return {key_of(row): row for row in coverage.lines_of(path)}


def tasks(options, versions, known):
    """Yields (name, kind, name of the model for the program, modes without a verdict)."""
    device = options.devices[0].split(":")[0]
    for name, ours in models(options.names):
        for kind in options.kinds:
            if kind == "native" and not ours:
                continue
            modes = [mode for mode in options.modes
                     if not is_done(known.get((name, kind, mode, device, options.preset)), versions, options.again)]
            if modes:
                yield name, kind, ours if kind == "native" else f"upstream:{name}", modes


def models(names):
    """Returns (upstream's name, the zoo's name or None) for these names, or for all if there are none."""
    all_models = {name: ours for entries in coverage.upstream()[0].values() for name, ours, _ in entries}
    unknown = [name for name in names if name not in all_models]
    if unknown:
        sys.exit(f"judge_upstream.py: {unknown[0]} is no name of upstream_models.txt")
    return [(name, all_models[name]) for name in names or all_models]


def is_done(row, versions, again):
    return row is not None and row["versions"] == versions and not (again and row["status"] != "pass")


def command_of(options, kind, model, modes, device, out):
    command = [options.torchstone, f"--torchstone_only={model}", "--torchstone_checks=accuracy", "--torchstone_judge=upstream",
               f"--torchstone_modes={','.join(modes)}", f"--torchstone_backends={BACKENDS[kind]}",
               f"--torchstone_presets={options.preset}", f"--torchstone_devices={device}", "--torchstone_no_skip",
               "--torchstone_diagnose=never", f"--torchstone_out={out}",
               f"--torchstone_python={sys.executable}"]
    # Files and modules keep their own dtype, which is float32.
    return command + {"native": ["--torchstone_dtypes=float32"], "exported": [], "python": ["--torchstone_subject=python"]}[kind]


class Programs:
    """The programs that are running. Each has its own process group, which includes its children."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False

    def begin(self, command):
        """Starts a program; returns None after stop()."""
        with self.lock:
            if self.stopped:
                return None
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                       start_new_session=True)
            self.running.add(process)
            return process

    def forget(self, process):
        with self.lock:
            self.running.discard(process)

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)


def run(command, limit_s, programs):
    """Runs a program and returns its last message, or None after stop(). After the time limit, kills it and its
    children."""
    process = programs.begin(command)
    if process is None:
        return None
    try:
        _, messages = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"took longer than {limit_s} s"
    finally:
        programs.forget(process)
    if programs.stopped:
        return None
    return (messages.strip().splitlines() or [f"exit code {process.returncode}"])[-1]


def verdicts(options, task, device, facts, programs):
    """Judges one model and yields a row for each mode. Yields none after stop()."""
    name, kind, model, modes = task
    began = time.time()
    out = options.files / f"out-{os.getpid()}-{threading.get_ident()}"
    results = out / "results.json"
    with contextlib.suppress(FileNotFoundError):
        results.unlink()
    last_message = run(command_of(options, kind, model, modes, device, out), options.limit, programs)
    if last_message is None:
        return
    found = {}
    if results.exists():
        found = {row["mode"]: row["outcome"] for row in json.loads(results.read_text())["results"]}
    for mode in modes:
        outcome = found.get(mode, {"status": NOT_RUN, "reason": last_message})
        reason = (outcome.get("reason", "").splitlines() or [""])[0]
        yield {"name": name, "kind": kind, "mode": mode, "device": device.split(":")[0], "preset": options.preset,
               "backend": BACKENDS[kind], "status": outcome["status"], "reason": without_folders(reason),
               "seconds": round(time.time() - began, 1), **facts}


def judge_all(options, todo, facts):
    devices = queue.Queue()
    for job in range(options.jobs):
        devices.put(options.devices[job % len(options.devices)])
    lock, programs = threading.Lock(), Programs()

    def judge(task):
        if options.until and datetime.datetime.now() >= options.until:
            return
        device = devices.get()
        try:
            for row in verdicts(options, task, device, facts, programs):
                line = (json.dumps(row, sort_keys=True) + "\n").encode()
                with lock, open(options.ledger, "ab", buffering=0) as stream:
                    stream.write(line)
                    print(row["name"], row["kind"], row["mode"], row["status"], row["reason"][:200], row["seconds"], flush=True)
        finally:
            devices.put(device)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            for done in concurrent.futures.as_completed([pool.submit(judge, task) for task in todo]):
                done.result()
        except BaseException:  # also Ctrl-C
            pool.shutdown(wait=False, cancel_futures=True)
            programs.stop()
            raise


def listed(known, what):
    def read(text):
        values = text.split(",")
        for value in values:
            if value not in known:
                raise argparse.ArgumentTypeError(f"'{value}' is not a {what} (expected {', '.join(known)})")
        return values
    return read


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torchstone")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--files", type=pathlib.Path, required=True, help="folder for the results of single runs")
    parser.add_argument("--ledger", type=pathlib.Path, default=coverage.VERDICTS)
    parser.add_argument("--kinds", type=listed(BACKENDS, "kind"), default=list(BACKENDS))
    parser.add_argument("--modes", type=listed(("inference", "training"), "mode"), default=["inference", "training"])
    parser.add_argument("--preset", choices=["mini", "full"], default="mini")
    parser.add_argument("--devices", type=lambda text: text.split(","), default=["cpu"], help="cpu, or cuda:0,cuda:1,…")
    parser.add_argument("--jobs", type=int, default=1, help="models at the same time (default 1)")
    parser.add_argument("--limit", type=float, default=3600, metavar="S", help="for one model (default 3600)")
    parser.add_argument("--until", metavar="HH:MM", type=next_time, help="begins no model after the next HH:MM, today or tomorrow")
    parser.add_argument("--again", action="store_true", help="judge again what did not pass")
    options = parser.parse_intermixed_args(argv)
    if options.jobs < 1:
        parser.error("--jobs: expected a number of at least 1")
    return options


def main(argv=None):
    options = arguments(argv)
    import cache_name
    options.files = options.files.resolve()
    options.files.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    versions = cache_name.versions(PACKAGES)
    facts = {"versions": versions, "commit": commit, "date": datetime.date.today().isoformat()}
    todo = list(tasks(options, versions, read_ledger(options.ledger)))
    print(f"{len(todo)} models to judge, {options.jobs} at the same time", flush=True)
    try:
        judge_all(options, todo, facts)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
