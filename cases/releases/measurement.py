"""Runs the same cases under all releases. Timed cases of different releases are interleaved, so that drift of the machine is
not mistaken for a difference between releases."""
import dataclasses
import time

import cells
import environments
import runs


@dataclasses.dataclass
class Column:
    """One release: its program, cases and records, and faults that affect all cases."""
    release: str
    program: runs.Program | None = None
    faults: list = dataclasses.field(default_factory=list)
    names: list = dataclasses.field(default_factory=list)  # names of the selected cases
    records: dict = dataclasses.field(default_factory=dict)  # case → one record per round
    document: dict = dataclasses.field(default_factory=dict)  # results of the last run, for the facts of machine and build
    made_s: float = 0  # time for environment and build
    run_s: float = 0

    def run(self, pattern, name):
        started = time.monotonic()
        folder = f"{self.release}/{name}"
        try:
            self.add(self.program.run(pattern, folder))
        except KeyboardInterrupt:
            self.add(self.program.document(self.program.out / folder))
            raise
        finally:
            self.run_s += time.monotonic() - started

    def add(self, document):
        """Adds the records of a run's results, except those of interrupted cases."""
        self.document = document or self.document
        for record in document.get("results", []):
            if cells.status_of(record) != "interrupted":
                self.records.setdefault(record["name"], []).append(record)


def open_columns(releases, made, arguments, out, check):
    """Makes the environment of each release and lists its cases. Returns the columns in the order of the releases. Calls
    `check` for each column as soon as it is ready, because an exception then avoids the installation of further releases.
    Starts with existing programs for the same reason. Raises runs.UsageError."""
    columns = [Column(wanted.name) for wanted in releases]
    for wanted, column in sorted(zip(releases, columns), key=lambda pair: not made.is_ready(pair[0])):
        started = time.monotonic()
        try:
            column.program = opened_program(wanted, made, arguments, out)
        except environments.Unusable as error:
            column.faults.append(str(error))
            continue
        finally:
            column.made_s += time.monotonic() - started
        column.faults = column.program.faults
        column.names = column.program.cases()
        check(column)
    return columns


def opened_program(wanted, made, arguments, out):
    """Returns the program of a release. Raises environments.Unusable, also if the program was built with another release.
    preflight.py has already checked the programs that the user names."""
    path = made.program(wanted)
    difference = "" if wanted.program else environments.difference_of(path, wanted)
    if difference:
        raise environments.Unusable(difference)
    return runs.Program(path, arguments, out)


def measure(columns, rounds, say):
    """Runs all untimed cases of each release in one process, then each timed case under one release after the other. Every second
    round reverses the order of releases. Adds results to the columns after each run, so that an interrupted measurement keeps
    them."""
    usable = [column for column in columns if column.program]
    for column in usable:
        count = sum(not runs.is_timed(name) for name in column.names)
        if count:
            say(f"{column.release}: {count} untimed {'case' if count == 1 else 'cases'}")
            column.run(runs.without_timed(column.program.filter), "untimed")
    timed = list(dict.fromkeys(name for column in usable for name in column.names if runs.is_timed(name)))
    for turn in range(rounds):
        for number, name in enumerate(timed):
            say(f"round {turn + 1} of {rounds}: {name}")
            for column in usable if turn % 2 == 0 else reversed(usable):
                if name in column.names:
                    column.run(runs.exactly(name), f"timed/{number}_{turn}")


def table_of(columns):
    """Returns case → release → cell. A selected case without a record has no cell."""
    cases = dict.fromkeys(name for column in columns for name in [*column.names, *column.records])
    return {case: {column.release: cells.cell_of(column.records[case]) for column in columns if case in column.records}
            for case in cases}
