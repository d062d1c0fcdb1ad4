"""Reduction of a failing scenario to the smallest failing one, which a person can take in.

A scenario is reduced as JSON. So any scenario can be reduced, wherever it came from, and a new
field needs no line here. Hypothesis shrinks only data that it has drawn itself, and draws all of it
again: with it, the gallery's failures became scenarios twice as long, in twenty times as long.

Each played scenario serves all rules: the smallest failure found for each rule is put before the
failures that only generated scenarios show.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias, TypeVar

import msgspec

from asyncwait.conformance.running import Broken
from asyncwait.conformance.verdict import Case, Failure, RuleResult
from asyncwait.spec import InvalidConfig
from asyncwait.spec.scenario import GRID, key_of, size_of

P = TypeVar("P", bound=Any)
"""A `Scenario`, or a plan of another rule book."""


def reductions(scenario: P) -> Iterator[P]:
    """Yield plans that are smaller by one change, the boldest changes of each part first."""
    size = size_of(scenario)
    for tree in _smaller(msgspec.to_builtins(scenario)):
        try:
            reduced = msgspec.convert(tree, type(scenario))
        except (msgspec.ValidationError, InvalidConfig):
            continue
        if size_of(reduced) < size:
            yield reduced


def _smaller(tree: Any) -> Iterator[Any]:
    """Yield the results of one change somewhere in a tree of dicts, sequences and scalars."""
    match tree:
        case bool():
            return
        case int():
            yield from _smaller_numbers(tree)
        case dict():
            for name in tree:
                yield {other: part for other, part in tree.items() if other != name}
            for name, part in tree.items():
                yield from ({**tree, name: smaller} for smaller in _smaller(part))
        case list() | tuple():
            for start, end in _spans(len(tree)):
                yield [*tree[:start], *tree[end:]]
            for place, part in enumerate(tree):
                for smaller in _smaller(part):
                    yield [*tree[:place], smaller, *tree[place + 1 :]]


def _spans(length: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a sequence that may be left out: the whole, halves, quarters, single."""
    size = length
    while size:
        yield from ((start, min(length, start + size)) for start in range(0, length, size))
        size //= 2


def _smaller_numbers(number: int) -> Iterator[int]:
    """Yield 0, 1, half and one less of a number; for a time on the grid, in steps of the grid."""
    unit = 1 if number % GRID else GRID
    steps = number // unit
    yield from (fewer * unit for fewer in sorted({0, 1, steps // 2, steps - 1}) if fewer < steps)


FIRST_BATCH, LARGEST_BATCH = 8, 64
"""Candidates played at a time: few while most of them fail and make the others pointless, many
when few fail, because some backends play many in the time of one."""

TryOut: TypeAlias = Callable[[Sequence[Any]], Iterable[Mapping[str, Failure]]]
"""Plays scenarios, and gives for each its failures by the id of the rule."""


SHRINK_SECONDS = 8.0
"""Time for shrinking all failures together: about as long as a quick verification takes."""


class Search:
    """Searches for smaller failures within its time.

    Args:
        is_over: whether its time is over; by default after `SHRINK_SECONDS`.

    Attributes:
        is_cut: whether the time was over before the last search finished.
    """

    def __init__(self, try_out: TryOut, is_over: Callable[[], bool] | None = None) -> None:
        ends = time.monotonic() + SHRINK_SECONDS
        self._try_out = try_out
        self._is_over = is_over or (lambda: time.monotonic() > ends)
        self._tried: set[bytes] = set()
        self._smallest: dict[str, Failure] = {}
        self.is_cut = False

    def smallest(self, rule: str, failure: Failure) -> Failure:
        """Return the smallest failure of `rule` that is found, `failure` if no smaller one is.

        Failures that other searches have found count too, also when the time is over.
        """
        self._keep(rule, failure)
        self.is_cut = True
        while not self._is_over():
            best = self._smallest[rule]
            if self._play_smaller_than(best, rule):
                self.is_cut = False
                break
        return self._smallest[rule]

    def best(self, rule: str) -> Failure:
        """Return the smallest failure of `rule` so far, in a search that was cut short."""
        return self._smallest[rule]

    def _play_smaller_than(self, best: Failure, rule: str) -> bool:
        """Play reductions of `best` until one breaks the rule; return whether none does."""
        untried = self._untried(reductions(best.case.planned))
        size = FIRST_BATCH
        while self._smallest[rule] is best and (batch := list(islice(untried, size))):
            for failures in self._try_out(batch):
                for broken, failure in failures.items():
                    self._keep(broken, failure)
                if self._is_over():
                    return False
            size = min(2 * size, LARGEST_BATCH)
        return self._smallest[rule] is best

    def _untried(self, scenarios: Iterable[Any]) -> Iterator[Any]:
        for scenario in scenarios:
            key = key_of(scenario)
            if key not in self._tried:
                self._tried.add(key)
                yield scenario

    def _keep(self, rule: str, failure: Failure) -> None:
        known = self._smallest.get(rule)
        if known is None or failure.case.size < known.case.size:
            self._smallest[rule] = failure


NOT_SMALLEST = (
    "the time to shrink was over before this scenario was as small as can be: "
    "to go on, play it again with --shrink"
)

Adapt = Callable[[Any], Any]
Fails = Callable[[Case, Any], Mapping[str, Failure]]
Run = Callable[[Sequence[Any]], Iterable[Any]]


def shrink(
    results: Sequence[RuleResult],
    failed: Iterable[RuleResult],
    try_out: TryOut,
    *,
    is_over: Callable[[], bool] | None = None,
    cut_note: str = NOT_SMALLEST,
    say: Callable[[int, int], None] = lambda *_: None,
) -> tuple[RuleResult, ...]:
    """Return `results` with the smallest failure that is found for each of `failed` first.

    `cut_note` becomes a note where the time was too short for the smallest possible failure.
    """
    search = Search(try_out, is_over)
    shrinkable = [r for r in failed if r.failures and r.failures[0].case.generated]
    shrunk: dict[str, RuleResult] = {}
    for done, result in enumerate(shrinkable):
        say(done, len(shrinkable))
        smallest = search.smallest(result.rule.id, result.failures[0])
        failures = (smallest, *(each for each in result.failures if each is not smallest))
        note = "; ".join(filter(None, [result.note, cut_note if search.is_cut else ""]))
        shrunk[result.rule.id] = msgspec.structs.replace(result, failures=failures, note=note)
    say(len(shrinkable), len(shrinkable))
    return tuple(shrunk.get(result.rule.id, result) for result in results)


def trials(run: Run, adapt: Adapt, fails: Fails) -> TryOut:
    """Return a function that plays candidates and returns the rules they break."""

    def try_out(candidates: Sequence[Any]) -> Iterator[Mapping[str, Failure]]:
        cases = [Case("shrunk", c, adapt(c), generated=True) for c in candidates]
        for trace, case in zip(run([case.scenario for case in cases]), cases, strict=False):
            if isinstance(trace, Broken):
                yield {}
            else:
                yield fails(case, trace)

    return try_out
