#!/usr/bin/env python3
"""Writes coverage.md: which compilers were judged on each of upstream's models, how the model was loaded, and the
result. The sources are upstream_models.txt, the registry and the ledgers of real runs (judge_upstream.py,
exporter/judge_packages.py).

  coverage.py --write TORCHSTONE   writes coverage.md
  coverage.py --check TORCHSTONE   exit code 1 if coverage.md is outdated, or a line of upstream_models.txt is wrong

TORCHSTONE is the built program, which lists its models."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TABLE = HERE / "coverage.md"
VERDICTS = HERE / "verdicts.jsonl"
FACTS = HERE.parent / "upstream/facts.json"
# Ledgers of exporter/judge_packages.py: exported models in inference with the preset mini. Older than VERDICTS.
EXPORTED = {HERE / "exported.jsonl": "cpu", HERE.parent / "exporter/families.jsonl": "cpu",
            HERE.parent / "exporter/families_cuda.jsonl": "cuda"}
SOURCES = {"torchbench": "torchbench", "timm": "timm", "huggingface": "transformers"}
HEAD = """# Coverage

Which compilers judged each model of PyTorch's `benchmarks/dynamo`, and with which result. A model is **native** (a C++ model of the
zoo), **exported** from its Python package ([docs/export.md](../../docs/export.md)) or a **Python** module under `torch.compile`
([docs/python.md](../../docs/python.md)). Made by `tests/coverage/coverage.py --write build/bin/torchstone` from `upstream_models.txt`,
the registry and the ledgers of real runs, of which `tests/coverage/judge_upstream.py` writes the newest. ctest checks that it is current.

A model counts as judged by a compiler if Inductor or `torch_compile` was given it and its answer was compared, or the compiler failed.
TorchScript repeats eager's operators, so its verdicts are shown and do not count.

Upstream does not train every name. `tests/upstream/facts.json` holds its lists: `skip.all` (run in no mode), `skip.test.training`,
and the models of pytorch/benchmark whose class states no training batch. Verdicts in training of such names are counted separately.

The tables combine verdicts of several torch releases. Each cell names the day of its newest verdict and the torch releases of all its
verdicts. The newest verdict of a combination of kind, compiler, mode, device and preset replaces older ones, of whatever release.
"""
# Models in upstream's suites that upstream does not list: other sizes or forms, under Torchstone's own names.
OWN = {"basic_gnn_gat", "convmixer_1024_20_ks9_p14", "convnext_tiny", "gemma3_decode", "gemma3_prefill", "gpt_oss_decode",
       "gpt_oss_prefill", "llama_decode", "llama_prefill", "mamba2_decode", "mamba2_prefill", "mistral_decode",
       "mistral_prefill", "mixer_s16_224", "phi4_mini_decode", "phi4_mini_prefill", "qwen3_5_decode", "qwen3_5_prefill",
       "qwen3_decode", "qwen3_prefill", "repvgg_a2_deployed", "sam_vit_base", "sd3_transformer", "speech_transformer_masked",
       "stable_diffusion_15_unet", "swin_tiny_patch4_window7_224", "t5_decode", "vovnet39a", "whisper_decode",
       "whisper_encoder", "whisper_tiny", "xcit_nano_12_p8_224"}


def upstream():
    """Reads upstream_models.txt. Returns ({suite: [(name, name in the zoo or None, reason or None)]}, errors)."""
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
    # The LSTM runners and the operators from logs belong to two other benchmarks of upstream.
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


def foreign(suites, verdicts):
    names = {name for entries in suites.values() for name, _, _ in entries}
    return [f"{VERDICTS.name}: {name} is no name of upstream's" for name in sorted({row["name"] for row in verdicts} - names)]


def untrained(suites, facts=None):
    """Returns {name: why upstream does not train it}, from the lists and batch sizes of upstream's files."""
    facts = facts or json.loads(FACTS.read_text())["models"]
    reasons = {}
    for suite, entries in suites.items():
        for name, _, _ in entries:
            about = facts[suite].get(name, {})  # without facts: newer than they are
            if "skip.all" in about.get("lists", {}):
                reasons[name] = "skip.all: upstream runs it in no mode"
            elif "skip.test.training" in about.get("lists", {}):
                reasons[name] = "skip.test.training: upstream does not train it"
            elif "inference" in about and "training" not in about:
                reasons[name] = "its class in pytorch/benchmark states no training batch, so upstream does not train it"
    return reasons


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def verdicts_of_export(row, name, device):
    """Converts a line of judge_packages.py to verdicts in the format of judge_upstream.py."""
    facts = {"name": name, "kind": "exported", "mode": "inference", "device": device, "preset": "mini", "reason": row["reason"],
             **{field: row[field] for field in ("versions", "commit", "date")}}
    statuses = row["judged"] or {"": "not_run"}
    return [{**facts, "backend": backend, "status": status} for backend, status in statuses.items()]


