"""A function and a source that keep to limits."""

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any

from asyncwait.spec import (
    FailureHandler,
    OperatorError,
    Statistics,
)
from asyncwait.toolkit._calls import not_awaitable
from asyncwait.toolkit._function import skip
from asyncwait.toolkit._limits._book import Book, Costs
from asyncwait.toolkit._limits._exchange import Exchange, Ledger
from asyncwait.toolkit._limits._meters import Turn
from asyncwait.toolkit._limits._turns import Turns
from asyncwait.toolkit._limits._unmade import Counted, Unmade
from asyncwait.toolkit._limits._vocabulary import (
    Adaptive,
    AnyLimit,
    BudgetSpent,
    Cost,
    CostMistold,
    NotCalled,
    is_unpaid,
)
from asyncwait.toolkit._loop import running_loop
from asyncwait.toolkit._stand_ins import IN_TURN, StandIns

_COUNTED: ContextVar[Counted] = ContextVar("_COUNTED")
"""The call for which stand-ins are asked."""


class Limited:
    """A function whose calls have turns, and the values of its source, each when it has its own.

    Args:
        limits: of all calls of the operator.
        call: the user's: a coroutine function, or a plain one, which is called in threads.
        capacity: of the operator.
        batched: it is given a list of values.
        is_paid: says of which values a call would not ask the service; None for none.
        ledger: where others keep to the same limits; `Adaptive` is not one of them. None if nobody
            does.
        spent: is told what calls have cost, by unit: as they tell it, or else as it was thought.
        kept: what was given as `limits`.
        caches: the operator has a cache.
    """

    def __init__(
        self,
        limits: Sequence[AnyLimit],
        call: Any,
        *,
        capacity: int,
        batched: bool = False,
        is_paid: Callable[[Any], bool] | None = None,
        ledger: Ledger | None = None,
        spent: Counter[str] | None = None,
        kept: object = None,
        caches: bool = False,
    ) -> None:
        self._kept = kept
        self._caches = caches
        self._spent: Counter[str] = Counter() if spent is None else spent
        self._call = call
        self.batched = batched
        self.paces = False
        """Whether first calls have their turns before their values are read."""
        self._unmade = Unmade()
        self._adding = Lock()
        """Of costs: calls may be in threads."""
        self.unpaid: BudgetSpent | None = None
        """Why a value was left out whose further attempt was not paid; None if none was."""
        self.is_paid = _never if is_paid is None else is_paid
        """Says of which values a call would not ask the service."""
        own = [None if ledger and not isinstance(each, Adaptive) else each for each in limits]
        self._book = Book(own, capacity, running_loop().time)
        self._costs = Costs(limits)
        self._exchange = None if ledger is None else Exchange(ledger)
        self.turns = Turns(self._book, self._costs, self._exchange)
        """Who may call now."""

    async def on_the_loop(self, value: Any) -> Any:
        """Wait for a turn, and call; raise what the call raises."""
        return await self._on_the_loop(self._call, self.is_paid, Counted(), value)

    def with_stand_ins(self, several: StandIns) -> Callable[[Any], Any]:
        """Return a function that calls for all of `several`, each in a turn of its own.

        An `is_paid` of its own says which calls of each would not ask the service.
        """
        in_turns = several.each_by(
            lambda call: partial(
                self._on_the_loop, call, getattr(call, "is_paid", None) or _never, None
            )
        )

        async def call(value: Any) -> Any:
            _COUNTED.set(Counted())
            return await in_turns(value)

        return call

    async def again(self, value: Any, is_wanted: Callable[[], bool]) -> None:
        """Wait until a value may be called for once more; its call finds the turn."""
        if not self.is_paid(value):
            await self.turns.read_again(value, is_wanted)

    async def _on_the_loop(
        self,
        call: Callable[[Any], Any],
        is_paid: Callable[[Any], bool],
        counted: Counted | None,
        value: Any,
    ) -> Any:
        counted = _COUNTED.get() if counted is None else counted
        turn, asked = self._turn_of(value, is_paid, counted)
        if not asked:
            return await _awaited(call(value))
        if turn is None:
            turn = await self.turns.another(asked)
            await self._still_wanted(turn)
        self._unmade.make(counted)
        self.turns.begin(turn)
        token = IN_TURN.set((*IN_TURN.get(), self._kept))
        try:
            given = self._result(turn, await _awaited(call(value)))
        except BaseException as error:
            self._end(turn, error)
            raise
        finally:
            IN_TURN.reset(token)
        self._end(turn)
        return given

    async def _still_wanted(self, turn: Turn) -> None:
        """Give a turn back whose call was cancelled in the moment in which it came."""
        if (anyio := sys.modules.get("anyio")) is not None:
            try:
                await anyio.lowlevel.checkpoint_if_cancelled()
            except BaseException:
                self.turns.end(turn)
                raise

    def in_a_thread(self, value: Any) -> Any:
        """Do the same in a thread."""
        counted = Counted()
        turn, asked = self._turn_of(value, self.is_paid, counted)
        if not asked:
            return self._call(value)
        if turn is None:
            turn = self.turns.another_in_a_thread(asked)
        self._unmade.make(counted)
        self.turns.begin(turn)
        token = IN_TURN.set((*IN_TURN.get(), self._kept))
        try:
            given = self._result(turn, self._call(value))
        except BaseException as error:
            self._end(turn, error)
            raise
        finally:
            IN_TURN.reset(token)
        self._end(turn)
        return given

    def _end(self, turn: Turn, error: BaseException | None = None) -> None:
        if isinstance(error, NotCalled):
            error.is_of_call = True
        self._add(self._costs.spent(turn))
        self.turns.end(turn, error)

    def _add(self, spent: Mapping[str, float]) -> None:
        if spent:
            with self._adding:
                self._spent.update(spent)

    def _turn_of(
        self, value: Any, is_paid: Callable[[Any], bool], counted: Counted
    ) -> tuple[Turn | None, list[Any]]:
        """Return the turn with which a value was read, and the values that the service is asked.

        Raises:
            Exception: nobody can say what its call costs, or it costs too much.
        """
        values = value if self.batched else [value]
        asked = [each for each in values if not is_paid(each)]
        if not asked:
            self._unmade.make(counted)
            self.skip(value)
            return None, asked
        read = self.turns.take_read(value)
        turn = None if read is None else read.turn
        if not isinstance(turn, Turn):
            is_again = self.paces and not self.batched and (read is None or not read.is_first)
            self._unmade.wait(
                counted,
                records=len(values),
                batches=int(self.batched),
                retries=int(is_again),
            )
            if turn is not None:
                raise turn
        return turn, asked

    def skip(self, value: Any) -> None:
        """Give the turn of a value back that is not called for."""
        if (read := self.turns.take_read(value)) is not None and isinstance(read.turn, Turn):
            self.turns.end(read.turn)

    def _result(self, turn: Turn, given: Any) -> Any:
        """Return the result of a call, which may be a `Cost`.

        Raises:
            CostMistold: it tells no cost where one is needed, or what is none.
        """
        try:
            turn.told = self._costs.told(given)
            if not isinstance(given, Cost):
                return given
            self._add(self._costs.others(given))
        except TypeError as error:
            raise CostMistold(str(error)) from None
        return given.result

    def leaving_unpaid(self, handler: FailureHandler | None, *, stops: bool) -> FailureHandler:
        """Return a handler that leaves out values for which the budget was spent.

        Nobody else is asked: who leaves out what fails means what the service does not answer.

        Args:
            handler: of all other failures.
            stops: whether these values are left out as those are that were not read; else the
                error comes behind the last result.
        """

        def handle(value: Any, error: OperatorError) -> Any:
            if is_unpaid(error.__cause__):
                self.unpaid = None if stops else error.__cause__
                return skip(value, error)
            if handler is None:
                raise error
            return handler(value, error)

        return handle

    def figures(self, told: Statistics) -> Statistics:
        """Return the figures of the operator, but for calls that were given no turn.

        With a cache, calls are questions to that, of which it knows nothing.
        """
        return told if self._caches else self._unmade.figures(told)

    def leave(self) -> None:
        """Wake whoever waits for a turn; there is none any more."""
        self.turns.close()

    def close(self) -> None:
        """Let go of what is open, when no call runs any more."""
        self._book.close()
        if self._exchange is not None:
            self._exchange.close()


def _never(_: Any) -> bool:
    return False


async def _awaited(returned: Any) -> Any:
    if not inspect.isawaitable(returned):
        raise not_awaitable(returned)
    return await returned
