"""Suite of hedges and fallbacks: plans, a player on a clock that jumps, and the checks of HEDGE."""

import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import product
from math import ceil
from typing import Any, Literal, TypeAlias

import anyio
from msgspec import Struct

from asyncwait.conformance.harness import LoopName, SpinWatch, run_virtual
from asyncwait.conformance.judging import BookChecks, Finding
from asyncwait.spec.exports import claim_exports


class Step(Struct, frozen=True):
    """The outcome of a call.

    Args:
        after: milliseconds until the outcome.
        fails: whether the call raises rather than gives a result.
    """

    after: int
    fails: bool = False


class Attempt(Struct, frozen=True):
    """One call of the function with its fallbacks and hedges.

    Args:
        at: milliseconds.
        steps: for each function in order: its first call, and its hedge.
        cancelled: milliseconds after `at`; None for never.
    """

    at: int
    steps: tuple[tuple[Step, Step], ...]
    cancelled: int | None = None


class HedgePlan(Struct, frozen=True):
    """A run of one function with fallbacks and hedges.

    No two moments with different meanings are equal: calls begin at tens of milliseconds, or where
    an earlier call ends, and end 3 milliseconds, or 6, or 9, behind tens; attempts are cancelled in
    the middle of ten.

    Args:
        attempts: by their moments.
        after: milliseconds until a hedge, or a share of calls; None for no hedges.
        at_most: share of calls that may have a hedge.
    """

    attempts: tuple[Attempt, ...]
    after: int | str | None = 10
    at_most: float = 1


_SHORT, _LONG, _LATE = 3, 23, 43


def small_plans() -> Iterator[HedgePlan]:
    """Yield every small run: one attempt of two functions, or two attempts of one function."""
    steps = [Step(after, fails) for after in (_SHORT, _LONG, _LATE) for fails in (False, True)]
    pairs = list(product(steps, steps))
    for one, cancelled in product(pairs, (None, 5, 15, 35)):
        yield HedgePlan((Attempt(0, (one,), cancelled),))
        for other in pairs if one[0].fails else ():
            yield HedgePlan((Attempt(0, (one, other), cancelled),))
    for one, other in product(pairs, pairs):
        yield HedgePlan((Attempt(0, (one,)), Attempt(10, (other,))), at_most=0.5)


def random_plans(count: int, seed: int) -> Iterator[HedgePlan]:
    """Yield `count` runs of up to sixty attempts."""
    drawn = random.Random(seed)
    for _ in range(count):
        after = drawn.choice([None, 10, 20, "p50", "p95"])
        is_measured = isinstance(after, str)
        functions = 1 if is_measured else drawn.randint(1, 3)
        attempts = tuple(
            _attempt(drawn, 10 * place, functions, is_measured=is_measured)
            for place in range(drawn.randint(30, 60) if is_measured else drawn.randint(1, 6))
        )
        yield HedgePlan(attempts, after, drawn.choice([0.1, 0.5, 1]))


def _attempt(drawn: random.Random, at: int, functions: int, *, is_measured: bool) -> Attempt:
    def step() -> Step:
        return Step(10 * drawn.choice([0, 0, 1, 2, 5, 9]) + 3, drawn.random() < 0.3)  # noqa: PLR2004

    steps = tuple((step(), step()) for _ in range(functions))
    is_cancelled = not is_measured and drawn.random() < 0.2  # noqa: PLR2004
    return Attempt(at, steps, 10 * drawn.randint(0, 9) + 5 if is_cancelled else None)


Kind: TypeAlias = Literal["begins", "gives", "fails", "ends cancelled", "outcome", "is cancelled"]


class Event(Struct, frozen=True):
    """An event of a run.

    Args:
        at: milliseconds.
        attempt: its number, from 0.
        kind: of a call, or "outcome" and "is cancelled" of the attempt.
        function: number of the function, from 0.
        call: 0 for its first call for the attempt, 1 for the hedge.
        said: text of a result or an error, which names its call.
    """

    at: int
    attempt: int
    kind: Kind
    function: int = -1
    call: int = -1
    said: str = ""


