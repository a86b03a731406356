#!/usr/bin/env python3
"""How each of upstream's models is judged: as a native model, exported from its Python package, or not at all, and why:
coverage.md from upstream_models.txt, the registry and exported.jsonl (the ledger of runs of exporter/judge_packages.py).

  coverage.py --write TORCHSTONE   writes coverage.md
  coverage.py --check TORCHSTONE   exit 1 when coverage.md is not current, or a line of upstream_models.txt is not true

TORCHSTONE is the built program: it lists its own models."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TABLE = HERE / "coverage.md"
LEDGER = HERE / "exported.jsonl"
HEAD = """# Coverage

How each model of PyTorch's `benchmarks/dynamo` is judged: native (a C++ model of the zoo), exported from its Python package
([docs/export.md](../../docs/export.md)), or neither. Made by `tests/coverage/coverage.py --write build/bin/torchstone` from
`upstream_models.txt`, the registry and `exported.jsonl`, the ledger that `tests/exporter/judge_packages.py` writes of real runs; ctest
checks that it is current. Means over native models hold no exported one: a file runs in the suite `own`, which averages leave
out where there are others.
"""
# Models in a suite of upstream's under names of our own: sizes or forms that upstream does not list.
OWN = {"convmixer_1024_20_ks9_p14", "convnext_tiny", "llama_decode", "llama_prefill", "mixer_s16_224", "repvgg_a2_deployed",
       "speech_transformer_masked", "swin_tiny_patch4_window7_224", "xcit_nano_12_p8_224"}


def upstream():
    """({suite: [(name, our name or None, reason or None)]}, errors)"""
    suites, short, errors = {}, {}, []
    for number, line in enumerate((HERE / "upstream_models.txt").read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            current = suites.setdefault(line.strip("[]"), [])
        elif line.startswith("@"):
            key, text = line.split(": ", 1)
            short[key] = text
        else:
            name, _, reason = line.partition(": ")
            name, _, ours = name.partition(" = ")
            if reason.startswith("@") and reason not in short:
                errors.append(f"upstream_models.txt:{number}: {reason} is no short form (known: {', '.join(short)})")
            if name in [entry[0] for entry in current]:
                errors.append(f"upstream_models.txt:{number}: {name} is listed twice")
            current.append((name, None if reason else ours or name, short.get(reason, reason) or None))
    return suites, errors


def registry(program):
    listing = subprocess.run([program, "--torchstone_list=models", "--torchstone_format=json"], check=True,
                             capture_output=True, text=True).stdout
    # The LSTM runners and the operators of logs are upstream's other two benchmarks.
    return {model["model"]: model for model in json.loads(listing) if model["suites"] not in ("fastrnns", "operators")}


def untrue(suites, models):
    for suite, entries in suites.items():
        for name, ours, _ in entries:
            if ours and ours not in models:
                yield f"{suite}: {name} is said to be in the zoo as {ours}, which is not registered"
            if not ours and name in models:
                yield f"{suite}: {name} is said to be missing, but is registered"
    named = {ours for entries in suites.values() for _, ours, _ in entries}
    for name, model in models.items():
        for suite in set(model["suites"].split(",")) & set(suites):
            if name not in named and name not in OWN:
                yield f"{suite}: {name} is registered, but stands in no line of upstream_models.txt"


def foreign(suites, exported):
    names = {name for entries in suites.values() for name, _, _ in entries}
    return [f"exported.jsonl: {name} is no name of upstream's" for name in exported if name not in names]


def ledger(path=LEDGER):
    """The last line of each name of upstream's that was exported."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {row["name"].removeprefix("upstream:"): row for row in rows if row["name"].startswith("upstream:")}


# They say nothing of the compiled model.
NOT_JUDGED = {"model_fail_to_load", "interrupted", "uninformative"}


def is_judged(row):
    return bool(row and row["judged"]) and not NOT_JUDGED & set(row["judged"].values())


def cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def words_of(row):
    """What a real run said of an exported model: statuses, versions and date, or why there are none."""
    if row is None:
        return "", "not tried yet"
    versions = ", ".join(f"{package} {version}" for package, version in sorted(row["versions"].items())
                         if package in ("torch", "timm", "transformers", "diffusers", "torch_geometric", "torchvision"))
    run = f"{row['date']}, {row['commit']}, {versions}"
    if is_judged(row):
        statuses = ", ".join(f"{backend}: {status}" for backend, status in sorted(row["judged"].items()))
        return "exported", f"{statuses}{'; ' + cell(row['reason'][:300]) if row['reason'] else ''} ({row['date']})"
    return "neither", f"{cell(row['reason'][:300])} ({run})"


def table(suites, models, exported):
    lines = [HEAD, "| suite | upstream's models | native | exported and judged | neither |", "|---|---:|---:|---:|---:|"]
    for suite, entries in suites.items():
        native = sum(ours is not None for _, ours, _ in entries)
        judged = sum(ours is None and is_judged(exported.get(name)) for name, ours, _ in entries)
        lines.append(f"| {suite} | {len(entries)} | {native} | {judged} | {len(entries) - native - judged} |")
    listed = {ours for entries in suites.values() for _, ours, _ in entries}
    lines += ["", f"The zoo has {len(models)} models in {len({model['family'] for model in models.values()})} families. "
              "Under no name of upstream's: " + ", ".join(sorted(set(models) - listed)) + "."]
    versions = sorted({json.dumps(row["versions"], sort_keys=True) for row in exported.values() if is_judged(row)})
    lines += ["", "Exported models are judged in the mini preset, float32, inference, accuracy, on the CPU. Packages: " +
              "; ".join(", ".join(f"{p} {v}" for p, v in json.loads(v).items()) for v in versions) + "."] if versions else []
    for suite, entries in suites.items():
        lines += ["", f"## {suite}", "", "| model | judged as | what was said | why it is not native |", "|---|---|---|---|"]
        for name, ours, reason in entries:
            if ours:
                lines.append(f"| {name} | native | {'' if name == ours else 'as ' + ours} | |")
            else:
                how, said = words_of(exported.get(name))
                lines.append(f"| {name} | {how} | {said} | {reason} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    suites, errors = upstream()
    models = registry(sys.argv[2])
    errors += untrue(suites, models)
    exported = ledger()
    errors += foreign(suites, exported)
    text = table(suites, models, exported)
    if sys.argv[1] == "--write":
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        errors.append("coverage.md is not current: run tests/coverage/coverage.py --write")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
