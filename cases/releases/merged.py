"""Merges all releases into one document in the format of results.json (docs/results_json.md). The release becomes part of each
case's name."""
import copy
import json
import os


def name_of(case, release):
    return f"{case}_torch-{release}"


def record_of(cell, case, release, rounds):
    record = copy.deepcopy(cell.row)
    record["name"] = name_of(case, release)
    notes = record["outcome"].setdefault("notes", {})
    notes["torch"] = release
    if len(rounds) > 1:
        notes["rounds"] = f"{len(rounds)} interleaved with those of other releases"
    if cell.speed:
        notes["speedup_of_all_rounds"] = cell.speed.words()
    return record


def document_of(columns, table):
    """Returns the document. Stores in each cell its index in the document's results."""
    documents = [column.document for column in columns if column.document]
    merged = {key: value for key, value in (documents[-1] if documents else {}).items() if key not in ("results", "summary")}
    merged["schema"] = "torchstone/result/2"
    run = {key: value for key, value in merged.get("run", {}).items() if key in ("started", "id", "directory")}
    # is_complete() of reports/record/verdict.h accepts this prefix.
    run["exit_reason"] = "releases of torch: " + ", ".join(column.release for column in columns)
    merged["run"] = run
    merged["build"] = {**merged.get("build", {}), "torch": " | ".join(column.release for column in columns)}
    merged["results"] = []
    for case, row in table.items():
        for column in columns:
            if cell := row.get(column.release):
                cell.place = len(merged["results"])
                merged["results"].append(record_of(cell, case, column.release, column.records[case]))
    return merged


def write(path, text):
    """Writes a file atomically: an existing file is complete."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def write_document(path, document):
    write(path, json.dumps(document, indent=1) + "\n")
