"""Comparison of two backends on the same scenarios: the differences of their runs, explained.

Outputs are compared in their order, which is the purpose of an operator. All other events of one
instant are compared without an order: the order of calls that begin together does not matter. The
times at which an operator reads its source, and at which its consumer begins to wait, are internal
and not compared; nor is the text of an error, except its class and the record that it names.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, tee, zip_longest
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from asyncwait.conformance._shrink import Search, trials
from asyncwait.conformance._verify import each_once, generated_cases
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.generation import generate
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.running import Broken, Served, adapted, lost
from asyncwait.conformance.verdict import Case, Tally
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

_UNSEEN = (Blocked, Closed, FiguresRead, SinkWaits, SourceAsked)


class Difference(Struct, frozen=True):
    """An instant in which two traces differ.

    Args:
        at: ms since the leg began.
        first, second: the events that only this trace has there, in words.
    """

    leg: int
    at: float
    first: tuple[str, ...]
    second: tuple[str, ...]


def differences(first: Trace, second: Trace) -> Iterator[Difference]:
    """Yield the differences of two traces of one scenario, in the order of time."""
    for number, (one, other) in enumerate(zip_longest(first.legs, second.legs)):
        ours, theirs = _instants(one), _instants(other)
        for at in sorted(ours.keys() | theirs.keys()):
            there, here = ours.get(at, _Instant()), theirs.get(at, _Instant())
            if there != here:
                yield Difference(number, at, there.without(here), here.without(there))


class _Instant:
    """The events of one instant of a leg in words: the outputs, and the rest."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.rest: Counter[str] = Counter()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Instant) and (self.out, self.rest) == (other.out, other.rest)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def without(self, other: "_Instant") -> tuple[str, ...]:
        """Return the events that `other` lacks; the outputs if only their order differs."""
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
    """Yield each event in words; a call is the nth call of its value, whatever its number."""
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


Kind: TypeAlias = Literal["equal", "tie", "explained", "unexplained", "in error"]
"""The outcome of a comparison of two runs of a scenario."""


class Side:
    """One of the two backends, with the judgements of its runs that differ from the other's."""

    def __init__(
        self, name: str, capabilities: frozenset[Capability], expected: ExpectedFailures
    ) -> None:
        self.name = name
        self.expected = expected
        checks = {rule: CHECKS[rule] for rule in rules_for(capabilities)}
        self.tally = Tally(checks, checks, expected)


class Pair(Struct, frozen=True):
    """Two runs of one scenario, and their first difference."""

    case: Case
    runs: tuple[Trace, Trace]
    at: Difference

    def marks(self, sides: tuple[Side, Side]) -> Iterator[Violation]:
        """Yield a mark for the timeline of each run, at their first difference."""
        for side, what in zip(sides, (self.at.first, self.at.second), strict=True):
            text = f"only {side.name}: {'; '.join(what) or 'nothing'}"
            yield Violation(text, self.at.at, self.at.leg)

    def why(self, sides: tuple[Side, Side]) -> Iterator[str]:
        """Yield the rules that the runs break."""
        for side, run in zip(sides, self.runs, strict=True):
            for rule, failure in side.tally.findings(self.case, run).items():
                found = failure.violation
                yield f"{side.name} breaks {rule} at {found.at:g} ms: {found.text}"


