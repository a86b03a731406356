#!/usr/bin/env python3
"""Measures how often the verdict `rounding` rejects a row that is right by construction, with an exact bound on the
rate.

Usage: rounding_alarms.py build/bin/torchstone build/lib/libtorchstone_faults.so --out DIR [--seeds 2] [--device cuda]
                          [--jobs 6 --parts 24] [--limit SECONDS] [--page docs/measurements/DATE-rounding-alarms.md --machine TEXT] [-- --torchstone_…]

Runs the models of the suites with --torchstone_judge=rounding in TorchScript, in torch.export, and in eager under other
conditions (tests/faults/right.cpp): another number of threads, no oneDNN, no cuDNN, channels-last inputs. The rows of
one seed, mode and dtype are divided into --parts runs. Runs are kept in --out and not repeated, so a stopped script can
continue. An alarm is a row with rounding_times above 1. Rows of known failures are not counted, and rows without a
verdict are counted separately. --page writes the page and its CSV file. Exit code 0: the goals are met (at most --goal
alarms per row, over at least --least-rows rows). 1: a goal is missed. 2: a run failed."""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time

CHANGES = {"cpu": ["torchscript", "export", "right:by=threads", "right:by=no_onednn", "right:by=channels_last"],
           "cuda": ["torchscript", "export", "right:by=no_cudnn", "right:by=channels_last"]}
NOT_MODELS = "-fastrnns/*:operators/*:faults/*"
LIMITS = {"float32": 0.01}  # goals for the detection limit; 0.1 for other dtypes
HEADING = ["change", "dtype", "mode", "rows", "alarms", "rate below (%)", "without a verdict", "median limit (%)", "limit kept (%)"]
CONFIDENCE = 0.95


def at_most(alarms, rows, rate):
    """Returns the probability of at most `alarms` alarms in `rows` independent rows with this rate."""
    if rate in (0, 1):
        return float(rate == 0 or alarms >= rows)
    logs = [math.lgamma(rows + 1) - math.lgamma(i + 1) - math.lgamma(rows - i + 1) + i * math.log(rate) + (rows - i) * math.log1p(-rate)
            for i in range(alarms + 1)]
    return min(1.0, sum(map(math.exp, logs)))


def upper_bound(alarms, rows, confidence=CONFIDENCE):
    """Returns the exact one-sided upper bound of a rate (Clopper and Pearson, 1934). With a higher rate, so few alarms
    have a probability below 1 - confidence."""
    if alarms >= rows:
        return 1.0
    low, high = alarms / rows, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if at_most(alarms, rows, middle) > 1 - confidence else (low, middle)
    return high


def number(value):
    """Returns a number from results.json, or None if it is missing. Infinity is a string there, because JSON lacks
    it."""
    return None if value is None else float(value)


def row_of(result):
    """Returns the values of a result that are counted, or None for a known failure."""
    if result.get("expected", "pass") != "pass":
        return None
    outcome = result["outcome"]
    metrics, notes = outcome["metrics"], outcome["notes"]
    return {"name": result["name"], "change": result["backend"], "dtype": result["dtype"], "mode": result["mode"],
            "times": number(metrics.get("rounding_times")), "limit": number(metrics.get("rounding_limit")),
            "tensor": notes.get("rounding_of", ""), "status": outcome["status"]}


def is_alarm(row):
    return row["times"] is not None and not row["times"] <= 1


def counts(rows):
    """Returns the cells of a table line after its name."""
    judged = [row for row in rows if row["times"] is not None]
    alarms = sum(map(is_alarm, judged))
    limits = [(row["limit"], LIMITS.get(row["dtype"], 0.1)) for row in judged if row["limit"] is not None]
    bound = f"{100 * upper_bound(alarms, len(judged)):.2g}" if judged else ""
    kept = f"{100 * sum(limit <= goal for limit, goal in limits) / len(limits):.0f}" if limits else ""
    median = f"{100 * statistics.median(limit for limit, _ in limits):.2g}" if limits else ""
    return [len(judged), alarms, bound, len(rows) - len(judged), median, kept]