class HedgeHistory(Struct, frozen=True):
    """The history of a played plan."""

    plan: HedgePlan
    events: tuple[Event, ...]

    def of(self, kind: Kind) -> Iterator[tuple[int, Event]]:
        """Yield the events of a kind, each behind its number."""
        return ((at, event) for at, event in enumerate(self.events) if event.kind == kind)

    def among(self, attempt: int) -> list[tuple[int, Event]]:
        """Return the events of an attempt, each behind its number."""
        return [(at, event) for at, event in enumerate(self.events) if event.attempt == attempt]


class Failed(Exception):
    """The error of a call."""


Hedged: TypeAlias = Callable[[int], Awaitable[Any]]
OpenHedged: TypeAlias = Callable[[Sequence[Any], Any, float], Hedged]
"""Function that returns a function with fallbacks and hedges.

It takes the functions, the time of the hedge (see `HedgePlan.after`; None for no hedge), and the
largest share of hedged calls.
"""


def play_hedges(plan: HedgePlan, hedged: OpenHedged, loop: LoopName = "asyncio") -> HedgeHistory:
    """Call a function with fallbacks and hedges as a plan says; return the history.

    Args:
        plan: the plan.
        hedged: returns the function that is played.
        loop: library of the event loop.
    """
    return run_virtual(partial(_Player(plan).play, hedged), loop)


class _Player:
    def __init__(self, plan: HedgePlan) -> None:
        self._plan = plan
        self._events: list[Event] = []
        self._begun: dict[tuple[int, int], int] = {}

    async def play(self, hedged: OpenHedged, _: SpinWatch) -> HedgeHistory:
        after = self._plan.after
        seconds = after / 1000 if isinstance(after, int) else after
        functions = range(max(len(each.steps) for each in self._plan.attempts))
        calls = [partial(self._call, each) for each in functions]
        called = hedged(calls, seconds, self._plan.at_most)
        async with anyio.create_task_group() as group:
            for number, attempt in enumerate(self._plan.attempts):
                group.start_soon(self._attempt, called, number, attempt)
        return HedgeHistory(self._plan, tuple(self._events))

    def _note(self, *args: Any) -> None:
        at = round(1000 * anyio.current_time())
        self._events.append(Event(at, *args))

    async def _attempt(self, called: Hedged, number: int, attempt: Attempt) -> None:
        await anyio.sleep_until(attempt.at / 1000)
        ends = attempt.at + attempt.cancelled if attempt.cancelled is not None else None
        deadline = float("inf") if ends is None else ends / 1000
        with anyio.CancelScope(deadline=deadline) as scope:
            try:
                said = await called(number)
            except Failed as error:
                said = str(error)
            self._note(number, "outcome", -1, -1, said)
        if scope.cancelled_caught:
            self._note(number, "is cancelled")

    async def _call(self, function: int, number: int) -> str:
        call = self._begun.get((number, function), 0)
        self._begun[number, function] = call + 1
        step = self._plan.attempts[number].steps[function][min(call, 1)]
        said = f"{number}.{function}.{call}"
        self._note(number, "begins", function, call)
        try:
            await anyio.sleep(step.after / 1000)
        except BaseException:
            self._note(number, "ends cancelled", function, call)
            raise
        self._note(number, "fails" if step.fails else "gives", function, call, said)
        if step.fails:
            raise Failed(said)
        return said


HEDGE_CHECKS = check = BookChecks[HedgeHistory]()
"""The check of each rule, by its id."""

_ENDS = ("gives", "fails", "ends cancelled")
_KNOWN, _REMEMBERED = 20, 1_000


def _attempts(history: HedgeHistory) -> Iterator[list[tuple[int, Event]]]:
    for number in range(len(history.plan.attempts)):
        yield history.among(number)


def _first(events: list[tuple[int, Event]], *kinds: str) -> tuple[int, Event] | None:
    return next(((at, event) for at, event in events if event.kind in kinds), None)


def _end(history: HedgeHistory, call: Event) -> tuple[int, Event] | None:
    """Return the end of a call; None while it runs."""
    same = (call.attempt, call.function, call.call)
    for at, event in enumerate(history.events):
        if event.kind in _ENDS and (event.attempt, event.function, event.call) == same:
            return at, event
    return None


