#!/usr/bin/env python3
"""Checks whether the intervals of one run hold in other runs. Runs the timed cases of the default suites repeatedly.

Each run has its own folder in --out and is not repeated if the folder exists. The script then reports over all runs:
 - coverage: how often a run's interval for the speed-up contains the median of all runs. Intervals of noisy rows are
   counted separately.
 - unchanged code: how many comparisons of a run with a baseline are red. A baseline consists of consecutive other runs,
   and --baseline-runs sets their number. Each run is compared with each such baseline.
 - planted: the compiled times of one case in a recorded run are multiplied by --planted. Reports in how many
   comparisons this case is SLOWER, and in how many any other case is. Exit code 0: the goals are met. They are the
   coverage, at most 1 red comparison in 100, and, with the largest baseline, 95 % of the planted slow-downs found and
   at most 1 other red case in 100 comparisons. 1: a goal is missed. 2: a run or a comparison failed.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time


def arguments_of(words):
    """Parses the command line. Arguments after `--` are further flags for torchstone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="%(prog)s [options] --out OUT binary [-- --torchstone_…]")
    parser.add_argument("binary", type=pathlib.Path, help="torchstone; torchstone-report stands beside it")
    parser.add_argument("--runs", type=int, default=10, help="(default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs' results")
    parser.add_argument("--coverage", type=float, default=0.9, help="goal: 0.9 on a quiet machine, 0.85 on a busy one (default: %(default)s)")
    parser.add_argument("--planted", type=float, default=1.05, help="factor of the planted slow-down (default: %(default)s)")
    parser.add_argument("--record", type=pathlib.Path, help="also write how the processes deviate: for error_rates")
    parser.add_argument("--beside", default="", metavar="COMMAND", help="a busy neighbour: this shell command is run again and again beside the runs")
    parser.add_argument("--baseline-runs", default="", metavar="N,…", help="runs that a baseline is made of (default: 1, and 5 of more than 5 runs)")
    parser.add_argument("--planted-case", default="", help="part of its name (default: the case of the narrowest interval)")
    end = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:end])
    arguments.flags = words[end + 1:]
    return arguments


def fail(message):
    print(message, file=sys.stderr)
    sys.exit(2)


def results_of(folder):
    return json.loads((folder / "results.json").read_text())


