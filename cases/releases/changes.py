"""Finds changes of cases from one release to the next. All functions are pure."""
import dataclasses
import math
import statistics

TOLERANCE = 0.02  # smaller changes of a speed-up are ignored
FAMILY_ERROR = 0.01  # probability that any unchanged case of a table is reported as slower
COMPILE_BAND, LEAST_COMPILE_S = 1.15, 1.0  # wide, because a compile is timed once; PyTorch's dashboard has the same band
MEMORY_BAND = 1.01


@dataclasses.dataclass
class Change:
    """A difference of a case between two releases."""
    kind: str  # worse, missing, crashed, skipped, slower, known, changed, fixed, faster, compile, memory, new
    case: str
    before: str  # release
    after: str  # release
    words: str

    @property
    def is_worse(self):
        return self.kind in ("worse", "missing", "crashed", "skipped", "slower")


def certain_factor(comparisons):
    """Returns the factor by which 95 % intervals must be widened so that the probability of any false alarm is FAMILY_ERROR."""
    normal = statistics.NormalDist()
    return max(1.0, normal.inv_cdf(1 - FAMILY_ERROR / max(1, comparisons)) / normal.inv_cdf(0.975))


def speed_change(before, after, comparisons=1):
    """Returns 'slower' or 'faster' if the speed-up changed by more than its interval and the tolerance; otherwise ''."""
    if before is None or after is None:
        return ""
    change = after.log - before.log
    half = math.hypot(before.half, after.half) * certain_factor(comparisons)
    if change + half < math.log(1 - TOLERANCE):
        return "slower"
    return "faster" if change - half > -math.log(1 - TOLERANCE) else ""


def is_compared(before, after):
    """Returns whether the case ran under both releases."""
    return bool(before and after) and not before.skipped and not after.skipped


def verdict_change(before, after):
    """Returns the kind and the text of a change of status; (None, "") if there is none."""
    if after is None:
        return (None, "") if before is None or before.skipped else ("missing", f"{before.status} → no row")
    if before is None:
        return ("new", f"no row → {after.status}") if not after.skipped else (None, "")
    words = f"{before.status} → {after.status}"
    if after.reason and not after.fine:
        words += f": {after.reason[:200]}"
    if before.status == after.status:
        return None, ""
    if after.fine and not after.skipped:
        return ("fixed" if not before.fine else "new" if before.skipped else "changed"), words
    if after.skipped:
        return ("skipped" if before.fine and not before.skipped else "changed"), words
    if not before.fine:
        return "changed", words
    if after.known_failure:
        return "known", words
    return ("crashed" if after.status == "crash" else "worse"), words


def factor(before, after):
    """Returns the factor by which two numbers differ, in either direction; 1 if one of them is zero or missing."""
    return max(before / after, after / before) if before and after else 1.0


def number_changes(before, after, comparisons):
    """Yields (kind, text) for changes of speed-up, compile time and memory of a case that passes under both releases."""
    kind = speed_change(before.speed, after.speed, comparisons)
    if before.speed and not after.speed and not after.skipped:
        yield "missing", f"speed-up {before.speed.words()} → none"
    if kind:
        yield kind, f"speed-up {before.speed.words()} → {after.speed.words()}"
    alone = before.compiled_alone and after.compiled_alone
    if alone and factor(before.compile_s, after.compile_s) > COMPILE_BAND and abs(after.compile_s - before.compile_s) > LEAST_COMPILE_S:
        yield "compile", f"compile time {before.compile_s:.1f} → {after.compile_s:.1f} s"
    if factor(before.peak_bytes, after.peak_bytes) > MEMORY_BAND:
        yield "memory", f"peak memory {before.peak_bytes / 2**20:.1f} → {after.peak_bytes / 2**20:.1f} MiB"


def between(table, before, after):
    """Returns all changes between two releases, losses first. `table` maps case → release → cell."""
    pairs = {case: (row.get(before), row.get(after)) for case, row in table.items()}
    timed = sum(1 for old, new in pairs.values() if old and new and old.speed and new.speed)
    found = []
    for case, (old, new) in pairs.items():
        kind, words = verdict_change(old, new)
        if kind:
            found.append(Change(kind, case, before, after, words))
        if old and new and old.fine and new.fine:
            found += [Change(kind, case, before, after, words) for kind, words in number_changes(old, new, timed)]
    return sorted(found, key=lambda change: (not change.is_worse, change.case))
