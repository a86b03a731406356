#!/usr/bin/env python3
"""Compares which faults of planted_nodes.py upstream's tolerance rejects, and which the verdict `rounding` rejects.

Usage: planted_rounding.py build/bin/torchstone build/lib/libtorchstone_faults.so --out DIR [--models …] [--modes …]

Runs each fault with --torchstone_judge=upstream and with --torchstone_judge=rounding. If upstream accepts a fault, the
next node is tried, as in planted_nodes.py. Runs are kept in --out and not repeated. Writes --out/planted_rounding.csv.
Exit code 0: `rounding` rejects every fault that upstream rejects. 1: it does not, or upstream rejects none. 2: a run
failed."""
import csv
import json
import shlex
import subprocess
import sys

from planted_nodes import flags_of, parser_of, places_of

COLUMNS = ["model", "mode", "kind", "value", "op", "upstream", "rounding", "rounding_times", "rounding_limit", "rounding_of", "verdict"]


def outcome_of(arguments, model, mode, kind, value, judge):
    """Returns the outcome of one run. Makes the run if it does not exist yet."""
    folder = arguments.out / f"{model}_{mode}_{kind}_{value}_{judge}"
    if not (folder / "finished").exists():
        command = [arguments.binary, *flags_of(arguments, model, mode), f"--torchstone_out={folder}", f"--torchstone_judge={judge}",
                   "--torchstone_diagnose=never", f"--torchstone_backends=fault_program:fault={kind},value={value}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if not (folder / "results.json").exists():
            print(f"{shlex.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}", file=sys.stderr)
            sys.exit(2)
        (folder / "finished").write_text(f"{done.returncode}\n")
    return json.loads((folder / "results.json").read_text())["results"][0]["outcome"]


def line_of(fault, by_upstream, by_rounding):
    """Returns both verdicts on a fault as one CSV row."""
    metrics, notes = by_rounding["metrics"], by_rounding["notes"]
    return {**fault, "upstream": by_upstream["status"], "rounding": by_rounding["status"],
            "rounding_times": metrics.get("rounding_times", ""), "rounding_limit": metrics.get("rounding_limit", ""),
            "rounding_of": notes.get("rounding_of", ""), "verdict": notes.get("rounding", "")}


def lines_of(arguments, model, mode):
    """Yields the rows of a model's faults, up to the first fault that upstream does not accept."""
    for kind, place in places_of(arguments, model, mode):
        fault = {"model": model, "mode": mode, "kind": kind, "value": place["value"], "op": place["op"]}
        by_upstream, by_rounding = (outcome_of(arguments, model, mode, kind, place["value"], judge) for judge in ("upstream", "rounding"))
        line = line_of(fault, by_upstream, by_rounding)
        print(" ".join(str(line[column]) for column in COLUMNS), flush=True)
        yield line
        if line["upstream"] != "pass":
            return


def write_csv(path, lines):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def counts(lines):
    """Returns how many faults are rejected by both, by upstream alone, by rounding alone, and by neither."""
    refused = [(line["upstream"] == "fail_accuracy", line["rounding"] == "fail_accuracy") for line in lines]
    return {"both": refused.count((True, True)), "upstream alone": refused.count((True, False)),
            "rounding alone": refused.count((False, True)), "neither": refused.count((False, False))}


def main():
    arguments = parser_of(__doc__).parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    lines = []
    for mode in arguments.modes:
        for model in arguments.models:
            lines += lines_of(arguments, model, mode)
            write_csv(arguments.out / "planted_rounding.csv", lines)
    found = counts(lines)
    print(f"{len(lines)} faults; refused by " + ", ".join(f"{by}: {count}" for by, count in found.items()))
    return 0 if found["both"] and not found["upstream alone"] else 1


if __name__ == "__main__":
    sys.exit(main())
