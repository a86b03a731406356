"""Sample results to make pages from: many cases, two runs with one slow-down, a killed run, a user's own model."""
import copy
import json
import random
from pathlib import Path

MACHINE = {"cpu": "Some CPU @ 3.0 GHz", "cores": "8", "governor": "performance", "memory_bytes": "34359738368"}


def case(model, check, backend, dtype="float32", **members):
    kind = {"accuracy": "Accuracy.CompiledMatchesEager", "performance": "Performance.CompiledAgainstEager"}[check]
    name = f"torchbench/{kind}/{model}_inference_{dtype}_{backend}_cpu"
    return {"name": name, "suite": "torchbench", "model": model, "check": check, "mode": "inference", "dtype": dtype,
            "device": "cpu", "backend": backend, "preset": "mini", "batch_size": 4, "expected": "pass",
            "reproduce": f"build/bin/torchstone --gtest_filter={name}", "file": "cases/suites/torchbench.yaml",
            "line": 14, "duration_s": 2.5, "recorded": "2026-01-31T12:00:00.123Z", "finished": True, **members}


def outcome(status="pass", **members):
    return {"status": status, "reason": "", "detail": "", "phase": "measure", "metrics": {}, "notes": {}, "samples": {},
            **members}


def accuracy(rng, model, backend):
    part = 10 ** rng.uniform(-5, -0.1)
    metrics = {"capture_s": rng.uniform(0.01, 2), "compile_s": rng.uniform(0.1, 30), "load_s": rng.uniform(0.001, 0.1),
               "cosine_similarity": 1 - 1e-9 * rng.random(), "error_of_limit": part, "max_abs_error": part * 1e-3,
               "max_rel_error": part * 1e-2, "mean_abs_error": part * 1e-5, "peak_rss_bytes": rng.uniform(1e8, 2e9),
               "rmse_reference": rng.uniform(1, 2) * 1e-7, "rmse_result": rng.uniform(1, 2) * 1e-7,
               "smallest_passing_tolerance": part * 1e-4}
    notes = {"reference": "float64", "tolerance": "0.0001", "torch": "2.13.0"}
    return case(model, "accuracy", backend, outcome=outcome(phase="compare", metrics=metrics, notes=notes))


def performance(rng, model, backend, rounds, speedup=None):
    eager_s, true = 10 ** rng.uniform(-5, -1), speedup or rng.uniform(0.8, 2.5)
    eager = [eager_s * rng.lognormvariate(0, 0.02) for _ in range(rounds)]
    compiled = [x / true * rng.lognormvariate(0, 0.01) for x in eager]
    ratios = sorted(a / b for a, b in zip(eager, compiled))
    half = max(1, int(rounds ** 0.5))
    middle = rounds // 2
    metrics = {"speedup": ratios[middle], "speedup_low": ratios[middle - half], "speedup_high": ratios[middle + half],
               "eager_ms": sorted(eager)[middle] * 1e3, "compiled_ms": sorted(compiled)[middle] * 1e3,
               "rounds": rounds, "calls_per_block": 4, "eager_noise_pct": 2.0, "compiled_noise_pct": 1.0,
               "hodges_lehmann": ratios[middle], "drift_per_round": 1e-5, "dropped_rounds": 0, "outliers_eager": 3,
               "outliers_compiled": 5, "harness_overhead_pct": 0.4, "measure_s": 4.2, "capture_s": 0.4,
               "compile_s": rng.uniform(3, 40), "load_s": 0.02, "first_call_s": 0.03, "warm_latency_ms": eager_s * 1e3,
               "cache_hit": 1, "break_even_calls": 4e4, "artifact_bytes": 4.5e7, "eager_peak_bytes": 2.5e8,
               "compiled_peak_bytes": rng.uniform(1e8, 3e8), "peak_ratio": rng.uniform(0.8, 2.5),
               "eager_allocations": 300, "compiled_allocations": 40, "peak_rss_bytes": 6e8, "eager_ops": 420,
               "compiled_ops": 130, "load_average": 0.7}
    notes = {"affinity": "0-7", "frequency_mhz": "3000 before, 2990 after", "governor": "performance", "threads": "8",
             "load_average": "0.7 before, 0.9 after", "stop_reason": f"narrow enough after {rounds} rounds",
             "tolerance": "0.0001", "torch": "2.13.0"}
    samples = {"eager_s": eager, "compiled_s": compiled}
    return case(model, "performance", backend, outcome=outcome(metrics=metrics, notes=notes, samples=samples))


def report(results, started="2026-01-31T12:00:00.000Z"):
    return {"schema": "torchstone/result/1",
            "run": {"argv": ["build/bin/torchstone"], "directory": "/somewhere", "duration_s": 312.4,
                    "exit_reason": "finished", "id": started + "-1", "started": started},
            "machine": MACHINE, "build": {"torch": "2.13.0", "compiler": "12.2.0"}, "environment": {}, "policy": {},
            "summary": {}, "results": results}


def many(models=100, seed=1):
    """Returns each model in four configurations, with timings of 20 to 200 rounds. By default these are 400 cases."""
    rng = random.Random(seed)
    results = []
    for i in range(models):
        model = f"model_{i:03}"
        for backend in ("torchscript", "inductor"):
            results.append(accuracy(rng, model, backend))
            results.append(performance(rng, model, backend, rng.choice((20, 60, 100, 200))))
    return report(results)


def two_runs(seed=2):
    """Returns a baseline and a new run. In the new run, model_3 is a third slower. In both, model_1 fails."""
    rng = random.Random(seed)
    results = [performance(rng, f"model_{i}", "inductor", 120, speedup=1.2 + 0.1 * i) for i in range(8)]
    results.append(accuracy(rng, "model_1", "inductor"))
    results[-1]["outcome"].update(status="fail_accuracy", reason="3 of 10 elements differ")
    old, new = report(results), report(copy.deepcopy(results), "2026-02-01T12:00:00.000Z")
    slow = new["results"][3]["outcome"]
    slow["samples"]["compiled_s"] = [x * 1.5 for x in slow["samples"]["compiled_s"]]
    for key in ("speedup", "speedup_low", "speedup_high"):
        slow["metrics"][key] /= 1.5
    slow["metrics"]["compiled_ms"] *= 1.5
    return old, new


def own(seed=4):
    """Returns results of a user's own Python module in both modes, judged by tolerance and by rounding, and timed."""
    rng = random.Random(seed)
    results = [make(rng, "Net", "torch_compile", *rounds) for make, *rounds in 2 * ((accuracy,), (performance, 40))]
    for i, result in enumerate(results):
        result.update(suite="python", own_model=True, preset="", line=0, dtype="as_written", mode=("inference", "training")[i // 2],
                      name=result["name"].replace("torchbench/", "python/").replace("inference", ("inference", "training")[i // 2]))
        limits = {"detection_limit": 0.49} if result["check"] == "performance" else {"rounding_times": 0.54, "rounding_limit": 0.048}
        result["outcome"]["metrics"].update(limits)
    return report(results)


def write(folder, document):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(document))
    return folder


def write_killed(folder):
    """Writes the folder of a run that was killed in its third case: no results.json, and one unfinished case."""
    rng = random.Random(3)
    cases = [accuracy(rng, "model_a", "inductor"), performance(rng, "model_a", "inductor", 30),
             {**accuracy(rng, "model_b", "inductor"), "finished": False}]
    (Path(folder) / "cases").mkdir(parents=True)
    for i, result in enumerate(cases):
        (Path(folder) / "cases" / f"{i}.json").write_text(json.dumps({"schema": "torchstone/case/1", "result": result}))
    return Path(folder)
