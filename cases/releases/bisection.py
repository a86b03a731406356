"""Finds the first release in which one case behaves as in the last one."""
import dataclasses

import changes
import measurement
import runs


class Unknown(Exception):
    """Raised if a release cannot be judged. Its text names the release and the reason."""


@dataclasses.dataclass
class Found:
    """Result of a bisection: the change, and the two releases between which the case changed."""
    kind: str = ""  # "fails", "passes", "slower", "faster"; empty: nothing differs
    before: str = ""
    first: str = ""
    words: str = ""
    unknown: list = dataclasses.field(default_factory=list)  # reasons why releases between them could not be judged

    def sentence(self):
        if not self.kind:
            return self.words
        what = {"fails": "fails", "passes": "passes again", "slower": "is slower", "faster": "is faster"}[self.kind]
        return (f"{self.first} is the first release in which the case {what} ({self.before}: {self.words})"
                + (f". Not judged between them: {'; '.join(self.unknown)}" if self.unknown else ""))


class Trials:
    """Trials of releases against the first one. A timed case runs interleaved under both. Other cases run only once under the
    first release."""

    def __init__(self, releases, made, arguments, out, rounds, say):
        self.releases, self.made, self.arguments, self.out, self.rounds, self.say = releases, made, arguments, out, rounds, say
        self.reference = None  # the cell of the first release, if the case is not timed

    def judge(self, index):
        """Returns the cell of the first release and that of another one. Raises Unknown if one of them cannot be judged, and
        ValueError unless exactly one case is selected."""
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
    """Raises ValueError if a release selects several cases."""
    if len(column.names) > 1:
        raise ValueError(f"{column.release}: {several_cases(column.names)}")


def check_end(column):
    """Raises ValueError unless the first or the last release selects one case."""
    check_selection(column)
    if not column.names and not column.faults:
        raise ValueError(f"{column.release}: no case is selected")


def judged_cell(column):
    """Returns the only cell of a release. Raises Unknown if the case was skipped, is undecided or has no row."""
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
    """Returns the change between the first and the last release as Found. Skips releases that cannot be judged. Raises Unknown
    if this is the last one."""
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
