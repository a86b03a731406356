"""How often the interval of eager against eager covers 1.0, and how often a gate at 1.0 would have cried wolf.

eager_against_eager.py BINARY [REPETITIONS [MODEL …]]: REPETITIONS cases of each model in fresh processes.
"""

import json
import subprocess
import sys
import tempfile

binary = sys.argv[1]
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 40
models = sys.argv[3:] or ["resnet18"]

covered = alarms = total = 0
for model in models:
    ratios = []
    for repetition in range(repetitions):
        with tempfile.TemporaryDirectory() as out:
            command = [binary, f"--torchstone_out={out}", f"--torchstone_only={model}", "--torchstone_checks=performance",
                       "--torchstone_dtypes=float32", "--torchstone_backends=eager", f"--torchstone_seed={repetition + 1}"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(done.stdout + done.stderr)
            with open(f"{out}/results.json") as file:
                metrics = json.load(file)["results"][0]["outcome"]["metrics"]
        ratios.append(metrics["speedup"])
        total += 1
        covered += metrics["speedup_low"] <= 1.0 <= metrics["speedup_high"]
        alarms += metrics["speedup_high"] < 1.0
    ratios.sort()
    print(f"{model:<20} median ratio {ratios[len(ratios) // 2]:.4f}, {ratios[0]:.4f} to {ratios[-1]:.4f}", flush=True)
print(f"the interval covers 1.0 in {covered} of {total} cases ({100 * covered / total:.1f} %); alarms at a gate of 1.0: {alarms}")
