"""read_like_upstream.py OUT: reads OUT/csv/*.csv with the columns and types that check_accuracy.py, check_graph_breaks.py
and check_perf_csv.py of PyTorch's CI ask for, and OUT/results.csv. Exits 1 with the first thing that does not fit."""
import csv
import pathlib
import sys

COUNTERS = ["calls_captured", "unique_graphs", "fallbacks_to_eager", "graph_breaks", "unique_graph_breaks",
            "autograd_captures", "autograd_compiles", "cudagraph_skips"]
COLUMNS = {
    "accuracy": ["accuracy", *COUNTERS, "compilation_latency"],
    "performance": ["speedup", "abs_latency", "compilation_latency", "compression_ratio", "eager_peak_mem",
                    "dynamo_peak_mem", *COUNTERS],
    "tolerance": ["max", "mean", "std"],
}


def read_table(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    for row in rows[1:]:
        assert len(row) == len(rows[0]), f"{path.name}: {len(row)} cells under {len(rows[0])} columns"
    return rows[0], [dict(zip(rows[0], row)) for row in rows[1:]]


def check_upstream(path):
    check = path.stem.rsplit("_", 1)[1]
    header, rows = read_table(path)
    assert header == ["dev", "name", "batch_size", *COLUMNS[check]], f"{path.name}: columns {header}"
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names), f"{path.name}: a name comes twice"
    for row in rows:
        int(row["batch_size"])
        for key in header[3:]:
            if row[key] == "" and key != "accuracy":
                continue  # NaN to pandas: what was not counted or measured
            if key in COUNTERS:
                int(row[key])
            elif key != "accuracy":
                float(row[key])
        if check == "accuracy":
            assert not row["accuracy"].replace(".", "").isdigit(), f"{path.name}: {row}"
        shown = {"accuracy": "accuracy", "performance": "speedup", "tolerance": "max"}[check]
        print("tolerance" if shown == "max" else shown, row["name"], row[shown])


def main(out):
    sys.stdout.reconfigure(encoding="utf-8")
    files = sorted((pathlib.Path(out) / "csv").glob("*.csv"))
    assert files, "no CSV files"
    for path in files:
        check_upstream(path)
    header, rows = read_table(pathlib.Path(out) / "results.csv")
    for row in rows:
        for key in header[header.index("duration_s"):header.index("reproduce")]:
            float(row[key] or "nan")
        print("wide", row["model"], row["status"])


if __name__ == "__main__":
    main(*sys.argv[1:])
