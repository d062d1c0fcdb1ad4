"""What operators in plain asyncio share: how they await calls, and how they outlast a cancel."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from asyncwait.backends.faulty.sound._contract import Answer, Answered, Handle, raising
from asyncwait.backends.faulty.sound._shell import Shell
from asyncwait.spec import Record, awaitable_of, let_pass


class AsyncioShell(Shell):
    """An operator in plain asyncio."""

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

    async def _answer(self, record: Record) -> Answered:
        """Call the function in either form, and wait for its answer."""
        try:
            if self._parts.call is None:
                return await self._future_answer(record)
            returned = await awaitable_of(record, self._parts.call(record.value))
        except BaseException as error:
            let_pass(error)
            if self._is_cancelled(error):
                raise
            return self._loop.time(), raising(error)
        return self._loop.time(), lambda: returned

    def _future_answer(self, record: Record) -> "asyncio.Future[Answered]":
        """Call the function in callback form."""
        assert self._parts.invoke is not None
        future: asyncio.Future[Answered] = self._loop.create_future()

        def put(answer: Answer) -> None:
            with suppress(RuntimeError):  # the loop is closed, and the operator long gone
                self._loop.call_soon_threadsafe(give, (self._loop.time(), answer))

        def give(answered: Answered) -> None:
            if not future.done():
                future.set_result(answered)

        self._parts.invoke(record.value, Handle(put))
        return future

    def _is_cancelled(self, error: BaseException) -> bool:
        """Whether somebody cancels the present task; else user code made `error` up."""
        task = asyncio.current_task()
        cancelling = task is not None and task.cancelling() > 0
        return cancelling and isinstance(error, asyncio.CancelledError)
