"""The job of one chunk: runs its cases that no earlier attempt finished, and requeues itself after exit code 4."""
import json
import os
import signal
import subprocess
import sys

INFRASTRUCTURE = 4
SCONTROL_LIMIT_S = 120
# Statuses of cases that were not judged to the end because of the machine (docs/verdict.md).
UNFINISHED = {"crash", "timeout", "OOM", "eager_1st_run_OOM", "eager_2nd_run_OOM", "interrupted"}


def write_json(path, value):
    """Writes a JSON file atomically."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(temporary, path)


def read_json(path):
    """Returns the content of a JSON file; None if it cannot be read."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


def folder_of(out, number):
    return out / "chunks" / str(number)


def attempts_of(folder):
    """Returns the results folders of a chunk's attempts, the first attempt first."""
    numbers = sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit()) if folder.exists() else []
    return [folder / str(number) for number in numbers]


def is_done(record):
    """Returns whether a case with this record needs no further attempt."""
    result = (record or {}).get("result", {})
    outcome = result.get("outcome", {})
    return result.get("finished", True) and bool(outcome.get("status")) and outcome["status"] not in UNFINISHED \
        and not outcome.get("infrastructure_fault")


def done_cases(folder):
    """Returns the names of cases that an attempt judged."""
    done = set()
    for attempt in attempts_of(folder):
        for file in (attempt / "cases").glob("*.json"):
            record = read_json(file)
            if is_done(record):
                done.add(record["result"]["name"])
    return done


def run_cases(job, names, attempt):
    """Runs torchstone and returns its exit code, or 128 + N for signal N. Forwards SIGTERM, with which Slurm ends a job."""
    flags = attempt.with_suffix(".flags")
    flags.write_text(f"--gtest_filter={':'.join(names)}\n")
    command = [job["program"], f"--gtest_flagfile={flags}", f"--torchstone_out={attempt}"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, env={**os.environ, **job["twins"]}) as running:
        signal.signal(signal.SIGTERM, lambda *_: running.terminate())
        code = running.wait()
    return code if code >= 0 else 128 - code


def requeue():
    """Asks Slurm to run this job again. Returns whether Slurm accepts this. Prints an error otherwise."""
    job = f"{os.environ['SLURM_ARRAY_JOB_ID']}_{os.environ['SLURM_ARRAY_TASK_ID']}"
    try:
        done = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, timeout=SCONTROL_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        print(f"torchstone-slurm: scontrol requeue: {error}", flush=True)
        return False
    if done.returncode != 0:
        print(f"torchstone-slurm: scontrol requeue: {done.stderr.strip()}", flush=True)
    return done.returncode == 0


def main(out):
    number = int(os.environ["SLURM_ARRAY_TASK_ID"])
    job, plan = read_json(out / "job.json"), read_json(out / "plan.json")
    if job is None or plan is None:
        print(f"torchstone-slurm: {out} cannot be read on this node", file=sys.stderr)
        return INFRASTRUCTURE
    folder = folder_of(out, number)
    folder.mkdir(parents=True, exist_ok=True)
    done = done_cases(folder)
    names = [name for name in plan["chunks"][number]["cases"] if name not in done]
    if not names:
        return 0
    attempt = folder / str(len(list(folder.glob("*.flags"))))
    code = run_cases(job, names, attempt)
    # An attempt whose node died has no exit code here, so it does not count as a retry.
    codes = [*(read_json(folder / "codes.json") or []), code]
    write_json(folder / "codes.json", codes)
    print(f"torchstone-slurm: chunk {number}, attempt {attempt.name} on {os.uname().nodename}: exit code {code}", flush=True)
    if code == INFRASTRUCTURE and codes.count(INFRASTRUCTURE) <= job["retries"]:
        requeue()
    return code
