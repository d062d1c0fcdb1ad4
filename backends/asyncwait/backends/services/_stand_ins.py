"""Fallbacks, other functions for failed calls, and hedges, second calls beside slow calls.

This module cancels calls through anyio without an import: the operator has imported anyio.
"""

import sys
from bisect import insort
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from math import ceil
from typing import Any, Generic, TypeVar

from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import kind_of
from asyncwait.spec.limits import NotCalled, is_finite
from asyncwait.toolkit import (
    FINAL,
    HELD_LIMITS,
    IN_HAND,
    Bell,
    CallScope,
    FunctionParts,
    awaited,
    call_scope,
    driven,
    is_own_cancellation,
    part_of,
    plain_error,
    reraise_fatal,
    running_loop,
)

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")

_KNOWN = 20
"""Smallest number of durations for a percentile."""

_REMEMBERED = 1_000


class Hedge(Struct, frozen=True):
    """Condition for a second call for a value, while its first call still runs.

    Args:
        after: seconds from the start of the first call; or a percentile, as "p95": the duration
            that 95 % of the last thousand results did not exceed, once 20 durations are known.
        at_most: share of calls that may have a second call.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    after: float | str = "p95"
    at_most: float = 0.05

    def __post_init__(self) -> None:
        after, share = self.after, self.at_most
        if not (_is_share(after) if isinstance(after, str) else is_finite(after) and after > 0):
            expected = 'seconds > 0, or a share of calls, as "p95"'
            raise InvalidConfig.of("Hedge.after", after, expected)
        if not (is_finite(share) and 0 < share <= 1):
            raise InvalidConfig.of("Hedge.at_most", share, "a share of calls, above 0 and up to 1")


def _is_share(after: str) -> bool:
    return after[:1] == "p" and after[1:] in {str(percent) for percent in range(1, 100)}


class HedgeFigures(Struct, frozen=True):
    """Figures of a function with fallbacks or hedges.

    Args:
        calls: calls that are not hedges.
        hedges: second calls.
        won: hedges that gave the result.
        fell_back: attempts that called another function than the first.
    """

    calls: int = 0
    hedges: int = 0
    won: int = 0
    fell_back: int = 0


class _Beginning:
    """Start of the first of several calls; before it, each call may wait for a permit."""

    def __init__(self) -> None:
        self.is_there = False
        self._bell = Bell()

    def come(self) -> None:
        """Note that a call begins."""
        self.is_there = True
        self._bell.ring()

    async def wait(self) -> None:
        """Wait until a call has begun."""
        while not self.is_there:
            await self._bell.wait()


_BEGINNING: ContextVar[_Beginning] = ContextVar("_BEGINNING")


class _Marked:
    """A function that notes the start of each call, after the call's wait for a permit.

    If a journal has the result, no call starts.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self.is_paid = part_of(function, "is_paid")

    def __call__(self, value: Any) -> Any:
        if self.is_paid is not None and self.is_paid(value):
            return self._function(value)
        hand = IN_HAND.get()
        return self._begin(value) if hand is None else hand.call(self._begin, value)

    def _begin(self, value: Any) -> Any:
        if (beginning := _BEGINNING.get(None)) is not None:
            beginning.come()
        return awaited(self._function(value))


def _heeded(call: Coroutine[Any, Any, T], on_cancelled: Callable[[], None]) -> Awaitable[T]:
    """Await `call`; call `on_cancelled` as soon as it is cancelled, before its clean-up."""
    cancelled = sys.modules["anyio"].get_cancelled_exc_class()

    def run(step: Callable[..., Any], *sent: Any) -> Any:
        if sent and isinstance(sent[0], cancelled):
            on_cancelled()
        return step(*sent)

    return driven(call, run)


