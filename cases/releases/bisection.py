"""Finds the first release in which one case behaves as in the last one."""
import dataclasses

import changes
import measurement
import runs


class Unknown(Exception):
    """A release that cannot be judged, and why."""


@dataclasses.dataclass
class Found:
    """The result: the releases between which the case changed, and the change."""
    kind: str = ""  # "fails", "passes", "slower", "faster"; empty: nothing differs
    before: str = ""
    first: str = ""
    words: str = ""
    unknown: list = dataclasses.field(default_factory=list)  # why releases between them could not be judged

    def sentence(self):
        if not self.kind:
            return self.words
        what = {"fails": "fails", "passes": "passes again", "slower": "is slower", "faster": "is faster"}[self.kind]
        return (f"{self.first} is the first release in which the case {what} ({self.before}: {self.words})"
                + (f". Not judged between them: {'; '.join(self.unknown)}" if self.unknown else ""))


class Trials:
    """Judges releases against the first one. A timed case is run under both, interleaved. Other cases run once under the first."""

    def __init__(self, releases, made, arguments, out, rounds, say):
        self.releases, self.made, self.arguments, self.out, self.rounds, self.say = releases, made, arguments, out, rounds, say
        self.reference = None  # the cell of the first release, if the case is not timed

    def judge(self, index):
        """Returns the cell of the first release and that of another one. Throws Unknown, and ValueError unless one case is selected."""
        other = self.releases[index]
        is_end = other is self.releases[-1]
        self.say(f"trying {other.name}")
        columns = measurement.open_columns([other] if self.reference else [self.releases[0], other], self.made, self.arguments,
                                           self.out / f"trial_{other.name}", check_end if is_end else check_selection)
        names = set().union(*(column.names for column in columns))
        if len(names) > 1:
            raise ValueError(several_cases(names))
        measurement.measure(columns, self.rounds, self.say)
        found = [judged_cell(column) for column in columns]
        if not any(map(runs.is_timed, names)):
            self.reference = self.reference or found[0]
        return self.reference or found[0], found[-1]


def several_cases(names):
    return f"{len(names)} cases are selected (expected one: --gtest_filter=NAME), such as {' and '.join(sorted(names)[:2])}"


def check_selection(column):
    """Throws ValueError if a release selects several cases."""
    if len(column.names) > 1:
        raise ValueError(f"{column.release}: {several_cases(column.names)}")


def check_end(column):
    """Throws ValueError unless the first or the last release selects one case."""
    check_selection(column)
    if not column.names and not column.faults:
        raise ValueError(f"{column.release}: no case is selected")


def judged_cell(column):
    """Returns the only cell of a release. Throws Unknown."""
    for row in measurement.table_of([column]).values():
        cell = row.get(column.release)
        if cell and not cell.skipped and cell.status != "undecided":
            return cell
        if cell:
            raise Unknown(f"{column.release}: {cell.status}")
    raise Unknown(f"{column.release}: {'; '.join(column.faults) or 'no row'}")


def kind_of(first, other):
    """Returns how the case differs from the first release; "same" if it does not."""
    if first.fine != other.fine:
        return "passes" if other.fine else "fails"
    if first.fine:
        return changes.speed_change(first.speed, other.speed) or "same"
    return "same"


def words_of(first, other, kind):
    if kind in ("slower", "faster"):
        return f"{first.speed.words()} → {other.speed.words()}"
    return f"{first.status} → {other.status}" + (f": {other.reason[:300]}" if other.reason and kind == "fails" else "")


def bisect(trials):
    """Finds the change. Throws Unknown if the last release cannot be judged. Skips others that cannot be judged."""
    left, right = 0, len(trials.releases) - 1
    first, last = trials.judge(right)
    kind = kind_of(first, last)
    if kind == "same":
        words = f"{first.speed.words()} → {last.speed.words()}" if first.speed and last.speed else last.status
        return Found(words=f"{trials.releases[0].name} and {trials.releases[-1].name} do not differ: {words}")
    words, unknown = words_of(first, last, kind), {}
    while candidates := [i for i in range(left + 1, right) if i not in unknown]:
        middle = candidates[len(candidates) // 2]
        try:
            reference, other = trials.judge(middle)
        except Unknown as error:
            unknown[middle] = str(error)
            continue
        if kind_of(reference, other) == kind:
            right, words = middle, words_of(reference, other, kind)
        else:
            left = middle
    between = [why for i, why in sorted(unknown.items()) if left < i < right]
    return Found(kind, trials.releases[left].name, trials.releases[right].name, words, between)