def ledger(suites, verdicts=VERDICTS, exported=None):
    """Returns the latest verdict for each combination of name, kind, backend, mode, device and preset."""
    names = {f"{SOURCES[suite]}:{name}": name for suite, entries in suites.items() for name, _, _ in entries}
    rows = []
    for path, device in (EXPORTED if exported is None else exported).items():
        for row in lines_of(path):
            name = row["name"].removeprefix("upstream:") if row["name"].startswith("upstream:") else names.get(row["name"])
            if name and row["kind"] == "exported":
                rows += verdicts_of_export(row, name, device)
    rows += lines_of(verdicts)
    last = {}
    for row in sorted(rows, key=lambda row: row["date"]):
        last[tuple(row[field] for field in ("name", "kind", "backend", "mode", "device", "preset"))] = row
    return list(last.values())


COMPILERS = {"inductor", "torch_compile"}
# Statuses in which the compiler's answer was compared, or the compiler gave none. Other statuses are no verdict on a
# compiler, or do not say whose fault it was.
JUDGED = {"pass", "fail_accuracy", "not_bitwise_equivalent", "not_compiled", "fail_to_compile", "fail_to_run"}
MISSING = {"model_fail_to_load", "interrupted", "uninformative", "not_run"}


def by_compiler(row):
    return row["backend"] in COMPILERS and row["status"] in JUDGED


def judged_names(verdicts, **fields):
    return {row["name"] for row in verdicts if by_compiler(row) and all(row[field] == value for field, value in fields.items())}


def cell(text):
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def where(row):
    words = [] if row["mode"] == "inference" else [row["mode"]]
    words += [] if row["device"] == "cpu" else [row["device"]]
    words += [] if row["preset"] == "mini" else [row["preset"]]
    return f" ({', '.join(words)})" if words else ""


def statuses(rows):
    """Describes the runs of one kind: the status for each backend, the date of the newest run, and torch's releases."""
    said = [row for row in rows if row["status"] not in MISSING]
    if not said:
        return "not judged" if rows else ""
    order = sorted(said, key=lambda row: (row["backend"], row["device"], row["preset"], row["mode"]))
    text = ", ".join(f"{row['backend']}{where(row)}: {row['status']}" for row in order)
    releases = sorted({row["versions"]["torch"].partition("+")[0] for row in said})
    return f"{text} ({max(row['date'] for row in said)}, torch {' and '.join(releases)})"


def reason_of(rows, why_not_native):
    """Returns the reason of the newest run without `pass`, otherwise the reason why the zoo lacks the model. Returns
    both if no run judged the model."""
    said = {row["kind"] for row in rows if row["status"] not in MISSING}
    red = sorted((row for row in rows if row["status"] != "pass" and row["reason"] and
                  not (row["status"] in MISSING and row["kind"] in said)), key=lambda row: row["date"])
    if not red:
        return why_not_native or ""
    row = red[-1]
    versions = ", ".join(f"{package} {version}" for package, version in sorted(row["versions"].items())
                         if package in ("torch", "timm", "transformers", "diffusers", "torch_geometric", "torchvision"))
    facts = f" ({row['date']}, {row['commit']}, {versions})" if row["status"] in MISSING else ""
    text = cell(row["reason"][:300]) + facts
    return text if said or not why_not_native else f"{why_not_native}: {text}"


