"""What operators in plain asyncio share: how they await calls, and how they outlast a cancel."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from asyncwait.spec import Record
from asyncwait.toolkit import awaitable_of, reraise_fatal
from odd.sound._contract import Answer, Handle, Reply
from odd.sound._shell import Shell


class AsyncioShell(Shell):
    """An operator in plain asyncio."""

    is_bound = True

    async def _start(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def _undisturbed(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, however often the present task is cancelled meanwhile."""
        task = asyncio.get_running_loop().create_task(work)
        cancelled: asyncio.CancelledError | None = None
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
        task.result()

    async def _answer(self, record: Record, reply: Reply) -> None:
        """Call the function in either form, and wait until there is an answer in `reply`."""
        if self._parts.call is None:
            await self._future_answer(record, reply)
            return
        try:
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            reraise_fatal(error)
            reply.fail(self._loop.time(), error)  # too late to count if the operator cancelled it
        else:
            reply.give(self._loop.time(), lambda: returned)

    def _future_answer(self, record: Record, reply: Reply) -> "asyncio.Future[None]":
        """Call the function in callback form; the future is set when there is an answer."""
        assert self._parts.invoke is not None
        answered: asyncio.Future[None] = self._loop.create_future()

        def put(answer: Answer) -> None:
            if reply.give(self._loop.time(), answer):
                with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                    self._loop.call_soon_threadsafe(wake)

        def wake() -> None:
            if not answered.done():
                answered.set_result(None)

        try:
            self._parts.invoke(record.value, Handle(put))
        except BaseException as error:
            reraise_fatal(error)
            reply.fail(self._loop.time(), error)
            wake()
        return answered

    def _is_cancelled(self, error: BaseException) -> bool:
        """Whether somebody cancels the present task; else user code made `error` up."""
        task = asyncio.current_task()
        cancelling = task is not None and task.cancelling() > 0
        return cancelling and isinstance(error, asyncio.CancelledError)
