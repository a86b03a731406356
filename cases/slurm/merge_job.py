"""The job after all chunks: merges their results, and adds a row for each case without a result."""
import subprocess

import chunk_job

MERGE_LIMIT_S = 3600
FIELDS = ("suite", "model", "check", "mode", "dtype", "device", "backend", "preset", "dynamic")


def recorded_cases(attempts):
    """Returns the names of cases in any record of these attempts. Includes planned cases, because the merge gives them a row
    too."""
    names = set()
    for attempt in attempts:
        for file in (attempt / "cases").glob("*.json"):
            record = chunk_job.read_json(file)
            if record:
                names.add(record.get("result", {}).get("name"))
        for file in (attempt / "runs").glob("*.json"):
            names.update(result.get("name") for result in (chunk_job.read_json(file) or {}).get("results", []))
    return names


def lost_row(case, number, codes):
    """Returns the result of a case without any record: a failure of the infrastructure."""
    how = f"exit code {codes[-1]} in the last of {len(codes)} attempts" if codes else "no attempt ended"
    row = {key: case[key] for key in FIELDS if isinstance(case.get(key), str)}
    return {**row, "name": case["name"],
            "outcome": {"status": "fail_to_run", "reason": f"chunk {number} left no result: {how}",
                        "infrastructure_fault": f"chunk {number} left no result"}}


def lost_rows(out, plan):
    """Returns a result for each case that no chunk recorded."""
    cases = {case["name"]: case for case in chunk_job.read_json(out / "cases.json")}
    rows = []
    for number, chunk in enumerate(plan["chunks"]):
        folder = chunk_job.folder_of(out, number)
        recorded = recorded_cases(chunk_job.attempts_of(folder))
        codes = chunk_job.read_json(folder / "codes.json") or []
        rows += [lost_row(cases[name], number, codes) for name in chunk["cases"] if name not in recorded]
    return rows


def main(out):
    job, plan = chunk_job.read_json(out / "job.json"), chunk_job.read_json(out / "plan.json")
    if job is None or plan is None:
        print(f"torchstone-slurm: {out} cannot be read on this node")
        return chunk_job.INFRASTRUCTURE
    inputs = [str(attempt) for number in range(len(plan["chunks"])) for attempt in chunk_job.attempts_of(chunk_job.folder_of(out, number))]
    if lost := lost_rows(out, plan):
        file = out / "lost.json"
        chunk_job.write_json(file, {"schema": "torchstone/result/2", "run": {}, "results": lost})
        inputs.append(str(file))
        print(f"torchstone-slurm: {len(lost)} cases left no result", flush=True)
    return subprocess.run([job["report"], "merge", "--exit-code", *inputs, "-o", str(out / "merged")],
                          stdin=subprocess.DEVNULL, timeout=MERGE_LIMIT_S).returncode
