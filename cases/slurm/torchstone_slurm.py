#!/usr/bin/env python3
"""Runs the cases of Torchstone on a Slurm cluster, in chunks of equal duration.

  torchstone-slurm --out /shared/run1 --length 600 --results last_run -- --torchstone_checks=accuracy
  torchstone-slurm --out /shared/run1 --length 600 --results last_run --sbatch=--partition=gpu --sbatch=--gres=gpu:1 --wait

It lists the cases and divides them into chunks by the durations of earlier results. Then it submits a job array for cases that are
judged, another one for cases that are timed, and a job that merges the results. torchstone gets the arguments after --.

If the infrastructure fails (exit code 4) or a node dies, the chunk is requeued and runs only the cases that it did not finish.
The reports are in OUT/merged. All nodes must see the folder OUT under the same path.

exit codes: 0 submitted, or as expected with --wait; with --wait that of the merged results; 2 usage; 3 nothing selected; 4 a program
or Slurm failed; 130 interrupted
"""
import argparse
import fnmatch
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

import chunk_job
import merge_job

SUCCESS, USAGE, NOTHING, INFRASTRUCTURE, INTERRUPTED = 0, 2, 3, 4, 130
COMMAND_LIMIT_S = 600
KINDS = ("judged", "timed")


class UsageError(Exception):
    """Raised for arguments or a folder that cannot be used."""


class Failure(Exception):
    """Raised if a program fails. Its text has the command and the error."""


def say(text):
    print(f"torchstone-slurm: {text}", file=sys.stderr, flush=True)


def default_program():
    """Returns the torchstone of this installation, or the one in PATH."""
    here = os.environ.get("TORCHSTONE_SLURM_PROGRAM", "")
    return here if here and os.path.exists(here) else shutil.which("torchstone") or "torchstone"