class Comparison:
    """All pairs of two backends, counted."""

    def __init__(self, *sides: Side) -> None:
        first, second = sides
        self.sides = (first, second)
        self.kinds: Counter[Kind] = Counter()
        self.unexplained: list[Pair] = []

    def add(self, case: Case, first: Trace | Broken, second: Trace | Broken) -> None:
        """Count a pair; keep it if it is not explained."""
        before = len(self.errors)
        for side, run in zip(self.sides, (first, second), strict=True):
            if why := lost(run):
                side.tally.fail(case, f"{side.name}: {why}")
        if isinstance(first, Broken) or isinstance(second, Broken) or len(self.errors) > before:
            self.kinds["in error"] += 1
        elif (found := next(differences(first, second), None)) is None:
            self.kinds["equal"] += 1
        else:
            kind = self._judge(case, first, second)
            self.kinds[kind] += 1
            if kind == "unexplained":
                self.unexplained.append(Pair(case, (first, second), found))

    def _judge(self, case: Case, first: Trace, second: Trace) -> Kind:
        tallies = [side.tally for side in self.sides]
        errors = len(self.errors)
        broken, known = sum(len(t.together) for t in tallies), sum(t.known for t in tallies)
        for tally, run in zip(tallies, (first, second), strict=True):
            tally.add(case, run)
        if len(self.errors) > errors:
            return "in error"
        if sum(len(tally.together) for tally in tallies) > broken:
            return "unexplained"
        return "explained" if sum(tally.known for tally in tallies) > known else "tie"

    @property
    def errors(self) -> list[str]:
        """Why runs can't be compared, or can't be judged."""
        counts = [count for side in self.sides for count in side.tally.counts.values()]
        errors = [error for side in self.sides for error in side.tally.errors]
        return [*errors, *(count.error for count in counts if count.error)]

    def departures(self) -> Iterator[tuple[int, str]]:
        """Yield known departures, each with the number of scenarios that it explains."""
        for side in self.sides:
            for rule, count in side.tally.counts.items():
                if count.known.count:
                    reasons = dict.fromkeys(each.reason for each in side.expected.get(rule, ()))
                    yield count.known.count, f"{side.name}: {rule}: {'; '.join(reasons)}"

    @property
    def exit_code(self) -> int:
        """0 if every difference is explained, 1 if one is not, 3 if errors leave it open."""
        return 1 if self.unexplained else 3 if self.errors else 0


SHRINK_SECONDS = 20.0
"""Time for shrinking an unexplained scenario."""

Progress = Callable[[int, int], None]
"""Receives the numbers of compared scenarios and of all scenarios."""


class Comparing:
    """Compares two backends."""

    def __init__(self, first: Served, second: Served) -> None:
        self.backends = (first, second)
        self.can: frozenset[Capability] = first.capabilities & second.capabilities
        """Capabilities of both backends: scenarios need no others."""
        self.sides = (_side(first), _side(second))

    def run(self, count: int, seed: int, progress: Progress = lambda *_: None) -> Comparison:
        """Compare the runs of all examples, and of `count` generated scenarios."""
        comparison = Comparison(*self.sides)
        total = count + len(EXAMPLES)
        for number, (case, first, second) in enumerate(self._runs(self._cases(count, seed))):
            progress(number, total)
            comparison.add(case, first, second)
        return comparison

    def smallest(self, pair: Pair, seconds: float = SHRINK_SECONDS) -> Pair:
        """Return the smallest pair found in time in which a backend breaks the same rule."""
        ends = time.monotonic() + seconds
        for side, backend, run in zip(self.sides, self.backends, pair.runs, strict=True):
            for rule, failure in side.tally.findings(pair.case, run).items():
                try_out = trials(backend.play, self._fitting, side.tally.findings)
                search = Search(try_out, is_over=lambda: time.monotonic() > ends)
                return self._played(search.smallest(rule, failure).case) or pair
        return pair

    def _played(self, case: Case) -> Pair | None:
        """Play a case on both backends; return the pair, or None if its runs don't differ."""
        for _, first, second in self._runs([case]):
            if isinstance(first, Trace) and isinstance(second, Trace):
                for found in differences(first, second):
                    return Pair(case, (first, second), found)
        return None

    def _runs(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Trace | Broken, Trace | Broken]]:
        asked: list[Case] = []

        def noted() -> Iterator[Scenario]:
            for case in cases:
                asked.append(case)
                yield case.scenario

        shared = zip(self.backends, tee(noted()), strict=True)
        first, second = (backend.play(scenarios) for backend, scenarios in shared)
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield asked[number], one, other

    def _cases(self, count: int, seed: int) -> Iterator[Case]:
        examples = (Case(e.name, e.scenario, self._fitting(e.scenario)) for e in EXAMPLES)
        generated = generated_cases(generate(count, seed), seed, self._fitting)
        return (case for _, case in each_once(chain(examples, generated)))

    def _fitting(self, scenario: Scenario) -> Scenario:
        return adapted(scenario, self.can)


def _side(backend: Served) -> Side:
    return Side(backend.name, backend.capabilities, backend.expected_failures)
