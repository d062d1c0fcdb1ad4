"""Says of each difference between two runs what it is: a tie, a known departure, or neither."""

from collections import Counter
from typing import Literal, TypeAlias

from msgspec import Struct

from asyncwait.conformance.comparing._align import Difference, differences
from asyncwait.conformance.comparing._sides import Said, Side
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.verdict import Case
from asyncwait.spec.scenario import Trace

Kind: TypeAlias = Literal["equal", "tie", "explained", "unexplained", "in error"]
"""What two runs of a scenario are; the worst of their differences."""


class Pair(Struct, frozen=True):
    """Two runs of one scenario.

    Args:
        second: the run of the other one.
    """

    case: Case
    first: Trace
    second: Trace
    kind: Kind
    why: tuple[str, ...] = ()
    ties: int = 0
    departures: int = 0
    at: Difference | None = None

    def marks(self, names: tuple[str, str]) -> tuple[Violation, Violation]:
        """Return a mark for the timeline of each run, where the two first differ."""
        assert self.at is not None
        there = (self.at.first, self.at.second)
        texts = (f"only {name}: {_listed(what)}" for name, what in zip(names, there, strict=True))
        first, second = (Violation(text, self.at.at, self.at.leg) for text in texts)
        return first, second


def _listed(events: tuple[str, ...]) -> str:
    return "; ".join(events) or "nothing"


def compare_runs(case: Case, first: Trace, second: Trace, sides: tuple[Side, Side]) -> Pair:
    """Compare two runs of one scenario.

    Args:
        case: what was played.
        first: the run of the first side.
        second: the run of the second one.
        sides: the two backends.
    """
    found = list(differences(first, second))
    if not found:
        return Pair(case, first, second, "equal")
    judged = [
        side.judge(case.scenario, trace) for side, trace in zip(sides, (first, second), strict=True)
    ]
    kind, why = _explained(sides, judged)
    since = min((said.since for said in judged if said.since is not None), default=None)
    ties = sum(since is None or each.moment < since for each in found)
    if kind == "explained" and ties == len(found):
        kind, why = "tie", ()
    return Pair(case, first, second, kind, why, ties, len(found) - ties, found[0])


def _explained(sides: tuple[Side, Side], judged: list[Said]) -> tuple[Kind, tuple[str, ...]]:
    pairs = list(zip(sides, judged, strict=True))
    if errors := tuple(f"{side.name}: {said.error}" for side, said in pairs if said.error):
        return "in error", errors
    wrong = [
        f"{side.name} breaks {rule} at {violation.at:g} ms: {violation.text}"
        for side, said in pairs
        for rule, violation in said.findings.items()
    ]
    if wrong:
        return "unexplained", tuple(wrong)
    known = dict.fromkeys(why for said in judged for why in said.known)
    return ("explained", tuple(known)) if known else ("tie", ())


class Comparison:
    """All pairs of two backends, counted."""

    def __init__(self, names: tuple[str, str]) -> None:
        self.names = names
        self.kinds: Counter[Kind] = Counter()
        self.ties = self.departures = 0
        """Instants in which runs differ."""
        self.why: Counter[str] = Counter()
        """Scenarios that a known departure explains, or may explain, where several are known."""
        self.errors: list[str] = []
        self.unexplained: list[Pair] = []

    def add(self, pair: Pair) -> None:
        """Count a pair; keep it if it is not explained."""
        self.kinds[pair.kind] += 1
        if pair.kind == "unexplained":
            self.unexplained.append(pair)
        elif pair.kind == "in error":
            self.fail(pair.case, "; ".join(pair.why))
        else:
            self.ties += pair.ties
            self.departures += pair.departures
            self.why.update(pair.why)

    def fail(self, case: Case, why: str) -> None:
        """Note that there is nothing to compare."""
        self.errors.append(f"{case.label}: {why}")

    @property
    def exit_code(self) -> int:
        """0 if every difference is explained, 1 if one is not, 3 if that can't be said."""
        return 1 if self.unexplained else 3 if self.errors else 0
