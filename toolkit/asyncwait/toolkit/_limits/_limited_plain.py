"""Both ends of an operator under limits: values as they are read, results as they come out."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from msgspec.structs import replace

from asyncwait.spec import (
    Batch,
    FailureHandler,
    InvalidConfig,
    OperatorConfig,
    OperatorError,
    Retry,
    RetryAfter,
    Statistics,
)
from asyncwait.spec.checks import is_plain_function
from asyncwait.toolkit._limits._limited import Limited
from asyncwait.toolkit._limits._together import LimitsTogether
from asyncwait.toolkit._limits._vocabulary import (
    AnyLimit,
    Budget,
    BudgetSpent,
    CostMistold,
    CostTooLarge,
    InFlight,
    KeeperLost,
    LedgerLost,
    NotCalled,
    ends_all,
    require_limits,
)
from asyncwait.toolkit._plain_parts import PacedValues, PlainFunction, PlainSource
from asyncwait.toolkit._stand_ins import IN_TURN, StandIns


class LimitedResults(AsyncIterator[Any]):
    """The results of an operator; behind them, why a value is missing, or nothing more is called.

    Args:
        results: of the operator.
        limited: its function.
    """

    def __init__(self, results: Any, limited: Limited) -> None:
        self._results, self._limited = results, limited
        self._next = aiter(results).__anext__

    async def __anext__(self) -> Any:
        lost: BaseException
        try:
            return await self._next()
        except StopAsyncIteration:
            if self._limited.unpaid is not None:
                raise self._limited.unpaid.with_traceback(None) from None
            raise
        except OperatorError as error:
            if not (isinstance(error.__cause__, LedgerLost) and ends_all(error.__cause__)):
                raise
            lost = error.__cause__  # and no value is to blame
        raise lost.with_traceback(None)

    def statistics(self) -> Statistics:
        """Return the figures of the operator."""
        return self._limited.figures(self._results.statistics())

    def __getattr__(self, name: str) -> Any:
        """Return what results of single operators can do besides."""
        return getattr(self._results, name)


class LimitedValues(PacedValues):
    """The values of a source, each when its call may begin, so that no deadline runs before.

    Args:
        source: of the values.
        limited: their function.
        stops: whether the values end where a budget does.
    """

    def __init__(self, source: PlainSource, limited: Limited, *, stops: bool = False) -> None:
        self._source = source
        self._limited = limited
        limited.paces = True
        self.paces_attempts = not limited.batched
        self._stops = stops

    async def __anext__(self) -> Any:
        value = await self._source.next_value()
        if not self._limited.is_paid(value):
            try:
                await self._limited.turns.read(value)
            except BudgetSpent:
                if self._stops:
                    raise StopAsyncIteration from None
                raise
        return value

    async def again(self, value: Any, is_wanted: Callable[[], bool]) -> None:
        """Wait for the turn of a further attempt."""
        await self._limited.again(value, is_wanted)

    def skip(self, value: Any) -> None:
        """Give the turn of a value back."""
        self._limited.skip(value)

    async def aclose(self) -> None:
        """Close the source."""
        await self._source.aclose()


def limited_plain(
    limits: Sequence[AnyLimit] | LimitsTogether,
    config: OperatorConfig,
    function: PlainFunction,
    source: PlainSource,
    is_paid: Callable[[Any], bool] | None,
    *,
    asks_again: bool,
    in_threads: bool,
) -> tuple[Limited, PlainSource]:
    """Have the function of a plain form keep to limits, and return the values to be read.

    With batches, a cache or copies nobody knows, when a value is read, of which call it will be
    part: there, calls wait for their turns themselves.

    Args:
        limits: which the function has to keep to.
        config: of the operator.
        function: the user's; it is changed.
        source: of the values.
        is_paid: says of which of them no call would ask the service.
        asks_again: whether the operator asks `PlainSource.paced` before a further attempt.
        in_threads: whether it calls the function in threads.

    Raises:
        InvalidConfig: they are no limits, or don't go with the rest.
    """
    together: Any = limits if hasattr(limits, "ledger") else None
    asked = require_limits(getattr(together, "limits", limits))
    waits = next((each for each in _IN_CALLS if getattr(config, each) is not None), None)
    budget = next((each for each in asked if isinstance(each, Budget)), None)
    if any(isinstance(each, InFlight) for each in asked):
        _refuse_turns_within_turns(together)
    if waits and budget:
        expected = f"no Budget with `{waits}`: what a value costs is not known when it is read"
        raise InvalidConfig.of("limits", budget, expected)
    if waits or not asks_again:
        _refuse_attempts_with_an_end(config.retry, waits)
    call = function.call
    limited = Limited(
        asked,
        call,
        capacity=config.capacity,
        batched=config.batch is not None,
        is_paid=is_paid,
        ledger=None if together is None else together.ledger(),
        kept=limits,
        caches=config.cache is not None,
    )
    if isinstance(call, StandIns):
        function.call = limited.with_stand_ins(call)
    elif in_threads and is_plain_function(call):
        function.call = limited.in_a_thread
    else:  # also of a plain function: what it returns may be awaitable
        function.call = limited.on_the_loop
    if function.failure is not None:
        function.failure = not_asked_at_the_end(function.failure)
    if budget is not None:
        function.failure = limited.leaving_unpaid(function.failure, stops=budget.then == "stop")
    if waits:
        return limited, source
    stops = budget is not None and budget.then == "stop"
    paced = PlainSource(LimitedValues(source, limited, stops=stops))
    paced.record = source.record
    return limited, paced


_IN_CALLS = ("batch", "cache", "copy")


def _refuse_turns_within_turns(together: Any) -> None:
    if together is not None and together in IN_TURN.get():
        expected = "others than those by which the call that opens the operator has its turn"
        raise InvalidConfig.of("limits", together, expected)


def _refuse_attempts_with_an_end(retry: Retry | None, waits: str | None) -> None:
    if retry is not None and retry.attempt_timeout is not None:
        where = f"with `{waits}`" if waits else "in this operator"
        expected = f"None with `limits` {where}: attempts would be over while they wait for turns"
        raise InvalidConfig.of("Retry.attempt_timeout", retry.attempt_timeout, expected)


def is_keeper_lost(error: BaseException | None) -> bool:
    """Say whether what keeps results is lost, limits or not."""
    return isinstance(error, KeeperLost)


def not_asked_at_the_end(
    handler: FailureHandler, ends: Callable[[BaseException | None], bool] = ends_all
) -> FailureHandler:
    """Return a handler that is not asked where nothing more is called: see `ends_all`.

    Whoever leaves values out means what the service does not answer.
    """

    def handle(value: Any, error: OperatorError) -> Any:
        if ends(error.__cause__):
            raise error
        return handler(value, error)

    return handle


def unless_keeper_lost(retry: Retry) -> Retry:
    """Return `retry` for calls whose results may be kept: nothing is repeated that can't be."""
    return _deciding(retry, lambda error: False if isinstance(error, KeeperLost) else None)


def unless_not_called(retry: Retry | None, batch: Batch | None = None) -> Retry | None:
    """Return `retry` for calls that may not be made, or tell no cost: another would be in vain.

    But for a batch that costs too much, and is split for the next one.
    """
    if retry is None:
        return None
    splits = batch is not None and batch.split

    def decide(error: BaseException) -> bool | None:
        if isinstance(error, NotCalled) and not error.is_of_call:
            return splits and isinstance(error, CostTooLarge)
        return False if isinstance(error, CostMistold | KeeperLost) else None

    return _deciding(retry, decide)


def _deciding(retry: Retry, decide: Callable[[BaseException], bool | None]) -> Retry:
    """Return `retry`, which is asked where `decide` gives None."""
    wanted = retry.on_error

    def is_reason(error: BaseException) -> bool | RetryAfter:
        if (decided := decide(error)) is not None:
            return decided
        return isinstance(error, wanted) if isinstance(wanted, type | tuple) else wanted(error)

    return replace(retry, on_error=is_reason)
