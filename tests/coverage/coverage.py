#!/usr/bin/env python3
"""Which of upstream's models the zoo has, and why not the others: coverage.md from upstream_models.txt and the registry.

  coverage.py --write TORCHSTONE   writes coverage.md
  coverage.py --check TORCHSTONE   exit 1 when coverage.md is not current, or a line of upstream_models.txt is not true

TORCHSTONE is the built program: it lists its own models."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TABLE = HERE / "coverage.md"
HEAD = """# Coverage

Models of PyTorch's `benchmarks/dynamo` that Torchstone has, and why not the others. Made by
`tests/coverage/coverage.py --write build/bin/torchstone` from `upstream_models.txt` and the registry; ctest checks that it is current.
"""
# Models in a suite of upstream's under names of our own: sizes or forms that upstream does not list.
OWN = {"convmixer_1024_20_ks9_p14", "convnext_tiny", "llama_decode", "mixer_s16_224", "repvgg_a2_deployed",
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


def table(suites, models):
    lines = [HEAD, "| suite | upstream's models | in the zoo |", "|---|---:|---:|"]
    for suite, entries in suites.items():
        lines.append(f"| {suite} | {len(entries)} | {sum(ours is not None for _, ours, _ in entries)} |")
    listed = {ours for entries in suites.values() for _, ours, _ in entries}
    lines += ["", f"The zoo has {len(models)} models in {len({model['family'] for model in models.values()})} families. "
              "Under no name of upstream's: " + ", ".join(sorted(set(models) - listed)) + "."]
    for suite, entries in suites.items():
        lines += ["", f"## {suite}", "", "In the zoo: " + ", ".join(
            name if name == ours else f"{name} (as {ours})" for name, ours, _ in entries if ours) + ".", "",
                  "| missing, because | models |", "|---|---|"]
        reasons = {}
        for name, _, reason in entries:
            if reason:
                reasons.setdefault(reason, []).append(name)
        lines += [f"| {reason} | {', '.join(names)} |" for reason, names in sorted(reasons.items(), key=lambda x: -len(x[1]))]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    suites, errors = upstream()
    models = registry(sys.argv[2])
    errors += untrue(suites, models)
    text = table(suites, models)
    if sys.argv[1] == "--write":
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        errors.append("coverage.md is not current: run tests/coverage/coverage.py --write")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