def run(arguments, number):
    """Returns the folder of one run. Makes the run if it does not exist yet."""
    folder = arguments.out / f"run{number}"
    if not (folder / "finished").exists():
        command = [arguments.binary, f"--torchstone_out={folder}", "--torchstone_checks=performance", "--torchstone_modes=inference",
                   "--torchstone_dtypes=float32", "--torchstone_backends=inductor",
                   "--gtest_filter=-operators/*:fastrnns/*", *arguments.flags]
        start = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode not in (0, 1, 5):
            fail(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        (folder / "finished").write_text(f"{time.monotonic() - start:.1f}\n")
    return folder


@contextlib.contextmanager
def neighbour(command):
    """Runs the shell command repeatedly in the background while the context is active. Exits if the command fails."""
    if not command:
        yield
        return
    silent = {"shell": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if subprocess.run(command, **silent).returncode:
        fail(f"--beside: this command fails: {command}")
    # The loop ends together with this process, even if this process is killed.
    loop = subprocess.Popen(f"while kill -0 {os.getpid()}; do\n{command}\ndone", start_new_session=True, **silent)
    try:
        yield
    finally:
        os.killpg(loop.pid, signal.SIGKILL)
        loop.wait()


def timed_cases(results):
    """Returns the metrics of each timed case by name, and whether its row is noisy."""
    found = {result["name"]: {**result["outcome"]["metrics"], "noisy": "noisy" in result["outcome"].get("notes", {})}
             for result in results["results"]}
    return {name: metrics for name, metrics in found.items() if "speedup" in metrics}


def not_timed(results):
    """Returns names and statuses of the cases without a speed-up."""
    return [f"{result['name']} ({result['outcome']['status']})" for result in results["results"]
            if "speedup" not in result["outcome"]["metrics"]]


def number(value):
    return math.inf if value is None or value == "inf" else float(value)


def coverage(runs):
    """Returns for each case: the speed-ups, the number of intervals that are not noisy (`claims`), the number of these
    that contain the median of the runs (`held`), and the median relative half-width of all intervals."""
    table = {}
    for name in sorted(set.intersection(*(set(cases) for cases in runs))):
        of_case = [cases[name] for cases in runs]
        speedups = [metrics["speedup"] for metrics in of_case]
        middle = statistics.median(speedups)
        intervals = [(number(metrics["speedup_low"]), number(metrics["speedup_high"])) for metrics in of_case]
        claims = [interval for interval, metrics in zip(intervals, of_case) if not metrics["noisy"]]
        table[name] = {"speedups": speedups, "held": sum(low <= middle <= high for low, high in claims), "claims": len(claims),
                       "half_width": statistics.median((high - low) / 2 / value
                                                       for (low, high), value in zip(intervals, speedups)),
                       "processes": statistics.median(metrics.get("processes", 1) for metrics in of_case)}
    return table


def process_medians(outcome):
    """Returns the median log ratio of each process of a timed case."""
    samples, medians, at = outcome["samples"], [], 0
    for rounds in samples.get("process_rounds", [len(samples["eager_s"])]):
        part = slice(at, at := at + int(rounds))
        medians.append(statistics.median(math.log(eager / compiled)
                                         for eager, compiled in zip(samples["eager_s"][part], samples["compiled_s"][part])))
    return medians


def records(results):
    """Yields a line for each case and run: the name, and the deviations of its processes from the mean of all runs, in
    order. Leaves out rows whose threads ran in different cache domains, because such rows never miss a requirement."""
    def apart(outcome):
        return outcome.get("notes", {}).get("noisy", "").startswith("The threads ran ")

    outcomes = [{result["name"]: result["outcome"] for result in one["results"] if "speedup" in result["outcome"]["metrics"]}
                for one in results]
    for name in sorted(set.intersection(*(set(one) for one in outcomes))):
        runs = [process_medians(one[name]) for one in outcomes if not apart(one[name])]
        truth = statistics.mean(statistics.mean(run) for run in runs)
        model = name.rsplit("/", 1)[-1].partition("_inference")[0]
        for run in runs:
            yield f"{model} {' '.join(f'{value - truth:.4f}' for value in run)}\n"


def sizes_of(arguments):
    """Returns the numbers of runs that baselines consist of."""
    words = arguments.baseline_runs.split(",") if arguments.baseline_runs else [str(size) for size in (1, 5) if size < arguments.runs]
    if not all(word.isdigit() and 0 < int(word) < arguments.runs for word in words):
        fail(f"--baseline-runs={arguments.baseline_runs}: numbers from 1 to {arguments.runs - 1} with commas between them expected")
    return [int(word) for word in words]


def comparisons(runs, size):
    """Yields (baseline, run) for each run. A baseline is `size` consecutive other runs, and wraps around at the end."""
    for at, new in enumerate(runs):
        others = runs[:at] + runs[at + 1:]
        starts = range(len(others) if size < len(others) else 1)
        yield from (([others[(start + i) % len(others)] for i in range(size)], new) for start in starts)


def compare(report, old, new):
    """Returns the cases that are SLOWER in the run `new` than in the baseline `old`."""
    done = subprocess.run([report, "compare", *old, new, "--format=json", "--all"], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        fail(f"comparison of {old} and {new} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    cases = json.loads(done.stdout)["cases"]
    slower = [case["name"] for case in cases if case["change"] == "SLOWER"]
    if bool(slower or any(case["status_worse"] for case in cases)) != (done.returncode == 1):
        fail(f"comparison of {old} and {new} ended with {done.returncode} and names {slower} as slower")
    return slower


def with_slower(results, name, factor):
    """Returns the results with the compiled times of one case multiplied by the factor."""
    results = json.loads(json.dumps(results))
    for result in results["results"]:
        if result["name"] != name:
            continue
        samples, metrics = result["outcome"]["samples"], result["outcome"]["metrics"]
        for key in {"compiled_s", "uncounted_compiled_s"} & samples.keys():
            samples[key] = [value * factor for value in samples[key]]
        for key in metrics:
            if key.startswith("compiled_") and key.endswith("_ms"):
                metrics[key] *= factor
            if key.startswith("speedup") and metrics[key] is not None:
                metrics[key] = number(metrics[key]) / factor
    return results


@contextlib.contextmanager
def slowed_copies(folders, runs, name, factor):
    """Yields copies of the runs' results in which the case is slower: folder of the run → file."""
    with tempfile.TemporaryDirectory() as work:
        copies = {folder: pathlib.Path(work, f"{folder.name}.json") for folder in folders}
        for folder, results in zip(folders, runs):
            copies[folder].write_text(json.dumps(with_slower(results, name, factor)))
        yield copies


def planted(report, copies, size, name):
    """Compares the slowed copies with the other runs. Returns the number of comparisons, the number that find the case,
    and the other cases that are called slower."""
    slower = [compare(report, old, copies[new]) for old, new in comparisons(list(copies), size)]
    return len(slower), sum(name in cases for cases in slower), [case for cases in slower for case in cases if case != name]


def main():
    arguments = arguments_of(sys.argv[1:])
    if arguments.runs < 2:
        fail("--runs: at least 2 expected")
    sizes = sizes_of(arguments)
    report = arguments.binary.resolve().parent / "torchstone-report"
    load = os.getloadavg()[0]
    with neighbour(arguments.beside):
        folders = [run(arguments, i + 1) for i in range(arguments.runs)]
    runs = [results_of(folder) for folder in folders]
    for folder, results in zip(folders, runs):
        if missing := not_timed(results):
            print(f"{folder.name}: not timed, and left out of all runs: {', '.join(missing)}", file=sys.stderr)
    table = coverage([timed_cases(results) for results in runs])
    if not table:
        fail("no timed case")
    if arguments.record:
        arguments.record.write_text("".join(records(runs)))
    for name, row in table.items():
        print(f"{row['held']:>3} of {row['claims']:>2}  half-width {100 * row['half_width']:5.1f} %  {row['processes']:3.0f} processes  "
              f"{' '.join(f'{value:.3f}' for value in row['speedups'])}  {name}")
    held, total = (sum(row[key] for row in table.values()) for key in ("held", "claims"))
    noisy = len(folders) * len(table) - total
    seconds = statistics.median(float((folder / "finished").read_text()) for folder in folders) / len(table)
    print(f"coverage: {held} of {total} intervals hold the median of {len(folders)} runs ({100 * held / max(total, 1):.1f} %, goal "
          f"{100 * arguments.coverage:g} %), {noisy} more are noisy; median half-width {100 * statistics.median(row['half_width'] for row in table.values()):.1f} %; "
          f"{seconds:.1f} s a case; load average before {load:.1f}")
    narrowest = min(table, key=lambda name: (arguments.planted_case not in name, table[name]["half_width"]))
    kept = held >= arguments.coverage * total
    with slowed_copies(folders, runs, narrowest, arguments.planted) as copies:
        for size in sorted(sizes):
            with_baseline = f"with a baseline of {size} {'run' if size == 1 else 'runs'}"
            red = [slower for old, new in comparisons(folders, size) if (slower := compare(report, old, new))]
            count, found, others = planted(report, copies, size, narrowest)
            print(f"unchanged code: {len(red)} of {count} comparisons {with_baseline} are red (goal: at most 1 in 100) {red or ''}")
            print(f"planted: {narrowest} {arguments.planted:g} times slower is found in {found} of {count} comparisons {with_baseline} "
                  f"(goal: 95 %); other cases red: {len(others)} {sorted(set(others)) or ''}")
            kept = kept and len(red) <= max(1, count / 100)
    return 0 if kept and found >= 0.95 * count and len(others) <= max(1, count / 100) else 1


if __name__ == "__main__":
    sys.exit(main())