class Race:
    """The two calls of one function for one value."""

    def __init__(self) -> None:
        self.running = 0
        self.second: Any = None
        """Event: the second call, or the wait before it, has ended; None before the wait."""
        self.is_over = False
        """Whether the result is decided or no longer wanted."""
        self._scopes: list[CallScope] = []
        self.winner: int | None = None
        """Number of the call with the first result; None without a result."""
        self._result: Any = None
        self.errors: dict[int, BaseException] = {}
        """Errors by the numbers of their calls."""

    def scope(self) -> CallScope:
        """Return a new scope for one of the calls; it cancels as the loop does (CANCEL-1)."""
        self._scopes.append(call_scope(shield=False))
        return self._scopes[-1]

    def end(self, *, but: CallScope | None = None) -> None:
        """Cancel the running calls, except the call in the scope `but`."""
        self.is_over = True
        for scope in self._scopes:
            if scope is not but:
                scope.cancel()

    async def second_ended(self) -> None:
        """Wait for the end of the second call or of the wait before it, if the wait has begun."""
        if self.second is not None:
            await self.second.wait()

    def win(self, number: int, result: Any) -> bool:
        """Take a result; return True, as the other call is no longer needed."""
        self.running -= 1
        if self.winner is None:
            self.winner, self._result = number, result
        return True

    def fail(self, number: int, error: BaseException) -> bool:
        """Take an error; return whether no call runs any more."""
        self.running -= 1
        self.errors[number] = error
        return self.running == 0

    def outcome(self) -> Any:
        """Return the first result; without a result, raise the error of the first call."""
        if self.winner is None:
            raise self.errors[min(self.errors)]
        return self._result


class Times:
    """Durations of the last calls with results, in seconds."""

    def __init__(self) -> None:
        self._last: deque[float] = deque()
        self.sorted: list[float] = []
        """The same durations, the shortest first."""

    def add(self, seconds: float) -> None:
        """Add a duration."""
        self._last.append(seconds)
        insort(self.sorted, seconds)
        if len(self._last) > _REMEMBERED:
            self.sorted.remove(self._last.popleft())

    def share(self, percent: int) -> float | None:
        """Return a percentile of the durations in seconds; None while too few are known."""
        count = len(self.sorted)
        return None if count < _KNOWN else self.sorted[ceil(count * percent / 100) - 1]


