"""Who may call now: values in the order of the source, and further attempts before them."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from math import inf
from threading import Lock, get_ident
from typing import Any, Protocol

from msgspec import Struct

from asyncwait.toolkit._limits._book import Book, Costs
from asyncwait.toolkit._limits._exchange import Exchange
from asyncwait.toolkit._limits._meters import Turn
from asyncwait.toolkit._limits._vocabulary import NotCalled
from asyncwait.toolkit._loop import Bell, running_loop, running_trio


class Read(Struct, eq=False):
    """A value that was read, or is to be called for again, with what its call will find.

    Args:
        value: the very object.
        turn: the turn; why there is none; or None if it was given back.
        is_first: whether the call is the first.
    """

    value: Any
    turn: Turn | Exception | None
    is_first: bool = True


class TurnsClosed(NotCalled):
    """The operator is left: nobody has a turn any more."""


class Unwanted(NotCalled):
    """The value of a call was decided while that waited for its turn."""


class InThread(Protocol):
    """A call that a thread runs, and that nobody can cancel; it may wait for its turn yet.

    Attributes:
        is_wanted: whether anybody waits for what comes of it.
        bell: rung on the loop of the operator when nobody does any more.
    """

    is_wanted: bool
    bell: Bell | None


CALL_IN_THREAD: ContextVar[InThread] = ContextVar("CALL_IN_THREAD")
"""What the present thread runs."""


class Turns:
    """Gives calls of one operator their turns; made on its loop.

    The source takes a turn for a value before it is read, so that no deadline runs meanwhile. A
    further attempt takes one in its call. It goes first, and may have the turn of a value that was
    read and whose call has not begun: that call may well wait for this one to make room. Where
    others keep to the limits, too, such a turn is given back, and the call takes one like a further
    attempt: its operator may have no room for it for as long as its consumer likes.

    Args:
        book: says when.
        costs: of the calls.
        exchange: says so for others, too; None for nobody.
    """

    def __init__(self, book: Book, costs: Costs, exchange: Exchange | None = None) -> None:
        self._book = book
        self._costs = costs
        self._exchange = exchange
        self._loop = running_loop()
        self._trio = running_trio()
        self._token = None if self._trio is None else self._trio.lowlevel.current_trio_token()
        self._asyncio = asyncio.get_running_loop() if self._trio is None else None
        self._thread = get_ident()
        self._waiting: deque[Bell] = deque()
        self._source = Bell()
        self._read: list[Read] = []
        """Until their calls come."""
        self._lock = Lock()
        """Of that list: threads look into it, too."""
        self._is_closed = False
        if exchange is not None:
            exchange.on_idle = self._give_back_idle

    async def read(self, value: Any) -> None:
        """Wait until a call for a value may begin; the call finds its turn.

        Raises:
            BudgetSpent: none may begin any more.
        """
        try:
            amounts = self._costs.of([value])
        except Exception as error:  # The value fails with it, and no other.
            self._read.append(Read(value, error))
            return
        while True:
            if self._waiting:
                await self._source.wait()
                continue
            got = self._book.take(amounts)
            if not isinstance(got, Turn):
                await self._rest(self._source, got)
                continue
            await self._granted(got, Bell())
            if not self._waiting:
                break
            self.end(got)  # so that who waits has it
        if self._is_closed:  # Nobody would give it back.
            self.end(got)
        else:
            self._read.append(Read(value, got))

    async def read_again(self, value: Any, is_wanted: Callable[[], bool]) -> None:
        """Wait until one more call for a value may begin; the call finds its turn, or the error."""
        try:
            turn: Turn | Exception = await self.another([value])
        except Exception as error:  # The value fails with it, and no other.
            turn = error
        if self._is_closed or not is_wanted():
            if isinstance(turn, Turn):
                self.end(turn)
        else:
            self._read.append(Read(value, turn, is_first=False))

    async def _granted(
        self, turn: Turn, bell: Bell, refuse: Callable[[], object] = lambda: None
    ) -> None:
        """Wait until others leave room for it, too; give it back where that is not to be.

        Args:
            turn: which this operator has room for.
            bell: rung when there may be something to see.
            refuse: raises if it is not wanted any more.
        """
        if self._exchange is None:
            return
        answers: list[BaseException | None] = []

        def answered(error: BaseException | None) -> None:
            answers.append(error)
            with suppress(RuntimeError):  # The loop is gone: nobody waits for a turn.
                self._loop.call_from_thread(bell.ring)

        self._exchange.ask(turn, answered)
        try:
            while not answers:
                refuse()
                await bell.wait()
            refuse()
            if answers[0] is not None:
                raise answers[0]
        except BaseException:
            self.end(turn)
            raise

    def take_read(self, value: Any) -> Read | None:
        """Take what the call of a value that was read finds; None for nothing. For any thread."""
        with self._lock:
            place = next((at for at, each in enumerate(self._read) if each.value is value), None)
            return None if place is None else self._read.pop(place)

    def begin(self, turn: Turn) -> None:
        """Note that a call begins; for any thread."""
        self._book.begin(turn)
        if self._exchange is not None:
            self._exchange.begin(turn)

    def end(self, turn: Turn, error: BaseException | None = None) -> None:
        """Note that a call has ended, or does not begin; for any thread."""
        self._end(turn, error)
        if get_ident() == self._thread:
            self.ring()
            return
        with suppress(RuntimeError):  # The loop is gone: nobody waits for a turn.
            self._loop.call_from_thread(self.ring)

    async def another(self, values: Sequence[Any], call: InThread | None = None) -> Turn:
        """Wait until one more call may begin.

        Args:
            values: of the call.
            call: that a thread is about to make; None for one that is cancelled where it waits.

        Raises:
            BudgetSpent: none may.
            CostTooLarge: this one never may.
            TurnsClosed: the operator is left.
            Unwanted: nobody wants what comes of `call`.
        """

        def refuse() -> None:
            self._require_wanted(call)

        bell = Bell()
        if call is not None:
            call.bell = bell
        self._waiting.append(bell)
        try:
            amounts = self._costs.of(values)
            while True:
                refuse()
                if self._waiting[0] is not bell:
                    await bell.wait()
                    continue
                got = self._book.take(amounts)
                if isinstance(got, Turn):
                    if self._exchange is not None:  # which does not say whether there is room
                        self._give_back_all()
                    await self._granted(got, bell, refuse)
                    return got
                if not self._give_back():
                    await self._rest(bell, got)
        finally:
            self._waiting.remove(bell)
            self.ring()

    def another_in_a_thread(self, values: Sequence[Any]) -> Turn:
        """Do the same in a thread, which waits."""
        call = CALL_IN_THREAD.get(None)
        if self._asyncio is None:
            turn: Turn = self._trio.from_thread.run(
                self.another, values, call, trio_token=self._token
            )
        else:
            waiting = asyncio.run_coroutine_threadsafe(self.another(values, call), self._asyncio)
            turn = waiting.result()
        try:  # The thread may have slept since.
            self._require_wanted(call)
        except NotCalled:
            self.end(turn)
            raise
        return turn

    def _require_wanted(self, call: InThread | None) -> None:
        if self._is_closed:
            raise TurnsClosed("the operator is left: no further call begins")
        if call is not None and not call.is_wanted:
            raise Unwanted("its value is decided: no call for it begins any more")

    def _give_back(self) -> bool:
        """Give the last turn back that was taken for a value; return whether there was one."""
        with self._lock:
            for each in reversed(self._read):
                if isinstance(turn := each.turn, Turn):
                    each.turn = None
                    self._end(turn)
                    return True
        return False

    def _give_back_idle(self, turn: Turn) -> None:
        """Give the turn of a value back, if its call has not begun: it will wait for another."""
        with self._lock:
            found = next((each for each in self._read if each.turn is turn), None)
            if found is None:
                return
            found.turn = None
        self._end(turn)

    def _give_back_all(self) -> None:
        while self._give_back():
            pass

    def _end(self, turn: Turn, error: BaseException | None = None) -> None:
        self._book.end(turn, error)
        if self._exchange is not None:
            self._exchange.end(turn)

    async def _rest(self, bell: Bell, delay: float) -> None:
        """Sleep until a ring, or for so many seconds."""
        if delay == inf:
            await bell.wait()
        elif self._trio is not None:
            with self._trio.move_on_after(delay):
                await bell.wait()
        else:
            assert self._loop.call_at is not None
            timer = self._loop.call_at(self._loop.time() + delay, bell.ring)
            try:
                await bell.wait()
            finally:
                timer.cancel()

    def ring(self) -> None:
        """Wake who is next."""
        (self._waiting[0] if self._waiting else self._source).ring()

    def close(self) -> None:
        """Wake whoever waits, for nothing."""
        self._is_closed = True
        self._give_back_all()
        for bell in self._waiting:
            bell.ring()
