#!/usr/bin/env python3
"""Runs ctest and reports the result of every single test.

  run.py BUILD [--all] [ctest's flags]…

--all also runs the label `large` (docs/tests.md). After ctest's output, the script lists failed and skipped tests by
name and the ten slowest tests, then ctest's closing lines and the totals. The exit code is that of ctest."""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from results import FAILED, PASSED, SKIPPED, of_ctest


def flags_for(flags, everything):
    """Returns the flags for ctest. ctest excludes a test only if it matches every -LE, so the label `large` is added to
    each -LE of the caller. If the caller selects tests, each case is a ctest test of its own. Otherwise all cases run
    in two processes (cmake/Cases.cmake.in)."""
    selecting = {"-L", "--label-regex", "-R", "--tests-regex", "-I", "--tests-information", "--rerun-failed"}
    shards = [] if selecting & set(flags) else ["-C", "shards"]
    if everything:
        return [*flags, *shards]
    flags = list(flags)
    excluding = [i for i, flag in enumerate(flags[:-1]) if flag in ("-LE", "--label-exclude")]
    for i in excluding:
        flags[i + 1] = f"(^large$)|({flags[i + 1]})"
    return [*flags, *([] if excluding else ["-LE", "^large$"]), *shards]


def show(line):
    print(line, end="", flush=True)


def without_passed(lines):
    """Filters ctest's output of a failed shard. Removes tests that passed and printed nothing."""
    begun = None
    for line in lines:
        if begun and not line.startswith("[       OK ]"):
            yield begun
        elif begun or line.startswith("[-----"):
            begun = None
            continue
        begun = line if line.startswith("[ RUN      ]") else None
        if not begun:
            yield line
    if begun:
        yield begun


def parallel_tests():
    """Returns 1.5 times the number of cores, because tests wait for child processes, locks and time limits."""
    return len(os.sched_getaffinity(0)) * 3 // 2


def run_ctest(command):
    """Runs ctest and shows its output immediately, except for the closing lines. Returns (exit code, closing lines)."""
    closing = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as ctest:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctest gets the signal too and ends its tests
        for line in without_passed(ctest.stdout):
            if closing or re.match(r"\d+% tests passed", line):
                closing.append(line)
            else:
                show(line)
    return ctest.returncode, closing


def text_of(tests):
    """Returns the part of the report before ctest's closing lines."""
    lines = []
    for status in (SKIPPED, FAILED):
        chosen = [test for test in tests if test.status == status]
        if chosen:
            lines += ["", f"{status.capitalize()}:"]
        for test in chosen:
            where = f" ({test.shard})" if test.shard else ""
            lines.append(f"  {test.name}{where}" + (f": {test.reason[:300]}" if test.reason else ""))
    slowest = sorted(tests, key=lambda test: -test.seconds)[:10]
    lines += ["", "The slowest:", *(f"{test.seconds:8.1f} s  {test.name}" for test in slowest), ""]
    return "\n".join(lines) + "\n"


def totals(tests):
    return ", ".join(f"{sum(test.status == status for test in tests)} {status}" for status in (PASSED, FAILED, SKIPPED))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    options, flags = parser.parse_known_args()
    results = options.build.resolve() / "test-results"
    shutil.rmtree(results, ignore_errors=True)  # removes results of an earlier run
    results.mkdir(parents=True)
    junit = results / "ctest.xml"
    code, closing = run_ctest(
        ["ctest", "--test-dir", str(options.build), "--output-on-failure", "--no-tests=error", "-j", str(parallel_tests()),
         "--output-junit", str(junit), "--test-output-size-passed", "100000", "--test-output-size-failed", "1000000",
         "--test-output-truncation", "head", *flags_for(flags, options.all)])
    tests = list(of_ctest(junit, results)) if junit.exists() else []
    if tests:
        show(text_of(tests))
    for line in closing:
        show(line)
    if tests:
        show(f"\n{totals(tests)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