def summary(suites, verdicts, not_trained):
    total = sum(map(len, suites.values()))
    judged, trained = judged_names(verdicts, mode="inference"), judged_names(verdicts, mode="training")
    lines = [f"**{len(judged)} of {total} names are judged by a compiler in inference. Upstream trains {total - len(not_trained)} names: "
             f"{len(trained - set(not_trained))} of them are judged in training, and {len(trained & set(not_trained))} others.**", "",
             "| suite | upstream's models | by a compiler, inference | trained upstream | of these judged in training | others judged "
             "in training | native | exported | Python | in the zoo |", "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for suite, entries in suites.items():
        names = {name for name, _, _ in entries}
        upstream_trains = names - set(not_trained)
        kinds = [len(names & judged_names(verdicts, kind=kind)) for kind in ("native", "exported", "python")]
        numbers = [len(entries), len(names & judged), len(upstream_trains), len(upstream_trains & trained),
                   len((names & trained) - upstream_trains), *kinds, sum(ours is not None for _, ours, _ in entries)]
        lines.append(f"| {suite} | {' | '.join(map(str, numbers))} |")
    return lines


def training_gaps(suites, verdicts, not_trained):
    """Returns the table of names without a verdict in training. The reason is upstream's, or that of the newest attempt."""
    trained = judged_names(verdicts, mode="training")
    lines = ["", "## No verdict in training", "", "| suite | model | trained upstream | reason |", "|---|---|---|---|"]
    for suite, entries in suites.items():
        for name, _, _ in entries:
            if name in trained:
                continue
            attempts = sorted((row for row in verdicts if row["name"] == name and row["mode"] == "training"),
                              key=lambda row: row["date"])
            reasons = [not_trained[name]] if name in not_trained else []
            reasons += [cell(f"{row['kind']}: {row['status']}: {row['reason'][:300]}") for row in attempts[-1:]]
            lines.append(f"| {suite} | {name} | {'no' if name in not_trained else 'yes'} | {'; '.join(reasons) or 'not attempted'} |")
    return lines


def table(suites, models, verdicts, not_trained):
    lines = [HEAD, *summary(suites, verdicts, not_trained)]
    listed = {ours for entries in suites.values() for _, ours, _ in entries}
    lines += ["", f"The zoo has {len(models)} models in {len({model['family'] for model in models.values()})} families. "
              "Under no name of upstream's: " + ", ".join(sorted(set(models) - listed)) + "."]
    versions = sorted({json.dumps(row["versions"], sort_keys=True) for row in verdicts if by_compiler(row)})
    lines += ["", "Accuracy in float32. Statuses without more words are of the mini preset in inference on the CPU. Packages of the "
              "compilers' verdicts: " + "; ".join(", ".join(f"{p} {v}" for p, v in json.loads(v).items()) for v in versions) + "."]
    lines += training_gaps(suites, verdicts, not_trained)
    for suite, entries in suites.items():
        lines += ["", f"## {suite}", "", "| model | native | exported | Python | reason |", "|---|---|---|---|---|"]
        for name, ours, why_not_native in entries:
            rows = [row for row in verdicts if row["name"] == name]
            kinds = [statuses([row for row in rows if row["kind"] == kind]) for kind in ("native", "exported", "python")]
            if ours:
                kinds[0] = kinds[0] or f"in the zoo{'' if name == ours else ' as ' + ours}"
            reason = reason_of(rows, why_not_native) if rows else why_not_native or ""
            lines.append(f"| {name} | {' | '.join(kinds)} | {reason} |")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--write", "--check"):
        sys.exit(__doc__)
    suites, errors = upstream()
    models = registry(sys.argv[2])
    errors += untrue(suites, models)
    verdicts = ledger(suites)
    errors += foreign(suites, verdicts)
    text = table(suites, models, verdicts, untrained(suites))
    if sys.argv[1] == "--write":
        TABLE.write_text(text)
    elif not TABLE.exists() or TABLE.read_text() != text:
        errors.append("coverage.md is not current: run tests/coverage/coverage.py --write")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
