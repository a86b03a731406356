"""Defines Cell, the result of one case under one release: the verdict, and numbers that combine all rounds."""
import dataclasses
import math
import statistics

# Statuses of cases that did not run, and all statuses that do not fail (reports/record/verdict.cpp).
SKIPPED = {"pass_due_to_skip", "unsupported"}
FINE = SKIPPED | {"pass", "undecided"}


@dataclasses.dataclass
class Speed:
    """Natural logarithm of a speed-up, and the half-width of its interval on the logarithmic scale."""
    log: float
    half: float

    @property
    def value(self):
        return math.exp(self.log)

    def bounds(self):
        return math.exp(self.log - self.half), math.exp(self.log + self.half)

    def words(self):
        return f"{self.value:.2f} [{self.bounds()[0]:.2f} {self.bounds()[1]:.2f}]"


@dataclasses.dataclass
class Cell:
    """A case under one release."""
    row: dict  # the record that represents the case in the merged results
    status: str = ""
    expected: str = "pass"
    reason: str = ""
    speed: Speed | None = None
    compile_s: float | None = None  # seconds of a compile in these runs; None if all programs came from the cache
    compiled_alone: bool = False
    peak_bytes: float | None = None
    place: int | None = None  # index in the merged results

    @property
    def fine(self):
        return self.status in FINE

    @property
    def skipped(self):
        return self.status in SKIPPED

    @property
    def known_failure(self):
        return not self.fine and self.status == self.expected


def metric(row, key):
    value = row.get("outcome", {}).get("metrics", {}).get(key)
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def status_of(row):
    return row["outcome"]["status"] if row.get("finished", True) else "interrupted"


def speed_of(rows):
    """Returns the geometric mean of the rounds' speed-ups; None if no round has one with an interval. Its interval is that of a
    mean of independent rounds, but at least as wide as the range of the rounds."""
    rounds = []
    for row in rows:
        value, low, high = (metric(row, key) for key in ("speedup", "speedup_low", "speedup_high"))
        if value and low and high and min(value, low) > 0 and high >= low:
            rounds.append((math.log(value), math.log(high / low) / 2))
    if not rounds:
        return None
    logs = [log for log, _ in rounds]
    own = math.sqrt(sum(half * half for _, half in rounds)) / len(rounds)
    return Speed(statistics.fmean(logs), max(own, (max(logs) - min(logs)) / 2))


def cell_of(rows):
    """Returns a cell for the records of all rounds. The first failure represents the case, or otherwise the round with the
    median speed-up."""
    failed = [row for row in rows if status_of(row) not in FINE]
    timed = sorted((row for row in rows if metric(row, "speedup")), key=lambda row: metric(row, "speedup"))
    row = failed[0] if failed else timed[(len(timed) - 1) // 2] if timed else rows[0]
    fresh = next((r for r in rows if metric(r, "compile_s") is not None and not metric(r, "cache_hit")), None)
    return Cell(row, status_of(row), row.get("expected", "pass"), row["outcome"].get("reason", ""), None if failed else speed_of(rows),
                compile_s=metric(fresh, "compile_s") if fresh else None,
                compiled_alone=bool(fresh) and not metric(fresh, "concurrent_compiles"),
                peak_bytes=metric(row, "compiled_peak_bytes"))
