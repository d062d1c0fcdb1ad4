"""Two backends play the same scenarios: where their runs differ, and what that means.

What comes out is compared in its order, as it is what an operator is for. Of all else that happens
in one instant, the order is left open: calls that begin together have no order that matters. When
an operator asks its source, and when its consumer begins to wait, is how it goes about it, and is
not compared; nor is what an error says, beside its class and what it names.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, tee, zip_longest
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from asyncwait.conformance._shrink import Search
from asyncwait.conformance._verify import each_once, generated_cases
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import ExpectedFailures, moment_of, sort_out
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import Checks, Violation, judge
from asyncwait.conformance.running import Broken, Served, adapted, lost
from asyncwait.conformance.verdict import Case, Failure
from asyncwait.spec.rules import rules_for
from asyncwait.spec.scenario import (
    Blocked,
    CallCancelled,
    CallEnded,
    CallStarted,
    Capability,
    Closed,
    Event,
    FiguresRead,
    Leg,
    Scenario,
    SinkTook,
    SinkWaits,
    SourceAsked,
    Trace,
)

Moment: TypeAlias = tuple[int, float]
"""The number of a leg, from 0 on, and ms since it began."""

_UNSEEN = (Blocked, Closed, FiguresRead, SinkWaits, SourceAsked)


class Difference(Struct, frozen=True):
    """An instant in which two traces differ.

    Args:
        at: ms since it began.
        first, second: what only the one of them has there, in words.
    """

    leg: int
    at: float
    first: tuple[str, ...]
    second: tuple[str, ...]

    @property
    def moment(self) -> Moment:
        """When it is."""
        return self.leg, self.at


def differences(first: Trace, second: Trace) -> Iterator[Difference]:
    """Yield where two traces of one scenario differ, in the order of time."""
    for number, (one, other) in enumerate(zip_longest(first.legs, second.legs)):
        ours, theirs = _instants(one), _instants(other)
        for at in sorted(ours.keys() | theirs.keys()):
            there, here = ours.get(at, _Instant()), theirs.get(at, _Instant())
            if there != here:
                yield Difference(number, at, there.without(here), here.without(there))


class _Instant:
    """What happens in one instant of a leg: what comes out, and the rest, in words."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.rest: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Instant) and (self.out, self.rest) == (other.out, other.rest)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def without(self, other: "_Instant") -> tuple[str, ...]:
        """Return what is here and not in `other`; the order of what came out, if it is that."""
        rest = (self.rest - other.rest).elements()
        out = (Counter(self.out) - Counter(other.out)).elements()
        found = (*rest, *out)
        return found if found or self.out == other.out else tuple(self.out)


def _instants(leg: Leg | None) -> Mapping[float, _Instant]:
    found: dict[float, _Instant] = defaultdict(_Instant)
    if leg is None:
        return found
    for event, name in zip(leg.events, _names(leg.events), strict=True):
        if isinstance(event, SinkTook):
            found[event.at].out.append(str(event.element))
        elif not isinstance(event, _UNSEEN):
            found[event.at].rest[name] += 1
    ending = leg.ending
    words = (ending.how, ending.error, ending.record)
    found[ending.at].rest[" ".join(str(word) for word in words if word)] += 1
    return found


def _names(events: Iterable[Event]) -> Iterator[str]:
    """Yield each event in words, where a call is the nth of its value, whatever its number."""
    calls: dict[int, str] = {}
    begun: Counter[str] = Counter()
    for event in events:
        if isinstance(event, CallStarted):
            value = repr(event.value)
            calls[event.call] = f"call {begun[value]} of {value}"
            begun[value] += 1
            yield calls[event.call]
        elif isinstance(event, CallCancelled):
            yield f"{calls[event.call]} is cancelled"
        elif isinstance(event, CallEnded):
            results = ", ".join(map(repr, event.results))
            yield f"{calls[event.call]} {event.how} {results}".rstrip()
        else:
            yield " ".join([str(event.__struct_config__.tag), *_said(event)])


def _said(event: Event) -> Iterator[str]:
    for name, value in asdict(event).items():
        if name != "at" and value not in (None, ""):
            yield f"{name} {value!r}"


class Said(Struct, frozen=True):
    """What the rules say of a run.

    Args:
        known: why the run departs from the rules, as the backend is known for; empty if it is not.
        error: why the run can't be judged; empty if it can.
    """

    findings: Mapping[str, Violation] = {}
    known: tuple[str, ...] = ()
    since: Moment | None = None
    error: str = ""


