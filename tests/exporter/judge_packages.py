#!/usr/bin/env python3
"""Exports models of packages, judges them with torchstone, and keeps one line of a ledger for each.

  PYTHON judge_packages.py TORCHSTONE LEDGER.jsonl --files FOLDER [--traced] [--backends B,…] [NAME… | --list FILE]

PYTHON is one with the packages. A model that the ledger has with these backends is left out, so a run can be continued.
A line says what the exporter and the program said, with which versions, when and of which commit. Lists:
families.txt, or coverage/upstream_models.txt, of which the names are taken that the zoo has not."""
import argparse
import contextlib
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "cases" / "exporter"))
WAIT_S = 900


def names_of(path):
    """Returns the names in a plain list, or the names in upstream_models.txt that the zoo lacks."""
    lines = [line for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith(("#", "@", "["))]
    if pathlib.Path(path).name != "upstream_models.txt":
        return lines
    return ["upstream:" + line.split(": ")[0] for line in lines if ": " in line]


def next_time(text, now=None):
    """Returns the first moment after now at which the clock shows this HH:MM, today or tomorrow."""
    now = now or datetime.datetime.now()
    try:
        clock = datetime.datetime.strptime(text, "%H:%M").time()
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time of day (expected HH:MM)") from None
    moment = datetime.datetime.combine(now, clock)
    return moment if moment > now else moment + datetime.timedelta(days=1)


def read_ledger(path):
    path = pathlib.Path(path)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(row["name"], row["kind"]): row for row in rows}


def append(path, row):
    line = (json.dumps(row, sort_keys=True) + "\n").encode()
    with open(path, "ab", buffering=0) as stream:
        stream.write(line)


def export(name, path, traced):
    """(status, the package's words) of the exporter, in a forked process: the packages are imported once."""
    import torchstone_export
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        status = torchstone_export.main([name, "-o", str(path), "--time-limit", str(WAIT_S), *(["--traced"] if traced else [])])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    os.close(writing)
    with open(reading, errors="replace") as stream:
        output = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status == -14:
        return status, f"took longer than {WAIT_S} s"
    mark = f"torchstone-export: {name}: "
    return status, output[output.rfind(mark) + len(mark):].strip() if mark in output else output[-300:].strip()


def judge(torchstone, path, traced, backends, out):
    inputs = [f"--torchstone_inputs={str(path)[:-len('.pt')]}_inputs.pt"] if traced else []
    command = [torchstone, f"--torchstone_only={path}", *inputs, "--torchstone_checks=accuracy", "--torchstone_modes=inference",
               "--torchstone_no_skip", f"--torchstone_backends={backends}", f"--torchstone_out={out}", f"--torchstone_python={sys.executable}"]
    results = pathlib.Path(out, "results.json")
    with contextlib.suppress(FileNotFoundError):
        results.unlink()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if not results.exists():
        return {}, (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    rows = json.loads(results.read_text())["results"]
    reasons = [row["outcome"].get("reason", "") for row in rows if row["outcome"]["status"] != "pass"]
    return {row["backend"]: row["outcome"]["status"] for row in rows}, next((r.splitlines()[0] for r in reasons if r), "")


def without_folders(text):
    """File names without the folders of this machine."""
    return re.sub(r"(?<![\w.])/(?:[\w.+-]+/)+", "", text)


def row_of(name, options, versions, commit):
    began = time.time()
    extension = "pt" if options.traced else "pt2"
    file = "".join(c if c.isalnum() else "_" for c in name)
    path = pathlib.Path(options.files, f"{file}.{extension}").resolve()
    status, words = (0, "") if path.exists() else export(name, path, options.traced)
    row = {"name": name, "kind": "traced" if options.traced else "exported", "asked": options.backends,
           "export": "ok" if status == 0 else "failed", "reason": words if status else "", "judged": {},
           "versions": versions, "commit": commit, "date": datetime.date.today().isoformat()}
    if status == 0:
        row["judged"], row["reason"] = judge(options.torchstone, path, options.traced, options.backends,
                                             pathlib.Path(options.files, f"out-{os.getpid()}"))
        if not options.keep:
            path.unlink()
    row["reason"] = without_folders(row["reason"])
    row["seconds"] = round(time.time() - began, 1)
    return row


def passes(row):
    return bool(row["judged"]) and set(row["judged"].values()) == {"pass"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("torchstone")
    parser.add_argument("ledger")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list")
    parser.add_argument("--files", required=True)
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("--keep", action="store_true", help="the files that were made")
    parser.add_argument("--backends", default="torchscript,inductor")
    parser.add_argument("--until", metavar="HH:MM", type=next_time, help="begins no model after the next HH:MM, today or tomorrow")
    parser.add_argument("--goal", type=float, default=0, help="exit 1 when a smaller part of these models passes")
    options = parser.parse_intermixed_args()
    warnings.filterwarnings("ignore")
    pathlib.Path(options.files).mkdir(parents=True, exist_ok=True)
    import cache_name
    import sources
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    versions = cache_name.versions(sources.SOURCES["torchbench"][1])
    import missing_operators
    missing_operators.declare()
    for package in ("timm", "transformers", "torch._dynamo"):
        with contextlib.suppress(ImportError):
            __import__(package)
    known = read_ledger(options.ledger)
    names, kind = options.names or names_of(options.list), "traced" if options.traced else "exported"
    for name in names:
        if options.until and datetime.datetime.now() >= options.until:
            break
        earlier = known.get((name, kind))
        if earlier and set(options.backends.split(",")) <= set(earlier["asked"].split(",")):
            continue
        row = row_of(name, options, versions, commit)
        append(options.ledger, row)
        print(row["name"], row["kind"], row["export"], row["judged"], row["reason"][:200], row["seconds"], flush=True)
    known = read_ledger(options.ledger)
    rows = [known[name, kind] for name in names if (name, kind) in known]
    print(f"{sum(map(passes, rows))} of {len(rows)} {kind} models pass, {len(names) - len(rows)} were not run")
    return 1 if sum(map(passes, rows)) < options.goal * len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
