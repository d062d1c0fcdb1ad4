"""A source and a function that keep to limits."""

import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from asyncwait.spec import FailureHandler, InvalidConfig, OperatorConfig, OperatorError
from asyncwait.spec.checks import is_plain_function
from asyncwait.toolkit._calls import not_awaitable
from asyncwait.toolkit._limits._book import Book
from asyncwait.toolkit._limits._meters import Turn
from asyncwait.toolkit._limits._turns import Turns
from asyncwait.toolkit._limits._vocabulary import AnyLimit, Budget, BudgetSpent, require_limits
from asyncwait.toolkit._loop import running_loop
from asyncwait.toolkit._plain_parts import PlainFunction, PlainSource


class LimitedValues(AsyncIterator[Any]):
    """The values of a source, each when its call may begin.

    Args:
        source: of the values.
        turns: which they wait for.
        is_free: says of which values no call asks the service.
        stops: whether the values end where a budget does.
    """

    def __init__(
        self, source: PlainSource, turns: Turns, is_free: Callable[[Any], bool], *, stops: bool
    ) -> None:
        self._source = source
        self._turns = turns
        self._is_free = is_free
        self._stops = stops

    async def __anext__(self) -> Any:
        value = await self._source.next_value()
        if not self._is_free(value):
            try:
                await self._turns.read(value)
            except BudgetSpent:
                if self._stops:
                    raise StopAsyncIteration from None
                raise
        return value

    async def aclose(self) -> None:
        """Close the source."""
        await self._source.aclose()


class LimitedFunction:
    """A function whose calls have turns.

    Args:
        call: the user's: a coroutine function, or a plain one, which is called in threads.
        book: of the limits.
        turns: of the operator.
        is_free: says of which values no call asks the service.
        batched: it is given a list of values.
    """

    def __init__(
        self, call: Any, book: Book, turns: Turns, is_free: Callable[[Any], bool], *, batched: bool
    ) -> None:
        self._call = call
        self._book = book
        self._turns = turns
        self._is_free = is_free
        self._batched = batched
        self.function = self.in_a_thread if is_plain_function(call) else self.on_the_loop
        """The same, as the operator calls it."""

    async def on_the_loop(self, value: Any) -> Any:
        """Wait for a turn, and call."""
        turn = self._turn_of(value)
        if self._is_free(value):
            return await _awaited(self._call(value))
        if turn is None:
            turn = await self._turns.another(value if self._batched else [value])
        self._book.begin(turn)
        try:
            given = self._book.result(turn, await _awaited(self._call(value)))
        except BaseException as error:
            self._turns.end(turn, error)
            raise
        self._turns.end(turn)
        return given

    def in_a_thread(self, value: Any) -> Any:
        """Do the same in a thread."""
        turn = self._turn_of(value)
        if self._is_free(value):
            return self._call(value)
        if turn is None:
            turn = self._turns.another_in_a_thread(value if self._batched else [value])
        self._book.begin(turn)
        try:
            given = self._book.result(turn, self._call(value))
        except BaseException as error:
            self._turns.end(turn, error)
            raise
        self._turns.end(turn)
        return given

    def _turn_of(self, value: Any) -> Turn | None:
        """Return the turn with which a value was read, if its call asks the service."""
        turn = self._turns.take_read(value)
        if turn is not None and self._is_free(value):  # since then
            self._turns.end(turn)
            return None
        return turn


async def _awaited(returned: Any) -> Any:
    if not inspect.isawaitable(returned):
        raise not_awaitable(returned)
    return await returned


class Limited:
    """The source and the function of an operator, keeping to limits.

    Values have their turns before they are read, so that no deadline runs meanwhile. With batches,
    a cache or copies nobody knows then of which call they will be part: there, calls wait for their
    turns themselves.

    Args:
        limits: of all calls of the operator.
        config: of the operator.
        function: the user's; its `call` and its handler of failures are replaced.
        source: the user's.
        is_paid: says of which values a call would not ask the service; None for none.

    Raises:
        InvalidConfig: they are no limits, or don't go with the rest.
    """

    def __init__(
        self,
        limits: Sequence[AnyLimit],
        config: OperatorConfig,
        function: PlainFunction,
        source: PlainSource,
        is_paid: Callable[[Any], bool] | None,
    ) -> None:
        asked = require_limits(limits)
        waits = next((each for each in _IN_CALLS if getattr(config, each) is not None), None)
        budget = next((each for each in asked if isinstance(each, Budget)), None)
        if waits and budget:
            expected = f"no Budget with `{waits}`: what a value costs is not known when it is read"
            raise InvalidConfig.of("limits", budget, expected)
        book = Book(asked, config.capacity, running_loop().time)
        self._book = book
        self._turns = Turns(book)
        is_free = is_paid or _never
        batched = config.batch is not None
        limited = LimitedFunction(function.call, book, self._turns, is_free, batched=batched)
        function.call = limited.function
        if budget is not None and function.failure is not None:
            function.failure = _asked_of_no_budget(function.failure)
        stops = budget is not None and budget.then == "stop"
        self.source = source
        """The values, to be read."""
        if not waits:
            paced = LimitedValues(source, self._turns, is_free, stops=stops)
            self.source = PlainSource(paced)
            self.source.record = source.record

    def leave(self) -> None:
        """Wake whoever waits for a turn; there is none any more."""
        self._turns.close()

    def close(self) -> None:
        """Let go of what is open, when no call runs any more."""
        self._book.close()


_IN_CALLS = ("batch", "cache", "copy")


def _never(_: Any) -> bool:
    return False


def _asked_of_no_budget(handler: FailureHandler) -> FailureHandler:
    """Return a handler that is not asked of values for which the budget was spent.

    Whoever leaves them out means what the service does not answer.
    """

    def handle(value: Any, error: OperatorError) -> Any:
        if isinstance(error.__cause__, BudgetSpent):
            raise error
        return handler(value, error)

    return handle