@check("HEDGE-1")
def one_outcome(history: HedgeHistory) -> Iterator[Finding]:
    """An attempt has one outcome, of one of its calls, unless it is cancelled."""
    for number, events in enumerate(_attempts(history)):
        outcomes = [(at, event) for at, event in events if event.kind == "outcome"]
        is_cancelled = _first(events, "is cancelled") is not None
        if len(outcomes) != (not is_cancelled):
            yield f"attempt {number} has {len(outcomes)} outcomes", events[-1][0]
        for at, outcome in outcomes:
            said = {each.said for place, each in events if place < at and each.kind in _ENDS}
            yield None if outcome.said in said else (f"no call has said {outcome.said!r}", at)


@check("HEDGE-2")
def the_first_result_wins(history: HedgeHistory) -> Iterator[Finding]:
    """The first result is the outcome, in the moment in which a call gives it."""
    for events in _attempts(history):
        first, outcome = _first(events, "gives"), _first(events, "outcome")
        if first and outcome:
            came, result = outcome[1], first[1]
            wrong = (came.at, came.said) != (result.at, result.said)
            yield (f"{result.said} was first, at {result.at}", outcome[0]) if wrong else None


@check("HEDGE-3")
def the_loser_is_cancelled(history: HedgeHistory) -> Iterator[Finding]:
    """The other call is cancelled in the moment of the first result."""
    for events in _attempts(history):
        if (first := _first(events, "gives")) is None:
            continue
        for at, call in events:
            if call.kind == "begins" and at < first[0]:
                end = _end(history, call)
                late = end is None or end[1].at > first[1].at
                yield (f"call {call.call} runs on", first[0]) if late else None


@check("HEDGE-4")
def no_call_outlives_its_value(history: HedgeHistory) -> Iterator[Finding]:
    """Each call has ended when the outcome is decided."""
    for events in _attempts(history):
        if (outcome := _first(events, "outcome", "is cancelled")) is None:
            continue
        for at, call in events:
            if call.kind == "begins":
                end = _end(history, call)
                lives = end is None or end[0] > outcome[0] or at > outcome[0]
                yield (f"call {call.call} of function {call.function} lives", at) if lives else None


def _allowed(history: HedgeHistory, until: int) -> bool:
    begun = [event for at, event in history.of("begins") if at < until]
    hedges = sum(event.call > 0 for event in begun)
    return hedges + 1 <= history.plan.at_most * (len(begun) - hedges)


def _hedge_of(history: HedgeHistory, call: Event) -> list[tuple[int, Event]]:
    return [
        (at, event)
        for at, event in history.of("begins")
        if event.call > 0 and (event.attempt, event.function) == (call.attempt, call.function)
    ]


def _timing(history: HedgeHistory, call: Event, after: float | None) -> Finding:
    """Return a finding if the hedge of a call, due `after` ms, is missing, late or repeated."""
    hedges, end = _hedge_of(history, call), _end(history, call)
    if len(hedges) > 1:
        return f"{len(hedges)} hedges for one call", hedges[1][0]
    if hedges:
        at, hedge = hedges[0]
        wrong = after is None or hedge.at != round(call.at + after)
        wrong = wrong or (end is not None and end[1].at < hedge.at)
        return (f"a hedge begins at {hedge.at}, its call at {call.at}", at) if wrong else None
    if after is None or end is None or end[1].at <= call.at + after:
        return None
    moment = call.at + after
    over = _first(history.among(call.attempt), "outcome", "is cancelled")
    if over is not None and over[1].at <= moment:
        return None
    # A call that begins in the same moment may be before it or behind it.
    due = next(at for at, event in enumerate(history.events) if event.at >= moment)
    behind = next(at for at, event in enumerate(history.events) if event.at > moment)
    is_due = _allowed(history, due) and _allowed(history, behind)
    return (f"no hedge for the call of {call.at}", due) if is_due else None


@check("HEDGE-5")
def a_hedge_begins_at_its_time(history: HedgeHistory) -> Iterator[Finding]:
    """One hedge begins after its delay, while its call runs."""
    after = history.plan.after
    if not isinstance(after, str):
        for _, call in history.of("begins"):
            if call.call == 0:
                yield _timing(history, call, after)


