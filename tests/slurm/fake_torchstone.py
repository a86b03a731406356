#!/usr/bin/env python3
"""A fake torchstone. It lists cases, sleeps for each selected case, and writes the records of a results folder.

Environment: FAKE_CASES is the number of cases, and FAKE_SECONDS the duration of each. A case whose name contains
`crashes` crashes (exit code 4). A case whose name contains `wrong` is red (exit code 1). If FAKE_DIES names a selected
case, the program exits with code 4 before it writes a record.
"""
import json
import os
import pathlib
import sys
import time

ARGUMENTS = sys.argv[1:]
SECONDS = float(os.environ.get("FAKE_SECONDS", "0.1"))
CODES = {"crash": 4, "fail_accuracy": 1, "pass": 0}


def name_of(number):
    suffix = {3: "_crashes"}.get(number, "_wrong" if number == 5 and os.environ.get("FAKE_WRONG") else "")
    check, claim = ("Performance", "CompiledAgainstEager") if is_timed(number) else ("Accuracy", "CompiledMatchesEager")
    return f"suite/{check}.{claim}/model{number}{suffix}_inference"


def is_timed(number):
    return number % 10 == 9


def all_cases():
    return [{"name": name_of(i), "suite": "suite", "model": f"model{i}", "check": "performance" if is_timed(i) else "accuracy",
             "timed": is_timed(i), "device": "cpu"} for i in range(int(os.environ.get("FAKE_CASES", "20")))]


def value_of(flag, otherwise=""):
    for word in ARGUMENTS:
        if word.startswith(flag + "="):
            return word.partition("=")[2]
    return otherwise


def selected_cases():
    flagfile = value_of("--gtest_flagfile")
    words = pathlib.Path(flagfile).read_text().split() if flagfile else [f"--gtest_filter={value_of('--gtest_filter', '*')}"]
    names = words[0].partition("=")[2].split(":")
    return [case for case in all_cases() if names == ["*"] or case["name"] in names]


def status_of(name):
    return "crash" if "crashes" in name else "fail_accuracy" if "wrong" in name else "pass"


def now():
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime())}.{int(time.time() % 1 * 1000):03}Z"


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(value))
    temporary.rename(path)


def result_of(case, run, sequence, status, seconds):
    return {**{key: value for key, value in case.items() if key != "timed"}, "recorded": now(), "duration_s": seconds,
            "expected": "pass", "finished": sequence > 0, "origin": {"folder": run, "number": 1, "run": run, "sequence": sequence},
            "outcome": {"status": status, "reason": "", "metrics": {}, "notes": {}, "samples": {}}}


def main():
    if value_of("--torchstone_list") == "cases":
        print(json.dumps(all_cases()))
        return 0
    cases, out = selected_cases(), pathlib.Path(value_of("--torchstone_out"))
    if any(case["name"] == os.environ.get("FAKE_DIES") for case in cases):
        return 4
    run = f"{now()}-{os.getpid()}"
    facts = {"schema": "torchstone/result/2", "run": {"id": run, "started": now(), "exit_reason": "finished"},
             "machine": {"cpu": os.environ.get("SLURMD_NODENAME", "here")}}
    write(out / "runs" / "1.json", {**facts, "results": [result_of(case, run, 0, "fail_to_run", 0) for case in cases]})
    results = []
    for number, case in enumerate(cases, start=1):
        time.sleep(SECONDS)
        results.append(result_of(case, run, number, status_of(case["name"]), SECONDS))
        write(out / "cases" / (case["name"].replace("/", "+") + ".json"), {"schema": "torchstone/case/2", "result": results[-1]})
    write(out / "results.json", {**facts, "results": results})
    codes = [CODES[result["outcome"]["status"]] for result in results]
    return 1 if 1 in codes else 4 if 4 in codes else 0


if __name__ == "__main__":
    sys.exit(main())
