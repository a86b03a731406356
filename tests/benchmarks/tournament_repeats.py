#!/usr/bin/env python3
"""Measures how often a tournament has the same result. Runs each model's tournament --repeats times with a filled
cache.

The result of a run is the set of variants that may be the fastest: the winner, or all variants that tie. Runs are kept
in --out and not repeated, unless they were interrupted, so a stopped script can continue. Prints each set with its
frequency, and the speed-ups of each variant over all runs. A model's first run compiles and is not counted. Exit code
0: each model's most frequent set occurred in at least --goal runs. 1: less often, or a run failed."""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

MODELS = ["lennard_jones", "squeezenet1_1", "BertForMaskedLM"]


def recorded(file, model):
    """Returns the tournament in a run's file, or None if the file is missing or the run was interrupted."""
    if not file.exists():
        return None
    tournament = next(one for one in json.loads(file.read_text())["models"] if one["model"] == model)
    return None if tournament.get("failure") == "interrupted" else tournament


def held(arguments, model, number):
    """Returns the tournament of one run. Makes the run if it has no complete file yet."""
    out = pathlib.Path(arguments.out, model, str(number))
    file = out / "tournament.json"
    found = recorded(file, model)
    if found is None:
        done = subprocess.run([arguments.binary, "--torchstone_tournament", f"--torchstone_only={model}", f"--torchstone_out={out}",
                               f"--torchstone_measure_budget={arguments.budget}", "--torchstone_color=never", *arguments.flags],
                              capture_output=True, text=True)
        found = recorded(file, model)
        if found is None:
            sys.exit(f"{model}, run {number}: exit code {done.returncode}\n{done.stderr.strip()[-2000:]}")
    return found


def frequencies(tournaments):
    """Returns how often each set of possibly fastest variants occurred, the most frequent first."""
    return collections.Counter(frozenset(one["best"]) for one in tournaments).most_common()


def speedups(tournaments):
    """Returns the speed-ups over eager of each timed variant, by name."""
    found = collections.defaultdict(list)
    for one in tournaments:
        for variant in one["variants"]:
            if variant["timed"]:
                found[variant["name"]].append(variant["speedup"])
    return found


def report(model, tournaments):
    """Returns the report as lines, and the number of runs with the most frequent set."""
    sets = frequencies(tournaments)
    lines = [f"{model}: {len(tournaments)} runs"]
    lines += [f"  {count:3}  {', '.join(sorted(best)) or 'none'}" for best, count in sets]
    for name, values in sorted(speedups(tournaments).items(), key=lambda item: -sorted(item[1])[len(item[1]) // 2]):
        ordered = sorted(values)
        lines.append(f"       {ordered[len(ordered) // 2]:.3f}x [{ordered[0]:.3f} {ordered[-1]:.3f}] in {len(ordered)}  {name}")
    return lines, sets[0][1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--goal", type=int, default=19)
    parser.add_argument("--budget", type=float, default=2, help="seconds for each variant (--torchstone_measure_budget)")
    parser.add_argument("--out", default="tournament_repeats")
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="last: further flags of torchstone")
    arguments = parser.parse_args()
    kept = True
    for model in arguments.models.split(","):
        held(arguments, model, 0)
        lines, most = report(model, [held(arguments, model, number) for number in range(1, arguments.repeats + 1)])
        print("\n".join(lines), flush=True)
        kept = kept and most >= arguments.goal
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