@check("HEDGE-6")
def an_error_waits_for_the_other_call(history: HedgeHistory) -> Iterator[Finding]:
    """An error waits for the other call; if both fail, the first call's error counts."""
    for events in _attempts(history):
        is_cancelled = _first(events, "is cancelled") is not None
        for at, failed in events:
            other = _other(events, failed, at) if failed.kind == "fails" else None
            end = None if other is None else _end(history, other)
            if end is None or end[0] < at or is_cancelled:
                continue
            given_up = end[1].kind == "ends cancelled"
            early = [p for p, e in events if at < p < end[0] and e.kind in ("outcome", "begins")]
            yield ("an error is not waited for", end[0]) if given_up or early else None
            outcome = _first(events, "outcome")
            hedged = f"{failed.attempt}.{failed.function}.1"
            wrong = end[1].kind == "fails" and outcome and outcome[1].said == hedged
            yield ("the error is the hedge's", outcome[0]) if wrong and outcome else None


def _other(events: list[tuple[int, Event]], failed: Event, at: int) -> Event | None:
    begun = (e for p, e in events if p < at and e.kind == "begins")
    same = (e for e in begun if e.function == failed.function and e.call != failed.call)
    return next(same, None)


@check("HEDGE-7")
def hedges_keep_to_their_share(history: HedgeHistory) -> Iterator[Finding]:
    """Hedges stay within their share of the calls that have begun by then."""
    for at, event in history.of("begins"):
        if event.call > 0:
            yield None if _allowed(history, at) else ("one hedge too many", at)


@check("HEDGE-8")
def a_share_of_calls_is_measured(history: HedgeHistory) -> Iterator[Finding]:
    """A delay given as a share of calls follows the last results when the call begins."""
    after = history.plan.after
    if not isinstance(after, str):
        return
    for at, call in history.of("begins"):
        if call.call > 0:
            continue
        began = {(e.attempt, e.call): e.at for p, e in history.of("begins") if p < at}
        took = [e.at - began[e.attempt, e.call] for p, e in history.of("gives") if p < at]
        last = sorted(took[-_REMEMBERED:])
        place = ceil(len(last) * int(after[1:]) / 100) - 1
        yield _timing(history, call, last[place] if len(last) >= _KNOWN else None)


@check("HEDGE-9")
def fall_backs_are_asked_in_order(history: HedgeHistory) -> Iterator[Finding]:
    """Each fallback is called in the moment in which the function before it has failed."""
    for events in _attempts(history):
        for at, call in events:
            if call.kind == "begins" and call.function > 0 and call.call == 0:
                before = [e for p, e in events if p < at and e.function == call.function - 1]
                ends = [e for e in before if e.kind in _ENDS]
                begins = [e for e in before if e.kind == "begins"]
                failed = ends and all(e.kind == "fails" for e in ends) and len(ends) == len(begins)
                yield None if failed and ends[-1].at == call.at else ("asked out of turn", at)


@check("HEDGE-10")
def the_last_error_counts(history: HedgeHistory) -> Iterator[Finding]:
    """If no function gave a result, the outcome is the error of the last function."""
    for number, events in enumerate(_attempts(history)):
        outcome = _first(events, "outcome")
        if outcome and _first(events, "gives") is None:
            last = len(history.plan.attempts[number].steps) - 1
            wrong = not outcome[1].said.startswith(f"{number}.{last}.")
            yield ("another function's error", outcome[0]) if wrong else None


@check("HEDGE-11")
def who_cancels_the_whole_cancels_its_calls(history: HedgeHistory) -> Iterator[Finding]:
    """A cancelled attempt ends its calls in that moment, and begins no other call."""
    for number, attempt in enumerate(history.plan.attempts):
        events = history.among(number)
        if attempt.cancelled is None or not events:
            continue
        moment = attempt.at + attempt.cancelled
        if (over := _first(events, "outcome")) and over[1].at < moment:
            continue
        for at, event in events:
            wrong = event.kind != "is cancelled" and event.at > moment
            yield (f"goes on, cancelled at {moment}", at) if wrong else None


__all__ = [
    "HEDGE_CHECKS",
    "Attempt",
    "Event",
    "HedgeHistory",
    "HedgePlan",
    "Step",
    "play_hedges",
    "random_plans",
    "small_plans",
]

claim_exports(__name__)
