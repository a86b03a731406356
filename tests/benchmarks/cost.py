"""Measures the cost of Torchstone itself on this machine. `ninja -C build benchmark` runs it. Prints each figure and
its ratio to the goal.

cost.py BINARY CTEST BUILD_DIR [--cold]: --cold also compiles everything into an empty cache, which takes minutes.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

binary, ctest, build = sys.argv[1:4]
cold = "--cold" in sys.argv
default_filter = "--gtest_filter=*/Accuracy.*"
float32 = "--gtest_filter=*/Accuracy.*_float32_*"
mobilenet = "torchbench/Accuracy.CompiledMatchesEager/mobilenet_v2_inference_float32_inductor_cpu"


def seconds(command, **environment):
    start = time.monotonic()
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    took = time.monotonic() - start
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return took


def row(what, value, unit, goal):
    print(f"{what:<58} {value:8.2f} {unit:<6} goal {goal:g}, {value / goal:5.2f} of it", flush=True)


def results(folder):
    with open(f"{folder}/results.json") as file:
        return json.load(file)["results"]


with tempfile.TemporaryDirectory() as work:
    out = f"--torchstone_out={work}/out"
    if cold:
        row("cold, twelve models float32, the program", seconds([binary, out, float32, f"--torchstone_cache={work}/a"]), "s", 360)
        took = seconds([ctest, "--test-dir", build, "-L", "accuracy", "-R", "_float32_", "-j2", "--no-tests=error"], TORCHSTONE_CACHE=f"{work}/b")
        row("cold, the same by ctest -j2", took, "s", 360)

    one = [binary, out, f"--gtest_filter={mobilenet}"]
    seconds(one)  # fills the cache
    runs = [seconds(one) for _ in range(5)]
    row("warm, one accuracy case of mobilenet_v2, wall", statistics.median(runs), "s", 2)
    print(f"    five runs: {' '.join(f'{r:.2f}' for r in sorted(runs))} s")

    seconds([binary, out, default_filter])
    took = seconds([binary, out, default_filter])
    cases = len(results(f"{work}/out"))
    row(f"warm, default accuracy set, a case of {cases}", took / cases, "s", 3)

    seconds([binary, out, "--gtest_filter=torchbench/Performance.*_inductor_*"])
    overheads = {r["model"]: r["outcome"]["metrics"]["harness_overhead_pct"] for r in results(f"{work}/out")}
    row("harness overhead of timing, worst model, of its wall time", max(overheads.values()), "%", 5)
    print("    " + " ".join(f"{model} {value:.2f}" for model, value in sorted(overheads.items())))