def options_of(argv):
    cut = argv.index("--") if "--" in argv else len(argv)
    own, arguments = argv[:cut], argv[cut + 1:]
    parser = argparse.ArgumentParser(prog="torchstone-slurm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="a new folder on a shared file system")
    parser.add_argument("--length", type=float, required=True, metavar="SECONDS", help="duration of a chunk")
    parser.add_argument("--results", action="append", default=[], metavar="RESULTS", help="earlier results, for the durations (repeatable)")
    parser.add_argument("--assume", type=float, metavar="SECONDS", help="duration of a case without results (default: the median)")
    parser.add_argument("--retries", type=int, default=2, metavar="N", help="how often a chunk is requeued after exit code 4 (%(default)s)")
    parser.add_argument("--sbatch", action="append", default=[], metavar="OPTION", help="an option of sbatch for all chunks (repeatable)")
    parser.add_argument("--sbatch-timed", action="append", metavar="OPTION",
                        help="an option of sbatch for chunks of timed cases (repeatable; default: --exclusive)")
    parser.add_argument("--timed-last", action="store_true",
                        help="start timed chunks when the judged ones have ended, so that a shared cache has their programs")
    parser.add_argument("--program", default=default_program(), help="torchstone on the nodes (%(default)s)")
    parser.add_argument("--wait", action="store_true", help="wait for the merged results")
    options = parser.parse_args(own)
    if options.retries < 0:
        parser.error(f"--retries: expected 0 or more, found {options.retries}")
    for word in arguments:
        if not word.startswith(("--torchstone_", "--gtest_filter=")) or word.startswith("--torchstone_out"):
            parser.error(f"{word}: expected flags of torchstone except --torchstone_out, or --gtest_filter")
    return options, arguments


def output_of(command, text=""):
    """Runs a program with `text` as its input, and returns its output. Raises Failure, or UsageError for exit code 2."""
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", timeout=COMMAND_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(str(error)) from error
    if done.returncode != 0:
        kind = UsageError if done.returncode == USAGE else Failure
        raise kind(f"{shlex.join(command[:2])} ended with exit code {done.returncode}: {done.stderr.strip()[-1000:]}")
    sys.stderr.write(done.stderr)
    return done.stdout


def filter_keeps(pattern, name):
    """Returns whether --gtest_filter=PATTERN selects the case."""
    def matches(globs):
        return any(fnmatch.fnmatchcase(name, glob.replace("[", "[[]")) for glob in globs.split(":"))
    positive, minus, negative = pattern.partition("-")
    return (not positive or matches(positive)) and not (minus and matches(negative))


def twins_of(arguments):
    """Returns {variable: value}, the environment variables that correspond to the flags (their twins). Torchstone rejects a
    flag that affects no case of a chunk, but accepts its variable. Raises UsageError for a flag that is given twice."""
    twins = {}
    for word in arguments:
        name, equals, value = word.removeprefix("--torchstone_").partition("=")
        if word.startswith("--gtest_filter="):
            continue
        twin = "TORCHSTONE_" + name.upper()
        if twin in twins:
            raise UsageError(f"{word}: given twice, which no environment twin can hold")
        twins[twin] = value if equals else "true"
    return twins


def listed_cases(options, arguments):
    flags = [word for word in arguments if not word.startswith("--gtest_filter=")]
    filters = [word.partition("=")[2] for word in arguments if word.startswith("--gtest_filter=")]
    text = output_of([options.program, *flags, "--torchstone_list=cases", "--torchstone_format=json"])
    cases = json.loads(text)
    return [case for case in cases if not filters or filter_keeps(filters[-1], case["name"])]


def report_tool(program):
    beside = pathlib.Path(program).with_name("torchstone-report")
    return str(beside) if beside.exists() else shutil.which("torchstone-report") or "torchstone-report"


def planned_chunks(options):
    command = [report_tool(options.program), "plan", *options.results, "--cases", str(options.out / "cases.json"),
               "--length", str(options.length), "--format", "json"]
    if options.assume is not None:
        command += ["--assume", str(options.assume)]
    plan = json.loads(output_of(command))
    if plan["assumed"]:
        say(f"{len(plan['assumed'])} cases have no recorded duration: {', '.join(plan['assumed'][:3])}"
            f"{', …' if len(plan['assumed']) > 3 else ''}")
    return plan


def prepare(options, arguments):
    """Writes the files that the jobs read. Returns the chunks; empty if no case is selected. Raises UsageError and Failure."""
    twins = twins_of(arguments)
    cases = listed_cases(options, arguments)
    if not cases:
        return []
    options.out.mkdir(parents=True, exist_ok=True)
    if any(options.out.iterdir()):
        raise UsageError(f"--out {options.out}: expected a new or an empty folder")
    options.out = options.out.resolve()
    chunk_job.write_json(options.out / "cases.json", cases)
    plan = planned_chunks(options)
    chunk_job.write_json(options.out / "plan.json", plan)
    chunk_job.write_json(options.out / "job.json", {"program": shutil.which(options.program) or options.program, "twins": twins,
                                                    "report": report_tool(options.program), "retries": options.retries})
    (options.out / "logs").mkdir()
    return plan["chunks"]


def script(*words):
    """Returns a batch script that runs this program by exec, so that signals reach the program."""
    return f"#!/bin/sh\nexec {shlex.join([sys.executable, '-B', str(pathlib.Path(__file__).resolve()), *map(str, words)])}\n"


def sbatch(arguments, text):
    """Submits a job and returns its id."""
    return output_of(["sbatch", "--parsable", *arguments], text).strip().split(";")[0]


def submit_chunks(options, chunks):
    """Submits a job array for each kind of chunk. Returns the job ids."""
    jobs = []
    for kind in KINDS:
        numbers = [number for number, chunk in enumerate(chunks) if chunk["kind"] == kind]
        if not numbers:
            continue
        more = options.sbatch + ((["--exclusive"] if options.sbatch_timed is None else options.sbatch_timed) if kind == "timed" else [])
        if kind == "timed" and options.timed_last and jobs:
            more.append("--dependency=afterany:" + jobs[0])
        jobs.append(sbatch([f"--job-name=torchstone-{kind}", "--requeue", "--open-mode=append", f"--array={numbers[0]}-{numbers[-1]}",
                            f"--output={options.out}/logs/%a.log", *more], script("chunk", options.out)))
        say(f"job {jobs[-1]}: {len(numbers)} chunks of {kind} cases")
    return jobs


def submit_merge(options, jobs):
    waiting = ["--wait"] if options.wait else []
    command = ["--job-name=torchstone-merge", "--requeue", "--dependency=afterany:" + ":".join(jobs),
               f"--output={options.out}/logs/merge.log", *options.sbatch, *waiting]
    if not options.wait:
        say(f"job {sbatch(command, script('merge', options.out))}: merges into {options.out}/merged")
        return SUCCESS
    done = subprocess.run(["sbatch", "--parsable", *command], input=script("merge", options.out), stdout=subprocess.DEVNULL, text=True, check=False)
    log = options.out / "logs" / "merge.log"
    print(log.read_text(errors="replace") if log.exists() else "", end="")
    return done.returncode


def run(options, arguments):
    chunks = prepare(options, arguments)
    if not chunks:
        say("nothing selected: no case fits these arguments")
        return NOTHING
    return submit_merge(options, submit_chunks(options, chunks))


def main(argv):
    if argv[:1] == ["chunk"]:
        return chunk_job.main(pathlib.Path(argv[1]))
    if argv[:1] == ["merge"]:
        return merge_job.main(pathlib.Path(argv[1]))
    options, arguments = options_of(argv)
    try:
        return run(options, arguments)
    except UsageError as error:
        say(str(error))
        return USAGE
    except (Failure, OSError, ValueError) as error:
        say(str(error))
        return INFRASTRUCTURE
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
