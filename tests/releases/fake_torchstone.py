"""A fake torchstone. It lists the cases of a plan (JSON) and writes the results that the plan contains for them.

The plan contains `cases`: name → {"status", "speedup": [value, low, high], "compile_s", "cache_hit",
"concurrent_compiles", "peak_bytes", "expected", "reason"}. Instead, a case may have a list with one entry for each of
its runs, of which the last one is used repeatedly. `end` makes the program end in another way ("crash", "usage",
"hang"). Each run is appended to the file `calls`."""
import fnmatch
import json
import os
import pathlib
import signal
import sys
import time

PLAN = pathlib.Path(sys.argv[1])
SCHEMA = "torchstone/result/2"


def kept(pattern, name):
    positive, _, negative = pattern.partition("-")
    return any(fnmatch.fnmatchcase(name, p) for p in positive.split(":")) and not any(fnmatch.fnmatchcase(name, p) for p in negative.split(":"))


def record(name, facts):
    speedup = dict(zip(("speedup", "speedup_low", "speedup_high"), facts.get("speedup", [])))
    metrics = {**speedup, **{key: facts[key] for key in ("compile_s", "cache_hit", "concurrent_compiles") if key in facts}}
    if "peak_bytes" in facts:
        metrics["compiled_peak_bytes"] = facts["peak_bytes"]
    return {"name": name, "finished": True, "expected": facts.get("expected", "pass"),
            "outcome": {"status": facts.get("status", "pass"), "reason": facts.get("reason", ""), "metrics": metrics, "notes": {}}}


def main(arguments):
    plan = json.loads(PLAN.read_text())
    flags = dict(word.lstrip("-").partition("=")[::2] for word in arguments)
    names = [name for name in plan["cases"] if kept(flags.get("gtest_filter", "*"), name)]
    if "gtest_list_tests" in flags:
        if plan.get("end") == "usage":
            print("unknown flag", file=sys.stderr)
            return 2
        for name in plan.get("listed", names):
            suite, _, test = name.rpartition(".")
            print(f"{suite}.\n  {test}")
        return 0
    if "torchstone_repeat" in flags and not any("/Performance." in name for name in names):
        print("--torchstone_repeat is only for performance, and none is selected", file=sys.stderr)
        return 2
    repeat = flags.get("torchstone_repeat") or os.environ.get("TORCHSTONE_REPEAT")
    with open(plan["calls"], "a") as calls:
        calls.write(f"{plan['release']} {' '.join(names)}{f' repeat={repeat}' if repeat else ''}\n")
    if plan.get("end") == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if plan.get("end") == "hang":
        pathlib.Path(plan["calls"] + ".hangs").touch()
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            names = names[:1]  # the other cases did not finish
    results = []
    for name in names:
        facts = plan["cases"][name]
        if isinstance(facts, list):
            facts, plan["cases"][name] = facts[0], facts[1:] or facts
        results.append(record(name, facts))
    PLAN.write_text(json.dumps(plan))
    out = pathlib.Path(flags["torchstone_out"])
    out.mkdir(parents=True)
    (out / "results.json").write_text(json.dumps({"schema": SCHEMA, "run": {"started": "2026-11-29T00:00:00Z", "exit_code": 0},
                                                  "build": {"torch": plan.get("torch", plan["release"])}, "machine": {"cpu": "a CPU"}, "results": results}))
    return 0


sys.exit(main(sys.argv[2:]))
