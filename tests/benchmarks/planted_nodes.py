#!/usr/bin/env python3
"""Measures how often the diagnosis names a planted node. Plants faults of tests/faults/program.cpp at random nodes.

Each case has its own run in --out, which is not repeated if it exists. A fault may change no output beyond rounding:
the case passes and its diagnosis is healthy. Such a fault is counted, and another node is chosen. A model without a
verdict, because eager itself differs or is skipped, is counted too. "Named exactly" means that the diagnosed part
consists of the planted node only. Parts with further nodes, and parts without the planted node, are counted separately.
Exit code 0: at least --goal are named exactly. 1: fewer, or a run failed."""
import argparse
import collections
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

MODELS = ["lennard_jones", "resnet18", "BertForMaskedLM", "dcgan", "dlrm", "vit_small_patch16_224", "squeezenet1_1", "mixer_s16_224",
          "DistillGPT2", "soft_actor_critic", "alexnet", "pytorch_unet", "mobilenet_v3_small", "T5Small", "convnext_tiny"]
KINDS = ["scaled", "negated", "operator", "shifted", "rounded", "dropped", "constant", "axis", "swapped", "late"]
NODE = re.compile(r"  %(?P<value>v\d+): (?P<dtype>\w+)\[(?P<sizes>[\d, ]*)\] = (?P<op>[\w:.]+)\((?P<arguments>.*)\)$")
SAME_SHAPE = {"aten::relu", "aten::relu_", "aten::gelu", "aten::tanh", "aten::sigmoid", "aten::softmax.int", "aten::hardtanh_",
              "aten::hardswish_", "aten::hardswish", "aten::silu", "aten::silu_", "aten::layer_norm", "aten::batch_norm", "aten::leaky_relu_"}
NUMBERS = {"aten::layer_norm", "aten::batch_norm", "aten::mul.Scalar", "aten::div.Scalar", "aten::leaky_relu_", "aten::leaky_relu",
           "aten::add.Tensor", "aten::add_.Tensor", "aten::sub.Tensor"}
AXES = {"aten::softmax.int", "aten::log_softmax.int"}
SWAPPED = {"aten::cat", "aten::sub.Tensor", "aten::div.Tensor"}
NOT_JUDGED = {"pass_due_to_skip", "eager_two_runs_differ", "eager_fail_to_run"}  # statuses of eager alone
READERS = {"aten::conv2d", "aten::linear", "aten::add.Tensor", "aten::mul.Tensor", "aten::matmul", "aten::batch_norm", "aten::layer_norm",
           "aten::max_pool2d"}  # operators whose first argument is a tensor


def fits(kind, node):
    """Returns whether this kind of fault can be planted at the node."""
    sizes = [int(size) for size in node["sizes"].split(", ") if size]
    if not node["dtype"].startswith("float") or not sizes or node["op"].startswith(("aten::dropout", "prim::")):
        return False
    is_first_a_value = node["arguments"].startswith("%v")
    return {"dropped": node["op"] in SAME_SHAPE and is_first_a_value, "constant": node["op"] in NUMBERS,
            "axis": node["op"] in AXES and len(sizes) > 1, "swapped": node["op"] in SWAPPED,
            "late": node["op"] in READERS and is_first_a_value, "shifted": sizes[-1] > 1}.get(kind, True)


def flags_of(arguments, model, mode):
    return [f"--torchstone_only={model}", f"--torchstone_modes={mode}", "--torchstone_checks=accuracy", "--torchstone_dtypes=float32",
            f"--torchstone_devices={arguments.device}", "--gtest_filter=-fastrnns/*", f"--torchstone_plugin={arguments.plugin}"]


def nodes_of(arguments, model, mode):
    """Returns those nodes of the program that return one tensor."""
    done = subprocess.run([arguments.binary, *flags_of(arguments, model, mode), "--torchstone_backends=inductor", "--torchstone_print_program"],
                          capture_output=True, text=True)
    nodes = [match.groupdict() for match in map(NODE.match, done.stdout.splitlines()) if match]
    if not nodes:
        sys.exit(f"{model} {mode}: no program: {done.stderr.strip()}")
    return nodes