class Side(Struct, frozen=True):
    """One of the two backends."""

    name: str
    checks: Checks
    expected_failures: ExpectedFailures

    @classmethod
    def of(
        cls, name: str, capabilities: frozenset[Capability], expected_failures: ExpectedFailures
    ) -> "Side":
        """Return what a backend with these capabilities is held to."""
        checks = {rule: CHECKS[rule] for rule in rules_for(capabilities)}
        return cls(name, checks, expected_failures)

    def judge(self, case: Case, trace: Trace) -> Said:
        """Judge a run of this side."""
        judged = judge(case.scenario, trace, self.checks)
        broken = dict(judged.violations())
        errors = [judged.error, *(each.error for each in judged.by_rule.values())]
        said = sort_out(case.scenario, broken, self.expected_failures, case.called)
        return Said(
            {rule: broken[rule] for rule in broken if rule in said.findings},
            tuple(dict.fromkeys(why for reasons in said.known.values() for why in reasons)),
            min((moment_of(broken[rule]) for rule in said.known), default=None),
            next(filter(None, errors), ""),
        )


Kind: TypeAlias = Literal["equal", "tie", "explained", "unexplained", "in error"]
"""What two runs of a scenario are; the worst of their differences."""


class Pair(Struct, frozen=True):
    """Two runs of one scenario."""

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
        both = zip(names, there, strict=True)
        texts = (f"only {name}: {'; '.join(what) or 'nothing'}" for name, what in both)
        first, second = (Violation(text, self.at.at, self.at.leg) for text in texts)
        return first, second


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
    judged = [side.judge(case, trace) for side, trace in zip(sides, (first, second), strict=True)]
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


SHRINK_SECONDS = 20.0
"""How long a smaller scenario is looked for that is unexplained, too."""

Progress = Callable[[int, int], None]
"""Told how many scenarios of how many are compared."""


class Comparing:
    """Compares two backends."""

    def __init__(self, first: Served, second: Served) -> None:
        self.backends = (first, second)
        self.can: frozenset[Capability] = first.capabilities & second.capabilities
        """What both can do: scenarios ask for nothing else."""
        self.sides = (_side(first), _side(second))

    def run(self, count: int, seed: int, progress: Progress = lambda *_: None) -> Comparison:
        """Compare the runs of all examples, and of so many generated scenarios."""
        comparison = Comparison((self.sides[0].name, self.sides[1].name))
        total = count + len(EXAMPLES)
        for number, (case, pair) in enumerate(self._pairs(self._cases(count, seed))):
            progress(number, total)
            if isinstance(pair, Pair):
                comparison.add(pair)
            else:
                comparison.fail(case, pair)
        return comparison

    def smallest(self, pair: Pair, seconds: float = SHRINK_SECONDS) -> Pair:
        """Return the smallest pair that is unexplained, as `pair` is, and that is found in time."""
        ends = time.monotonic() + seconds
        found = {pair.case.id: pair}

        def try_out(candidates: Sequence[Scenario]) -> Iterator[Mapping[str, Failure]]:
            cases = (Case("shrunk", c, self._fitting(c), generated=True) for c in candidates)
            for case, tried in self._pairs(cases):
                if isinstance(tried, Pair) and tried.kind == "unexplained":
                    found[case.id] = tried
                    yield {"": _failure(tried, self)}
                else:
                    yield {}

        search = Search(try_out, is_over=lambda: time.monotonic() > ends)
        return found[search.smallest("", _failure(pair, self)).case.id]

    def _pairs(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Pair | str]]:
        asked: list[Case] = []

        def noted() -> Iterator[Scenario]:
            for case in cases:
                asked.append(case)
                yield case.scenario

        shared = zip(self.backends, tee(noted()), strict=True)
        first, second = (backend.play(scenarios) for backend, scenarios in shared)
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            case = asked[number]
            broken = [
                f"{side.name}: {why}"
                for side, run in zip(self.sides, (one, other), strict=True)
                if (why := lost(run))
            ]
            if broken or isinstance(one, Broken) or isinstance(other, Broken):
                yield case, "; ".join(broken)
            else:
                yield case, compare_runs(case, one, other, self.sides)

    def _cases(self, count: int, seed: int) -> Iterator[Case]:
        examples = (Case(e.name, e.scenario, self._fitting(e.scenario)) for e in EXAMPLES)
        generated = generated_cases(generate(count, seed), seed, self._fitting)
        return (case for _, case in each_once(chain(examples, generated)))

    def _fitting(self, scenario: Scenario) -> Scenario:
        return adapted(scenario, self.can)


def _side(backend: Served) -> Side:
    return Side.of(backend.name, backend.capabilities, backend.expected_failures)


def _failure(pair: Pair, comparing: Comparing) -> Failure:
    names = (comparing.sides[0].name, comparing.sides[1].name)
    return Failure(pair.case, pair.first, pair.marks(names)[0])
