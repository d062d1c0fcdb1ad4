"""Subcommand `compare`: two backends on the same scenarios, and the differences of their runs.

Outputs are compared in their order, which is the purpose of an operator. All other events of one
instant are compared without an order: the order of calls that begin together does not matter. The
times at which an operator reads its source, and at which its consumer begins to wait, are internal
and not compared; nor is the text of an error, except its class and the record that it names.
"""

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import tee, zip_longest
from pathlib import Path
from typing import Literal, TypeAlias

import click
from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console

from asyncwait.conformance._commands._group import (
    asyncwait,
    console,
    jobs_option,
    patience_option,
    told_by_quarters,
    usage_errors,
)
from asyncwait.conformance._commands._verify import MOST_GENERATED
from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.evidence import describe_scenario
from asyncwait.conformance.expected_failures import ExpectedFailures
from asyncwait.conformance.generation import QUICK
from asyncwait.conformance.judging import Violation
from asyncwait.conformance.report import excerpt, say
from asyncwait.conformance.running import Broken, Served, adapted, lost, open_backend
from asyncwait.conformance.timeline import draw
from asyncwait.conformance.verdict import Case, Tally
from asyncwait.conformance.verifying import SHRINK_SECONDS, Cases, Coverage, Search, keep, trials
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
from asyncwait.spec.texts import counted, name_of

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


def difference(first: Trace, second: Trace) -> Difference | None:
    """Return the first instant in which two traces of one scenario differ; None if none does."""
    for number, (one, other) in enumerate(zip_longest(first.legs, second.legs)):
        ours, theirs = _instants(one), _instants(other)
        for at in sorted(ours.keys() | theirs.keys()):
            there, here = ours.get(at, _Instant()), theirs.get(at, _Instant())
            if there != here:
                return Difference(number, at, there.without(here), here.without(there))
    return None


@dataclass
class _Instant:
    """The events of one instant of a leg in words: the outputs, and the rest."""

    out: list[str] = field(default_factory=list)
    rest: Counter[str] = field(default_factory=Counter)

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
            told = {k: v for k, v in asdict(event).items() if k != "at" and v not in (None, "")}
            words = (f"{name} {value!r}" for name, value in told.items())
            yield " ".join([str(event.__struct_config__.tag), *words])


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
        elif (found := difference(first, second)) is None:
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


def compare(
    backends: tuple[Served, Served], plan: Coverage, progress: Callable[[int, int], None]
) -> Comparison:
    """Compare the runs of two backends in scenarios that both can play.

    If a difference is unexplained, the first such pair is the smallest found in time.
    """
    first, second = backends
    can = first.capabilities & second.capabilities
    comparison = Comparison(
        *(Side(each.name, each.capabilities, each.expected_failures) for each in backends)
    )
    cases = Cases(plan, can)
    for number, (one, other) in enumerate(_runs(backends, cases.scenarios())):
        progress(number, cases.count)
        comparison.add(cases.asked[number], one, other)
    if comparison.unexplained and plan.shrinks:
        pair = comparison.unexplained[0]
        comparison.unexplained[0] = _smallest(comparison, backends, pair, can) or pair
    return comparison


def _runs(
    backends: tuple[Served, Served], scenarios: Iterable[Scenario]
) -> Iterator[tuple[Trace | Broken, Trace | Broken]]:
    shared = zip(backends, tee(scenarios), strict=True)
    first, second = (backend.play(each) for backend, each in shared)
    return zip(first, second, strict=True)


def _smallest(
    comparison: Comparison,
    backends: tuple[Served, Served],
    pair: Pair,
    can: frozenset[Capability],
) -> Pair | None:
    """Return the smallest pair found in time in which a backend breaks the same rule."""
    for side, backend, run in zip(comparison.sides, backends, pair.runs, strict=True):
        for rule, failure in side.tally.findings(pair.case, run).items():
            fitting = partial(adapted, capabilities=can)
            try_out = trials(backend.play, fitting, side.tally.findings)
            case = Search(try_out).smallest(rule, failure).case
            for one, other in _runs(backends, [case.scenario]):
                if isinstance(one, Trace) and isinstance(other, Trace):
                    found = difference(one, other)
                    return Pair(case, (one, other), found) if found else None
            return None
    return None