def diagnosed(arguments, model, mode, kind, value):
    """Returns the result of one run: the outcome, the values of the diagnosed part, trials and seconds."""
    folder = arguments.out / f"{model}_{mode}_{kind}_{value}"
    if not (folder / "finished").exists():
        done = subprocess.run([arguments.binary, *flags_of(arguments, model, mode), f"--torchstone_out={folder}", "--torchstone_diagnose=always",
                               f"--torchstone_backends=fault_program:fault={kind},value={value}"], capture_output=True, text=True)
        (folder / "finished").write_text(f"{done.returncode}\n{done.stderr}") if folder.exists() else sys.exit(done.stderr)
    rows = json.loads((folder / "results.json").read_text())["results"]
    row = rows[0]["outcome"]
    found = {"status": row["status"], "outcome": row["notes"].get("diagnosis_outcome", "none"), "part": [], "trials": 0, "seconds": 0}
    for file in folder.glob("diagnosis/*/diagnosis.json"):
        said = json.loads(file.read_text())
        found.update(part=[one["value"] for one in said.get("part", [])], trials=said.get("trials", 0), seconds=said.get("seconds", 0),
                     nodes=said.get("nodes", 0), sentence=said.get("sentence", ""))
    return found


def verdict_of(found, value):
    if found["outcome"] == "healthy":
        return "no effect"
    if found["status"] in NOT_JUDGED:
        return "not judged"
    if found["part"] == [value]:
        return "named"
    return "within" if value in found["part"] else "missed"


def places_of(arguments, model, mode):
    """Yields kinds of faults and random nodes to plant them at. Each model starts with another kind."""
    first = MODELS.index(model) + (5 if mode == "training" else 0)
    drawn = random.Random(f"{arguments.seed} {model} {mode}")
    nodes = nodes_of(arguments, model, mode)
    for kind in (KINDS[(first + i) % len(KINDS)] for i in range(len(KINDS))):
        places = [node for node in nodes if fits(kind, node)]
        drawn.shuffle(places)
        for place in places[:arguments.draws]:
            yield kind, place


def planted(arguments, model, mode):
    """Plants faults until one has an effect, and yields a line for each. Tries all nodes of a kind before the next
    kind."""
    for kind, place in places_of(arguments, model, mode):
        found = diagnosed(arguments, model, mode, kind, place["value"])
        said = verdict_of(found, place["value"])
        line = {"model": model, "mode": mode, "device": arguments.device, "kind": kind, "value": place["value"], "op": place["op"],
                "said": said, **found}
        print(f"{said:10} {model} {mode} {kind} {place['value']} {place['op']}: {found['status']}, {found['outcome']}, "
              f"part of {len(found['part'])} of {found.get('nodes', 0)}, {found['trials']} trials, {found['seconds']:.0f} s", flush=True)
        yield line
        if said != "no effect":
            return


def parser_of(description):
    """Returns a parser with the arguments that select the planted faults and the folder of their runs."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="torchstone")
    parser.add_argument("plugin", help="the library of planted faults")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--draws", type=int, default=3, help="places to try of a kind (default: %(default)s)")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--modes", nargs="*", default=["inference", "training"])
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--goal", type=float, default=0.95)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    start, lines = time.monotonic(), []
    for mode in arguments.modes:
        for model in arguments.models:
            lines += planted(arguments, model, mode)
            (arguments.out / "planted.json").write_text(json.dumps(lines, indent=1))
    counted = collections.Counter(line["said"] for line in lines)
    proving = [line for line in lines if line["said"] not in ("no effect", "not judged")]
    judged, seconds = len(proving), [line["seconds"] for line in proving]
    print(f"{counted['named']} of {judged} named exactly, {counted['within']} within a larger part, {counted['missed']} missed; "
          f"{counted['no effect']} without effect, {counted['not judged']} not judged; {statistics.median(seconds or [0]):.0f} s a diagnosis "
          f"in the middle, at most {max(seconds or [0]):.0f} s; {time.monotonic() - start:.0f} s in all")
    return 0 if judged and counted["named"] >= arguments.goal * judged else 1


if __name__ == "__main__":
    sys.exit(main())