def table(rows):
    """Returns the lines of the CSV file: one for each change, dtype and mode, and one for all together."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["change"], row["dtype"], row["mode"]].append(row)
    return [HEADING, *([*key, *counts(group)] for key, group in sorted(groups.items())), ["all", "", "", *counts(rows)]]


def page_of(name, rows, lines, command, machine):
    judged, alarms = counts(rows)[:2]
    listed = [f"- {row['name']}: {row['tensor']}, {row['times']:.3g} times" for row in rows if is_alarm(row)]
    statuses = collections.Counter(row["status"] for row in rows if row["times"] is None)
    without = ", ".join(f"{count} {status}" for status, count in statuses.most_common()) or "none"
    drawn = ["| " + " | ".join(map(str, line)) + " |" for line in lines]
    drawn.insert(1, "|" + "---|" * len(HEADING))
    return "\n".join([
        "# How often rounding refuses a right row", "",
        "**Question:** How often is a row of the zoo that is right by construction red by the verdict `rounding`?", "",
        "**Commit:** the one that adds this page.", "", f"**Machine:** {machine}", "", f"**Command:** `{command}`", "",
        "## Figures", "",
        "TorchScript and `torch.export` run the model's own operators. The other changes are eager under another condition",
        f"(`tests/faults/right.cpp`). The rate is below its bound with a confidence of {100 * CONFIDENCE:.0f} % (Clopper and Pearson), if rows are",
        "independent. The last column is the share of rows whose detection limit is at most 1 % in float32 and 10 % in other dtypes.", "",
        f"<!-- table: {name}.csv -->", *drawn, "<!-- end of table -->", "",
        f"Rows without a verdict, by status: {without}.", "", "## Alarms", "", *(listed or ["None."]), "",
        "## Conclusion", "",
        f"{alarms} of {judged} rows were refused. The goal is one in 1000. Rows of one model and seed share weights, inputs and eager's",
        "runs, so they are not independent, and the bound is too narrow where one model has several alarms.", ""])


def as_csv(lines):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()


def results_of(arguments, seed, mode, dtype, part=0):
    """Returns the results of one part of the rows. Runs it if it does not exist yet, or returns [] after the time
    limit."""
    folder = arguments.out / f"{arguments.device}_{mode}_{dtype}_{seed}_{part}of{arguments.parts}"
    if not (folder / "finished").exists():
        if time.monotonic() >= arguments.end:
            return []
        command = [arguments.binary, f"--torchstone_plugin={arguments.plugin}", f"--torchstone_out={folder}", "--torchstone_checks=accuracy",
                   "--torchstone_judge=rounding", f"--torchstone_modes={mode}", f"--torchstone_dtypes={dtype}",
                   f"--torchstone_device={arguments.device}", f"--torchstone_backends={','.join(arguments.changes)}",
                   f"--torchstone_seed={seed}", "--torchstone_diagnose=never", f"--gtest_filter={NOT_MODELS}",
                   *[f"--torchstone_only={model}" for model in arguments.models], *arguments.flags]
        shard = {"GTEST_TOTAL_SHARDS": str(arguments.parts), "GTEST_SHARD_INDEX": str(part)}
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **shard})
        if done.returncode not in (0, 1) or not (folder / "results.json").exists():
            raise RuntimeError(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (folder / "finished").write_text(f"{done.returncode}\n")
    return json.loads((folder / "results.json").read_text())["results"]


def rows_of(arguments):
    """Returns the rows of all runs in order. Prints each alarm as soon as its run ends."""
    parts = [(seed, mode, dtype, part) for seed in range(1, arguments.seeds + 1) for mode in arguments.modes
             for dtype in arguments.dtypes for part in range(arguments.parts)]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for (seed, *_), results in zip(parts, pool.map(lambda one: results_of(arguments, *one), parts)):
            found = [row for row in map(row_of, results) if row]
            for row in filter(is_alarm, found):
                print(f"seed {seed}: {row['name']}: {row['tensor']}, {row['times']:.3g} times", flush=True)
            rows += found
    return rows


def arguments_of(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="torchstone")
    parser.add_argument("plugin", type=pathlib.Path, help="the library of planted faults")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs' results")
    parser.add_argument("--device", default="cpu", choices=sorted(CHANGES))
    parser.add_argument("--seeds", type=int, default=1, help="runs of each row, with the seeds 1, 2, … (default: %(default)s)")
    parser.add_argument("--models", nargs="*", default=[], help="only these (default: all models of the suites)")
    parser.add_argument("--modes", nargs="*", default=["inference", "training"])
    parser.add_argument("--dtypes", nargs="*", default=["float32", "bfloat16"])
    parser.add_argument("--changes", nargs="*", help="backends (default: all that fit the device)")
    parser.add_argument("--parts", type=int, default=1, help="runs that share the rows of a seed, mode and dtype (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time (default: %(default)s)")
    parser.add_argument("--limit", type=float, default=math.inf, metavar="SECONDS", help="no part begins after them; parts that are there count")
    parser.add_argument("--goal", type=float, default=0.001, help="alarms a row (default: %(default)s)")
    parser.add_argument("--least-rows", type=int, default=2000, help="(default: %(default)s)")
    parser.add_argument("--page", type=pathlib.Path, help="write this page, and the CSV file of its name")
    parser.add_argument("--machine", default="", help="a sentence for the page")
    end = words.index("--") if "--" in words else len(words)
    arguments = parser.parse_args(words[:end])
    arguments.flags, arguments.changes = words[end + 1:], arguments.changes or CHANGES[arguments.device]
    if arguments.page and not arguments.machine:
        parser.error("--page: a page names the machine (--machine)")
    arguments.end = time.monotonic() + arguments.limit
    return arguments


def main():
    arguments = arguments_of(sys.argv[1:])
    arguments.out.mkdir(parents=True, exist_ok=True)
    try:
        rows = rows_of(arguments)
    except RuntimeError as fault:
        print(fault, file=sys.stderr)
        return 2
    lines = table(rows)
    print(as_csv(lines), end="")
    if arguments.page:
        command = shlex.join(["tests/benchmarks/rounding_alarms.py", *sys.argv[1:]])
        arguments.page.write_text(page_of(arguments.page.stem, rows, lines, command, arguments.machine))
        arguments.page.with_suffix(".csv").write_text(as_csv(lines))
    judged, alarms, bound = counts(rows)[:3]
    print(f"{alarms} alarms in {judged} rows: the rate is below {bound} % with a confidence of {100 * CONFIDENCE:.0f} %")
    return 0 if judged >= arguments.least_rows and alarms <= arguments.goal * judged else 1


if __name__ == "__main__":
    sys.exit(main())