class StandIns(Generic[A, B]):
    """A coroutine function with fallbacks and hedges; an operator calls it like any other.

    The operator sees one call with one outcome, which it cancels as a whole and which takes one
    place of the capacity. `limits` count every call of a function. See the rules of HEDGE.

    Args:
        fn: first function; its `open`, `close`, `timeout` and `failure` apply to the whole.
        others: fallbacks in this order, each called when the function before has raised an
            Exception.
        hedge: condition for a second call beside a slow call; None for never.

    Raises:
        InvalidConfig: a function is not a coroutine function, or `hedge` is not a Hedge.
    """

    makes_several = True
    """Whether a call makes several calls, each with a permit of its own."""
    race_class = Race
    times_class = Times

    def __init__(
        self,
        fn: Callable[[A], Awaitable[B]],
        *others: Callable[[A], Awaitable[B]],
        hedge: Hedge | None = None,
    ) -> None:
        functions: Sequence[Any] = (fn, *others)
        for place, each in enumerate(functions):
            if not callable(each) or kind_of(each) != "coroutine":
                name = "fn" if place == 0 else f"others[{place - 1}]"
                raise InvalidConfig.of(name, each, "a coroutine function")
        if hedge is not None and not isinstance(hedge, Hedge):
            raise InvalidConfig.of("hedge", hedge, "a Hedge, or None")
        parts = FunctionParts.of(fn)
        for name in ("open", "close", "timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, part)
        if (is_paid := part_of(fn, "is_paid")) is not None:
            self.is_paid = is_paid
        self.keeps_all = any(part_of(each, "keeps_all", False) for each in (fn, *others))
        """Whether a journal keeps all results of one of the functions."""
        self.functions: Sequence[Callable[[Any], Any]] = [*map(_Marked, (fn, *others))]
        """The functions, in the order in which they are called."""
        self.hedge = hedge
        self._times = self.times_class()
        self._counts = dict.fromkeys(HedgeFigures.__struct_fields__, 0)

    def figures(self) -> HedgeFigures:
        """Return the present figures."""
        return HedgeFigures(**self._counts)

    async def __call__(self, value: A) -> B:
        if HELD_LIMITS.get() and IN_HAND.get() is None:
            raise TypeError(
                "limits count one call where stand-ins make several: give the operator the "
                "StandIns itself, with all wrappers inside, as StandIns(paid_once(...))"
            )
        result: B
        failed: Exception | None = None
        for place, function in enumerate(self.functions):
            try:
                with self._counted(calls=1, fell_back=place == 1):
                    result = await self.ask(function, value)
                    return result
            except Exception as error:
                if failed is not None and isinstance(error, NotCalled) and error.gate is not None:
                    raise error from failed
                if not self.goes_on(place, error):
                    raise
                failed = error
        raise AssertionError("there is a last function")

    def goes_on(self, place: int, error: Exception, /) -> bool:
        """Return whether another function follows the failed function at `place`."""
        return place + 1 < len(self.functions) and not isinstance(error, FINAL)

    async def ask(self, function: Callable[[Any], Any], value: Any) -> Any:
        """Call a function, and again if it is slow; return the first result."""
        delay = self.delay()
        if delay is None:
            return await self._timed(function, value)
        anyio: Any = sys.modules["anyio"]
        race = self.race_class()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._second, race, function, value, delay)
                try:
                    with race.scope() as scope:
                        run = self._run(race, function, value, 0)
                        await _heeded(run, partial(race.end, but=scope))
                    await race.second_ended()
                except BaseException:  # On a cancellation, the group would interrupt the clean-up.
                    race.end()
                    with anyio.CancelScope(shield=True):
                        await race.second_ended()
                    raise
        except BaseExceptionGroup as raised:
            raise plain_error(raised) from None
        self._counts["won"] += race.winner == 1
        return race.outcome()

    def delay(self) -> float | None:
        """Return the seconds from the first call to the second; None for no second call."""
        if self.hedge is None:
            return None
        after = self.hedge.after
        return self._times.share(int(after[1:])) if isinstance(after, str) else after

    def may(self) -> bool:
        """Return whether one more call may have a second call."""
        counts, hedge = self._counts, self.hedge
        return hedge is not None and counts["hedges"] + 1 <= hedge.at_most * counts["calls"]

    async def _second(self, race: "Race", function: Any, value: Any, delay: float) -> None:
        if race.is_over:
            return
        race.second = sys.modules["anyio"].Event()
        try:
            with race.scope():
                if (beginning := _BEGINNING.get(None)) is not None:
                    await beginning.wait()
                await sys.modules["anyio"].sleep(delay)
                if self.may():
                    with self._counted(hedges=1):
                        await self._run(race, function, value, 1)
        finally:
            race.second.set()

    @contextmanager
    def _counted(self, **counts: int) -> Generator[None]:
        """Count a call before it starts, because other calls use the counts.

        A call that never gets a permit, or is cancelled before, is not counted.
        """
        beginning = _Beginning()
        _BEGINNING.set(beginning)
        for name, count in counts.items():
            self._counts[name] += count
        try:
            yield
        finally:
            for name, count in counts.items():
                self._counts[name] -= 0 if beginning.is_there else count

    async def _run(self, race: "Race", function: Any, value: Any, number: int) -> None:
        race.running += 1
        try:
            result = await self._timed(function, value)
        except BaseException as error:
            reraise_fatal(error)
            is_made_up = not (race.is_over or is_own_cancellation(error))
            if not (isinstance(error, Exception) or is_made_up):
                raise
            is_over = race.fail(number, error)
        else:
            is_over = race.win(number, result)
        if is_over:
            race.end()

    async def _timed(self, function: Callable[[Any], Any], value: Any) -> Any:
        clock = running_loop().time
        began = clock()
        result = await awaited(function(value))
        beginning = _BEGINNING.get(None)
        is_called = beginning is None or beginning.is_there
        if is_called and self.hedge is not None and isinstance(self.hedge.after, str):
            self._times.add(clock() - began)
        return result
