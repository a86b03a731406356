#!/usr/bin/env python3
"""Records cases/operators: one log of operator inputs for each family of the zoo, of its smallest model in inference.

  record.py TORCHSTONE [--jobs N] [--again]   writes the logs that are missing; with --again all
  record.py TORCHSTONE --check                exit 1 when a family has no log

A family that has a log of any of its models keeps that model. Logs are of the mini preset in float32."""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

LOGS = pathlib.Path(__file__).resolve().parents[2] / "cases" / "operators"
ENDING = "_inference.txt"
OTHER_BENCHMARKS = {"fastrnns", "operators"}  # upstream's other two


def families(program):
    """Returns {family: its models, the smallest first}."""
    listing = subprocess.run([program, "--torchstone_list=models", "--torchstone_format=json"], check=True, capture_output=True,
                             text=True).stdout
    found = {}
    models = [model for model in json.loads(listing) if model["suites"] not in OTHER_BENCHMARKS]
    for model in sorted(models, key=lambda model: (model["parameters_mini"] or 0, model["model"])):
        found.setdefault(model["family"], []).append(model["model"])
    return found


def models_to_record(program, folder, again):
    recorded = {path.name.removesuffix(ENDING) for path in folder.glob(f"*{ENDING}")}
    for models in families(program).values():
        known = [model for model in models if model in recorded]
        if again or not known:
            yield (known or models)[0]


def record(program, model, folder):
    """Returns None, or why the model has no log."""
    log = folder / f"{model}{ENDING}"
    with tempfile.TemporaryDirectory() as out:
        command = [program, f"--torchstone_only={model}", "--torchstone_checks=accuracy", "--torchstone_modes=inference",
                   "--torchstone_dtypes=float32", "--torchstone_backends=eager", "--torchstone_presets=mini",
                   "--torchstone_no_skip", f"--torchstone_out={out}",
                   f"--torchstone_log_operator_inputs={out}/log.txt"]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
        made = pathlib.Path(out, "log.txt")
        if not made.exists() or not made.read_text().startswith("Operator: "):
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        log.write_text(made.read_text())
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torchstone")
    parser.add_argument("--folder", type=pathlib.Path, default=LOGS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    models = list(models_to_record(options.torchstone, options.folder, options.again))
    if options.check:
        for model in models:
            print(f"no log of the family of {model} in {options.folder}", file=sys.stderr)
        return 1 if models else 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for model, why in zip(models, pool.map(lambda model: record(options.torchstone, model, options.folder), models)):
            print(f"{model}: {why or 'recorded'}", flush=True)
            failed += why is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
