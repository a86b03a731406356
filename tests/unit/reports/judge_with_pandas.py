"""judge_with_pandas.py accuracy|graph_breaks|memory ACTUAL EXPECTED, or speedup FILE THRESHOLD: reads tables with
pandas the way check_accuracy.py, check_graph_breaks.py, check_memory_compression_ratio.py and check_perf_csv.py of
PyTorch's CI do (the one row of a name by .item(), types as pandas infers them) and prints "model verdict" lines.
Exits 77 when pandas is not installed."""
import sys

try:
    import pandas
except ImportError:
    sys.exit(77)


def cell(table, model, column):
    try:
        value = table.loc[table["name"] == model, column].item()
        return None if pandas.isna(value) else value
    except (KeyError, ValueError):
        return None


def accuracy(actual, expected):
    for model in actual["name"]:
        found, wanted = cell(actual, model, "accuracy"), cell(expected, model, "accuracy")
        if found is None or wanted is None:
            yield model, "MISSING_ACCURACY" if found is None else "MISSING_EXPECTED"
        elif found == wanted:
            yield model, "PASS" if found == "pass" else "XFAIL"
        else:
            yield model, "IMPROVED" if found == "pass" else "FAIL"


def graph_breaks(actual, expected):
    lower_is_better = {"graph_breaks": True, "calls_captured": False, "unique_graphs": False, "fallbacks_to_eager": True}
    for model in actual["name"]:
        if cell(expected, model, "graph_breaks") is None:
            yield model, "MISSING"
        elif int(cell(actual, model, "unique_graphs") or 0) == 0:
            yield model, "EAGER_FAILED"
        else:
            pairs = [(cell(actual, model, c), cell(expected, model, c), lower) for c, lower in lower_is_better.items()]
            pairs = [(a, e, lower) for a, e, lower in pairs if a is not None and e is not None and a != e]
            worse = any((a > e) == lower for a, e, lower in pairs)
            yield model, "PASS" if not pairs else "FAIL" if worse else "IMPROVED"


def memory(actual, expected):
    for model in actual["name"]:
        found, wanted = cell(actual, model, "compression_ratio"), cell(expected, model, "compression_ratio")
        if wanted is None:
            yield model, "MISSING_EXPECTED"
        else:
            yield model, "PASS" if float(found) >= 0.95 * float(wanted) else "FAIL"


def speedup(table, threshold):
    for _, row in table.iterrows():
        assert not pandas.isna(row["speedup"]), row["name"]
        for column in ("abs_latency", "compilation_latency", "compression_ratio", "eager_peak_mem", "dynamo_peak_mem"):
            float(row[column])
        yield row["name"], "FAIL" if float(row["speedup"]) < threshold else "PASS"


def main(kind, first, second):
    sys.stdout.reconfigure(encoding="utf-8")
    if kind == "speedup":
        verdicts = speedup(pandas.read_csv(first), float(second))
    else:
        rules = {"accuracy": accuracy, "graph_breaks": graph_breaks, "memory": memory}
        verdicts = rules[kind](pandas.read_csv(first), pandas.read_csv(second))
    for model, verdict in verdicts:
        print(model, verdict)


if __name__ == "__main__":
    main(*sys.argv[1:])
