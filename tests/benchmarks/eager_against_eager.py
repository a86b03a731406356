#!/usr/bin/env python3
"""Measures the error rate of the speed-up gate on this machine: eager against eager, optionally slowed down.

Every case runs in its own process with a required speed-up of 1.0. Without --planted, the true speed-up is 1.0: every
`fail_speedup` is a false alarm, and the interval should contain 1.0. With --planted 1.05, each compiled call runs eager
and then busy-waits until it has taken 5 % longer. Every other status than `fail_speedup` is then a miss.

Writes one JSON line to --out after each case. The same command continues where it was stopped. The last line printed is
the summary. Exit code 0: the goal is met. Without --planted, it is at most one false alarm in a thousand cases, or one
in total if there are fewer. With --planted, it is that 95 % are caught. 1: the goal is missed. 2: a case did not run.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def arguments_of(parser):
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--models", help="names with commas between them (default: all of the suites)")
    parser.add_argument("--repetitions", type=int, default=40, help="of each model (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time (default: %(default)s)")
    parser.add_argument("--pin", action="store_true", help="give each job processor cores of its own, from the last on")
    parser.add_argument("--planted", type=float, metavar="FACTOR", help="slow the compiled side down: 1.05")
    parser.add_argument("--plugin", type=pathlib.Path, help="of the planted faults (default: beside the binary)")
    parser.add_argument("--required", type=float, default=1.0, help="required speed-up (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="file of JSON lines; those in it are not run again")
    parser.add_argument("--record", type=pathlib.Path, help="append the noise of each case, for error_rates")
    parser.add_argument("flags", nargs="*", help="further --torchstone_… flags, after --")
    arguments = parser.parse_args()
    if arguments.jobs < 1 or arguments.repetitions < 1:
        parser.error("--jobs and --repetitions: at least 1 expected")
    return arguments


def fail(message):
    print(message, file=sys.stderr, flush=True)
    os._exit(2)  # works in any thread and does not wait for the other jobs


def models_of(arguments):
    if arguments.models:
        return arguments.models.split(",")
    command = [arguments.binary, "--torchstone_list=cases", "--torchstone_format=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        fail(done.stdout + done.stderr)
    return sorted({case["model"] for case in json.loads(done.stdout)})


def core_sets(arguments):
    """Returns a set of cores for each job, or None for each if jobs are not pinned."""
    if not arguments.pin:
        return [None] * arguments.jobs
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // arguments.jobs
    if each == 0:
        fail(f"--pin: {arguments.jobs} jobs and {len(cores)} usable cores")
    return [cores[len(cores) - (job + 1) * each:len(cores) - job * each] for job in range(arguments.jobs)]


def run_case(arguments, model, repetition, cores):
    backend = f"fault_slower:factor={arguments.planted}" if arguments.planted else "eager"
    with tempfile.TemporaryDirectory() as out:
        command = [arguments.binary, f"--torchstone_out={out}", f"--torchstone_only={model}", "--torchstone_checks=performance", "--torchstone_modes=inference",
                   "--torchstone_dtypes=float32", f"--torchstone_backends={backend}",
                   f"--torchstone_required_speedup={arguments.required}", f"--torchstone_seed={repetition + 1}"]
        if cores:
            os.sched_setaffinity(threading.get_native_id(), cores)  # this thread and its child processes
            command.append(f"--torchstone_threads={len(cores)}")
        if arguments.planted:
            library = arguments.plugin or arguments.binary.resolve().parent.parent / "lib/libtorchstone_faults.so"
            command.append(f"--torchstone_plugin={library}")
        start = time.monotonic()
        done = subprocess.run(command + arguments.flags, capture_output=True, text=True)
        took = time.monotonic() - start
        try:
            (result,) = json.loads(pathlib.Path(out, "results.json").read_text())["results"]
            outcome = result["outcome"]
            metrics = outcome["metrics"]
            row = {"model": model, "repetition": repetition, "planted": arguments.planted, "status": outcome["status"],
                   "speedup": metrics["speedup"], "low": metrics["speedup_low"], "high": metrics["speedup_high"],
                   "rounds": metrics["rounds"], "measure_s": metrics["measure_s"], "seconds": round(took, 2),
                   "eager_ms": metrics["eager_ms"], "eager_noise_pct": metrics["eager_noise_pct"],
                   "processes": metrics["processes"], "between_processes_sd": metrics.get("between_processes_sd"),
                   "doubts": outcome["notes"].get("doubts", "")}
        except (OSError, ValueError, KeyError) as error:
            fail(f"{' '.join(map(str, command))} ended with {done.returncode} ({error!r}):\n{done.stdout}{done.stderr}")
        return row, outcome["samples"]


def deviations(samples):
    """Returns the log deviations of the rounds from their median, for both sides, as text. Uses only the first process
    that counts, because the differences between processes exceed those between rounds."""
    count = int(samples.get("process_rounds", [len(samples["eager_s"])])[0])
    series = [samples[side][:count] for side in ("eager_s", "compiled_s")]
    sides = [[math.log(value / statistics.median(values)) for value in values] for values in series]
    return " ".join(f"{value:.4f}" for pair in zip(*sides) for value in pair)


def run_all(arguments, models, rows):
    done = {(row["model"], row["repetition"]) for row in rows}
    wanted = [(model, repetition) for repetition in range(arguments.repetitions) for model in models]
    wanted = [case for case in wanted if case not in done]
    free = queue.SimpleQueue()
    for cores in core_sets(arguments):
        free.put(cores)

    def run(case):
        cores = free.get()
        try:
            return run_case(arguments, *case, cores)
        finally:
            free.put(cores)

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(run, case) for case in wanted]):
            row, samples = future.result()
            rows.append(row)
            line = json.dumps(row)
            print(line, flush=True)
            if arguments.out:
                with arguments.out.open("a") as file:
                    file.write(line + "\n")
            if arguments.record and samples.get("process_rounds", [len(samples["eager_s"])])[0] >= 10:
                with arguments.record.open("a") as file:
                    file.write(f"{row['model']} {deviations(samples)}\n")


def summary_of(arguments, rows, took):
    missed = sum(row["status"] == "fail_speedup" for row in rows)
    truth = 1 / (arguments.planted or 1)
    ratios = collections.defaultdict(list)
    for row in rows:
        ratios[row["model"]].append(row["speedup"])
    summary = {"cases": len(rows), "planted": arguments.planted, "required": arguments.required, "fail_speedup": missed,
               "median_processes": statistics.median(row["processes"] for row in rows),
               "statuses": dict(collections.Counter(row["status"] for row in rows)),
               "interval_covers_the_truth": sum(row["low"] <= truth <= row["high"] for row in rows),
               "median_seconds_a_case": statistics.median(row["seconds"] for row in rows),
               "most_seconds_a_case": max(row["seconds"] for row in rows), "took_s": round(took, 1),
               "median_noise_pct": round(statistics.median(row["eager_noise_pct"] for row in rows), 2),
               "ratios": {model: [round(f(values), 4) for f in (min, statistics.median, max)] for model, values in sorted(ratios.items())}}
    summary["kept"] = missed >= 0.95 * len(rows) if arguments.planted else missed <= max(1, len(rows) / 1000)
    return summary


def main():
    arguments = arguments_of(argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter))
    models = models_of(arguments)
    rows = []
    if arguments.out and arguments.out.exists():
        lines = [json.loads(line) for line in arguments.out.read_text().splitlines()]
        rows = [row for row in lines if row["planted"] == arguments.planted and row["model"] in models
                and row["repetition"] < arguments.repetitions]
    start = time.monotonic()
    run_all(arguments, models, rows)
    summary = summary_of(arguments, rows, time.monotonic() - start)
    print(json.dumps(summary))
    return 0 if summary["kept"] else 1


if __name__ == "__main__":
    sys.exit(main())
