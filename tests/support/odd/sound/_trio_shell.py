"""What operators in plain trio share: how they await calls, and how they outlast a cancel."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import trio

from asyncwait.spec import Element, Record
from asyncwait.toolkit import awaitable_of, plain_error, reraise_fatal
from odd.sound._contract import Answer, Handle, Reply
from odd.sound._shell import Shell

_INTERRUPTED = RuntimeError("the operator was cancelled from outside")


class TrioShell(Shell):
    """An operator in plain trio.

    Its tasks live in a nursery inside a nursery: cancelling the inner one leaves the consumer be.

    Attributes:
        grace: seconds that a cancelled call has to end in.
        turns: of the loop that it has then.
    """

    grace: float
    turns: int
    _abandoned_now = 0

    async def _start(self) -> None:
        self._now = trio.lowlevel.current_clock().current_time
        self._door = trio.lowlevel.current_trio_token().run_sync_soon
        self._scope = trio.CancelScope()
        self._manager = trio.open_nursery()
        self._outer = await self._manager.__aenter__()
        self._outer.start_soon(self._run)

    async def _run(self) -> None:
        try:
            with self._scope:
                async with trio.open_nursery() as self._nursery:
                    self._nursery.start_soon(self._heed)
                    self._work()
        except BaseException:
            # So that a consumer that shields itself does not wait for ever.
            self._finish(_INTERRUPTED)
            raise

    async def __anext__(self) -> Element:
        try:
            return await super().__anext__()
        except RuntimeError as error:
            if error is _INTERRUPTED:
                await self.let_cancel()
            raise

    async def let_cancel(self) -> None:
        """Let the cancellation of the consumer come first: mostly it has the same reason."""
        await trio.lowlevel.checkpoint_if_cancelled()

    async def _heed(self) -> None:
        """Let nothing more out as soon as a task ends the others, which may clean up for long."""
        try:
            await trio.sleep_forever()
        finally:
            self._finish(_INTERRUPTED)

    @abstractmethod
    def _work(self) -> None:
        """Start the tasks of the operator in its nursery."""

    def _finish(self, error: BaseException | None) -> None:
        self._end = self._end or (error,)
        self._source.stop()
        self._scope.cancel()

    async def _leave(self) -> None:
        self._outer.cancel_scope.shield = True
        if self._end == (_INTERRUPTED,):
            self._end = (None,)  # whoever reads on after leaving finds nothing, as ever
        try:
            await self._manager.__aexit__(None, None, None)
        except BaseExceptionGroup as group:
            raise plain_error(group) from None
        finally:
            await self._undisturbed(self._close())

    # Calls

    async def _judge(
        self, ended: Callable[[], Awaitable[object]], has_ended: Callable[[], bool]
    ) -> None:
        with trio.move_on_after(self.grace):
            await ended()
        for _ in range(self.turns):
            await trio.lowlevel.checkpoint()
        if has_ended():
            return
        self._abandoned_now += 1
        self._abandon(self._abandoned_now)
        await ended()
        self._abandoned_now -= 1

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, however the present task is cancelled."""
        with trio.CancelScope(shield=True):
            await work

    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""
        try:
            if self._parts.call is None:
                await self._late_answer(record, reply)
                return
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            if isinstance(error, trio.Cancelled):
                raise
            reply.fail(self._now(), error)
        else:
            reply.give(self._now(), lambda: returned)

    async def _late_answer(self, record: Record, reply: Reply) -> None:
        assert self._parts.invoke is not None
        answered = trio.Event()

        def put(answer: Answer) -> None:
            if reply.give(self._now(), answer):
                with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                    self._door(answered.set)

        self._parts.invoke(record.value, Handle(put))
        await answered.wait()
