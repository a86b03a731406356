#!/usr/bin/env python3
"""Runs the programs of docs/inductor_faults.md under several releases of torch, and writes what each prints.

  inductor_faults.py PYTHON ...   writes docs/inductor_faults.csv: a row for each program, a column for the torch of each Python

`status.py --write` then draws the table of the page. A cell is `wrong` if the program prints the page's wrong answer, `right` if it
prints the right one, otherwise what it prints. torchstone-releases keeps a Python of each release in RELEASE/venv/bin/python.
"""
import argparse
import csv
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE, TABLE = DOCS / "inductor_faults.md", DOCS / "inductor_faults.csv"
LIMIT_S = 600
PROGRAM = re.compile(r"^### (?P<heading>[^\n]+)\n(?:(?!^### ).)*?"
                     r"[Pp]rints `(?P<wrong>[^`]+)` with torch (?:(?!```|Right).)*Right(?:, as eager)?: `(?P<right>[^`]+)`\.\n+"
                     r"```python\n(?P<text>.*?)```", re.M | re.S)


@dataclasses.dataclass(frozen=True)
class Program:
    heading: str
    wrong: str
    right: str
    text: str

    def cell(self, printed):
        """Returns the text of the table's cell for an output: "wrong", "right", or the output itself."""
        return {self.wrong: "wrong", self.right: "right"}.get(printed, printed)


def programs(page):
    """Returns the programs of a page. Raises ValueError for a program without a sentence on its output and the right output."""
    found = [Program(**match.groupdict()) for match in PROGRAM.finditer(page)]
    if len(found) != page.count("```python"):
        raise ValueError("a program has no sentence 'Prints `X` with torch V. Right: `Y`.' before it")
    return [dataclasses.replace(program, heading=program.heading.replace("`", "")) for program in found]


def printed_by(python, text):
    """Runs a program with caches of its own. Returns what it prints, or the last line of its errors."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "program.py")
        file.write_text(text, encoding="utf-8")
        # One compile thread, thus no pool of worker processes that the program waits for at its end.
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": folder, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        try:
            run = subprocess.run([str(python), str(file)], capture_output=True, text=True, timeout=LIMIT_S, env=environment)
        except subprocess.TimeoutExpired:
            return f"ran for over {LIMIT_S} s"
    if run.returncode == 0:
        return run.stdout.strip()
    lines = run.stderr.strip().splitlines()
    return lines[-1][:120] if lines else f"exit code {run.returncode}"


def release_of(python):
    asked = subprocess.run([str(python), "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True)
    return asked.stdout.split("+")[0].strip()


def recorded(release):
    """Returns the column of a release in the table: cell by heading. Empty without such a column."""
    with open(TABLE, newline="", encoding="utf-8") as file:
        return {row["fault"]: row[release] for row in csv.DictReader(file) if release in row}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pythons", nargs="+", type=pathlib.Path, metavar="PYTHON")
    pythons = {release_of(python): python for python in parser.parse_args(arguments).pythons}
    releases = sorted(pythons, key=lambda release: [int(number) for number in re.findall(r"\d+", release)])
    rows = []
    for program in programs(PAGE.read_text(encoding="utf-8")):
        cells = [program.cell(printed_by(pythons[release], program.text)) for release in releases]
        rows.append([program.heading, *cells])
        print(*rows[-1], sep=", ", flush=True)
    with open(TABLE, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["fault", *releases], *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
