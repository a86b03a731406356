#!/usr/bin/env python3
"""Tests torchstone-slurm on a real Slurm cluster with two nodes on this machine. It runs 500 cheap cases, kills a node,
and has one chunk that always fails.

  cluster_test.py TORCHSTONE_REPORT [--cases 500] [--seconds 0.8] [--length 20]

No row may be lost or occur twice. The merged results must equal those of a single machine, except for times. The chunks
may take at most 1.15 times the ideal time. Exit code 77: Slurm is not available.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SLURM = HERE.parents[1] / "cases" / "slurm" / "torchstone_slurm.py"
sys.path.insert(0, str(HERE))
import cluster  # noqa: E402

LIMIT_S = 1200
ALLOWED = 1.15
KILLED = cluster.NODES[0]
TIMES = {"recorded", "duration_s", "origin", "machine", "reproduce"}
RETRIES = 2


def programs_in(folder, report):
    """Makes torchstone and torchstone-report in one folder, as an installation has them. Returns torchstone."""
    program = folder / "torchstone"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -B '{HERE / 'fake_torchstone.py'}' \"$@\"\n")
    program.chmod(0o755)
    (folder / "torchstone-report").symlink_to(report)
    return program


def rows_of(file):
    """Returns the rows without their times, by name. Fails if a name occurs twice."""
    rows = {}
    for result in json.loads(file.read_text())["results"]:
        assert result["name"] not in rows, f"{result['name']} occurs twice"
        rows[result["name"]] = {key: value for key, value in result.items() if key not in TIMES}
    return rows


def submit(options, folder, program, environment):
    command = [sys.executable, "-B", str(SLURM), f"--out={folder / 'run'}", f"--length={options.length}", f"--assume={options.seconds}",
               f"--retries={RETRIES}", f"--program={program}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stderr, end="")


def is_chunk(job):
    return job.startswith(("torchstone-judged", "torchstone-timed"))


def wait_for(cluster_, condition, what):
    end = time.monotonic() + LIMIT_S
    while not condition(cluster_.jobs()):
        assert time.monotonic() < end, f"{what}: not within {LIMIT_S} s\n" + "\n".join(cluster_.jobs())
        time.sleep(0.3)
    return time.monotonic()


def kill_and_revive(running, run, work_s):
    """Kills a node after a third of the work, and starts it again. Returns how many seconds it was down."""
    time.sleep(work_s / 6)
    wait_for(running, lambda jobs: any(job.endswith("RUNNING " + KILLED) for job in jobs), "a chunk on " + KILLED)
    time.sleep(3)  # it has finished some cases
    killed = time.monotonic()
    running.kill_node(KILLED)
    recorded = len(list(run.glob("chunks/*/0/cases/*.json")))
    print(f"killed {KILLED} when {recorded} cases had a record")
    time.sleep(10)
    running.start_node(KILLED)
    wait_for(running, lambda jobs: any(job.endswith("RUNNING " + KILLED) for job in jobs) or not any(map(is_chunk, jobs)), KILLED + " again")
    return time.monotonic() - killed


def records_of_attempts(run, number):
    return [{file.name for file in (attempt / "cases").glob("*.json")}
            for attempt in sorted((run / "chunks" / str(number)).iterdir()) if attempt.is_dir()]


def check_attempts(run, plan):
    """Checks that the killed node's chunk lost at most one case, and that the failing chunk ran RETRIES + 1 times."""
    again = 0
    for number, chunk in enumerate(plan["chunks"]):
        attempts = records_of_attempts(run, number)
        codes = json.loads((run / "chunks" / str(number) / "codes.json").read_text())
        if any("crashes" in name for name in chunk["cases"]):
            assert codes.count(4) == RETRIES + 1, codes
            assert all(len(records) == 1 for records in attempts[-RETRIES:]), "an attempt repeated judged cases"
            continue
        assert codes == [0], codes
        again += len(attempts) - 1
        for earlier, later in zip(attempts, attempts[1:]):
            assert not earlier & later, "a finished case ran again"
    assert again <= 1, f"{again} chunks ran again (expected the one of the dead node)"
    print(f"{again} chunks of the dead node ran what was left")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=0.8, help="of each case")
    parser.add_argument("--length", type=float, default=20, help="of a chunk")
    options = parser.parse_args()
    if why := cluster.missing():
        print(f"skipped: {why}")
        return 77
    with tempfile.TemporaryDirectory(prefix="torchstone_slurm_") as scratch:
        folder = pathlib.Path(scratch)
        program, run = programs_in(folder, options.report.resolve()), folder / "run"
        work_s = options.cases * options.seconds
        with cluster.Cluster(folder) as running:
            environment = {**running.environment, "FAKE_CASES": str(options.cases), "FAKE_SECONDS": str(options.seconds)}
            begin = time.monotonic()
            submit(options, folder, program, environment)
            away_s = kill_and_revive(running, run, work_s)
            makespan = wait_for(running, lambda jobs: not any(map(is_chunk, jobs)), "the chunks") - begin
            wait_for(running, lambda jobs: not jobs, "the merge")
        print((run / "logs" / "merge.log").read_text())
        subprocess.run([program, f"--torchstone_out={folder / 'one'}"], env={**environment, "FAKE_SECONDS": "0"}, check=False)
        subprocess.run([options.report, "merge", folder / "one", "-o", folder / "of_one"], stdout=subprocess.DEVNULL, check=False)
        here, there = rows_of(run / "merged" / "results.json"), rows_of(folder / "of_one" / "results.json")
        assert len(here) == options.cases, f"{len(here)} rows of {options.cases}"
        assert here == there, "the merged results are not those of one machine"
        check_attempts(run, json.loads((run / "plan.json").read_text()))
        ideal = (work_s + RETRIES * options.seconds + away_s) / len(cluster.NODES)
        print(f"{len(here)} rows; the chunks took {makespan:.1f} s, ideal {ideal:.1f} s: {makespan / ideal:.3f}")
        assert makespan <= ALLOWED * ideal, f"the chunks took more than {ALLOWED} times the ideal"
    return 0


if __name__ == "__main__":
    os.environ.pop("SLURM_CONF", None)
    sys.exit(main())
