"""Hedged functions and fallbacks with common mistakes: each breaks one rule of HEDGE."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import anyio

from asyncwait.backends.faulty._gallery import Slip, into
from asyncwait.backends.services import Hedge, Race, StandIns, Times
from asyncwait.spec.exports import claim_exports


def hedged(
    functions: Sequence[Any],
    after: Any,
    at_most: float,
    kind: type[StandIns[Any, Any]] = StandIns,
) -> StandIns[Any, Any]:
    """Return a hedged function; see `asyncwait.conformance.hedge.OpenHedged`."""
    return kind(*functions, hedge=None if after is None else Hedge(after, at_most))


class FaultyHedge(Slip, frozen=True, kw_only=True):
    """A small change to `StandIns`, or to its `Race` or `Times`."""

    def hedged(self, functions: Sequence[Any], after: Any, at_most: float) -> StandIns[Any, Any]:
        """Return the changed hedged function; see `asyncwait.conformance.hedge.OpenHedged`."""
        return hedged(functions, after, at_most, self.stand_ins_class)

    @property
    def stand_ins_class(self) -> type[StandIns[Any, Any]]:
        """The changed class of hedged functions."""
        parts = {"race_class": self._instead_of(Race), "times_class": self._instead_of(Times)}
        return type("StandIns", (self._instead_of(StandIns),), parts)


FOUND: list[FaultyHedge] = []
"""Every faulty hedge registered so far."""

breaks = into(FOUND, FaultyHedge)


@breaks("HEDGE-1")
class LosesAResultOfBoth(Race):
    """Loses the result of the hedge."""

    def outcome(self) -> Any:
        return "nothing" if self.winner == 1 else super().outcome()


@breaks("HEDGE-2")
class LooksEveryFewMilliseconds(StandIns[Any, Any]):
    """Returns a result some milliseconds after the call has returned it."""

    async def ask(self, function: Callable[[Any], Any], value: Any) -> Any:
        result = await super().ask(function, value)
        await anyio.sleep(0.005)
        return result


@breaks("HEDGE-3")
class LetsTheLoserRun(Race):
    """Waits for both calls."""

    def win(self, number: int, result: Any) -> bool:
        super().win(number, result)
        return not self.running


@breaks("HEDGE-4")
class LeavesCallsBehind(StandIns[Any, Any]):
    """Makes calls in tasks of their own, and does not cancel them."""

    async def ask(self, function: Callable[[Any], Any], value: Any) -> Any:
        delay = self.delay() or 1.0
        calls = [asyncio.ensure_future(function(value))]
        if not (await asyncio.wait(calls, timeout=delay))[0]:
            calls.append(asyncio.ensure_future(function(value)))
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()


@breaks("HEDGE-5")
class HedgesAtOnce(StandIns[Any, Any]):
    """Starts the hedge almost at once."""

    def delay(self) -> float | None:
        return None if super().delay() is None else 0.001


@breaks("HEDGE-6")
class TakesTheFirstError(Race):
    """Fails with the first error, although the other call still runs."""

    def fail(self, number: int, error: BaseException) -> bool:
        return super().fail(number, error) or True


@breaks("HEDGE-6")
class TellsTheErrorOfTheHedge(Race):
    """Raises the error of the hedge if both calls have failed."""

    def outcome(self) -> Any:
        if self.winner is None and len(self.errors) > 1:
            raise self.errors[1]
        return super().outcome()


@breaks("HEDGE-7")
class HedgesAll(StandIns[Any, Any]):
    """Hedges every slow call, however many are slow."""

    def may(self) -> bool:
        return True


@breaks("HEDGE-8")
class GuessesEarly(Times):
    """Estimates the hedge's delay from the first result alone."""

    def share(self, percent: int) -> float | None:
        return super().share(percent) or (self.sorted[0] if self.sorted else None)


@breaks("HEDGE-8")
class TakesTheMean(Times):
    """Uses the mean in place of the percentile."""

    def share(self, percent: int) -> float | None:
        share = super().share(percent)
        return None if share is None else sum(self.sorted) / len(self.sorted)


@breaks("HEDGE-9")
class AsksAllAtOnce(StandIns[Any, Any]):
    """Calls all functions at once, and takes the first good result."""

    async def __call__(self, value: Any) -> Any:
        results: list[Any] = []

        async def ask(function: Callable[[Any], Any]) -> None:
            try:
                results.append(await self.ask(function, value))
            except Exception as error:
                results.append(error)

        async with anyio.create_task_group() as group:
            for function in self.functions:
                group.start_soon(ask, function)
        good = [each for each in results if not isinstance(each, Exception)]
        if good:
            return good[0]
        raise results[-1]


@breaks("HEDGE-10")
class StopsBeforeTheLast(StandIns[Any, Any]):
    """Never calls the last function."""

    def goes_on(self, place: int, error: Exception, /) -> bool:
        return super().goes_on(place + 1, error)


@breaks("HEDGE-11")
class TakesACancellationForAFailure(StandIns[Any, Any]):
    """Shields its calls from the caller's cancellation."""

    async def __call__(self, value: Any) -> Any:
        with anyio.CancelScope(shield=True):
            return await super().__call__(value)


FAULTY_HEDGES = tuple(FOUND)
"""All faulty hedges."""

__all__ = ["FAULTY_HEDGES", "FaultyHedge", "hedged"]

claim_exports(__name__)