_SHOWN = 5
"""Number of errors shown, and of rules that an unexplained pair breaks."""


@asyncwait.command("compare")
@click.argument("first")
@click.argument("second")
@click.option(
    "--count",
    type=click.IntRange(1, MOST_GENERATED),
    default=QUICK,
    show_default=True,
    help="Number of generated scenarios, as for `asyncwait verify`.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the generated scenarios.")
@click.option(
    "--no-shrink",
    is_flag=True,
    help="Show the first unexplained difference as it is. The command otherwise looks for "
    f"a smaller scenario, for {SHRINK_SECONDS:g} seconds at most.",
)
@patience_option
@jobs_option
def compare_command(
    first: str,
    second: str,
    count: int,
    seed: int,
    no_shrink: bool,
    patience: float,
    jobs: int | None,
) -> None:
    """Play the same scenarios on two backends, and say how their runs differ.

    Where both keep all rules, a difference is a tie: the rules leave it open. Where one breaks a
    rule as it is known to (see its expected failures), that explains the difference.
    Anything else is unexplained; the first such pair is made smaller and drawn.

    Exit code: 0 nothing is unexplained, 1 something is, 2 wrong usage, 3 not all was compared.
    """
    folder = str(Path.cwd())
    with (
        usage_errors(),
        open_backend(first, patience=patience, jobs=jobs, folder=folder) as one,
        open_backend(second, patience=patience, jobs=jobs, folder=folder) as other,
    ):
        plan = Coverage(count, seed, shrinks=not no_shrink)
        tell = told_by_quarters(
            lambda done, of: say(f"{done:,} of {counted(of, 'scenario')} compared", err=True)
        )
        compared = compare((one, other), plan, tell)
    _print(compared, console())
    sys.exit(compared.exit_code)


def _print(compared: Comparison, out: Console) -> None:
    for pair in compared.unexplained[:1]:
        for line in _drawn(pair, compared.sides):
            say(line, out)
        keep([pair.case.planned for pair in compared.unexplained if pair.case.generated])
    for error in compared.errors[:_SHOWN]:
        say(f"error: {error}", out, style="bold magenta")
    for count, departure in compared.departures():
        say(f"may explain {counted(count, 'scenario')}: {departure}", out)
    say(_line(compared), out)


def _drawn(pair: Pair, sides: tuple[Side, Side]) -> Iterator[str]:
    """Yield an unexplained pair: the scenario, the broken rules, and both timelines."""
    yield f"unexplained: {pair.case.label}"
    broken = [
        f"{side.name} breaks {rule} at {found.at:g} ms: {found.text}"
        for side, run in zip(sides, pair.runs, strict=True)
        for rule, failure in side.tally.findings(pair.case, run).items()
        for found in [failure.violation]
    ]
    yield from (f"  {name_of(why)}" for why in broken[:_SHOWN])
    yield from (f"  {line}" for line in excerpt(describe_scenario(pair.case.scenario)))
    at = pair.at
    for side, run, events in zip(sides, pair.runs, (at.first, at.second), strict=True):
        mark = Violation(f"only {side.name}: {'; '.join(events) or 'nothing'}", at.at, at.leg)
        yield f"  {name_of(side.name)}"
        yield from (f"  {line}" for line in excerpt(draw(pair.case.scenario, run, mark)))
    for side in sides:
        yield f"  again: asyncwait play {shlex.quote(side.name)} {pair.case.id}"
    yield ""


def _line(compared: Comparison) -> str:
    kinds, names = compared.kinds, ", ".join(name_of(side.name) for side in compared.sides)
    parts = [
        f"{kinds['equal']:,} equal",
        f"{kinds['tie']:,} with ties only",
        f"{kinds['explained']:,} explained by departures",
        f"{kinds['unexplained']:,} unexplained",
        *([f"{kinds['in error']:,} in error"] if kinds["in error"] else []),
    ]
    return f"{names}: {counted(sum(kinds.values()), 'scenario')}: {', '.join(parts)}"
