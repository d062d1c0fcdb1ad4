"""Clocks for a loop that runs in its own thread while another thread sends it requests.

An operator may run its event loop in a thread and request results from outside, with
`asyncio.run_coroutine_threadsafe(results.next_batch(), loop).result()`. The outside thread lives on
the same clock as the loop: while no outside thread waits, an outside thread is running, and running
takes no virtual time. So

* the clock moves only while a coroutine that was submitted from outside is unfinished;
* a submitted coroutine begins, and its answer leaves, when the loop has nothing left to do in this
  instant.

With one thread outside, one of the two runs at a time: a run is deterministic, down to the order of
events. The operator's code is plain asyncio and knows nothing of this. Only coroutines submitted by
`asyncio.run_coroutine_threadsafe` count; a callback by `call_soon_threadsafe` just runs. All
bookkeeping happens on the loop's thread, so nothing needs a lock.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any, TypeVarTuple, Unpack

from asyncwait.conformance.harness._run import VirtualLoop

Ts = TypeVarTuple("Ts")

# `run_coroutine_threadsafe` schedules a closure; its code is a constant of the function.
_SUBMISSION_CODE = asyncio.run_coroutine_threadsafe.__code__.co_consts


class OutsideVirtualLoop(VirtualLoop):
    """A `VirtualLoop` whose time stands still while no outside thread waits for it."""

    def __init__(self, on_submit: Callable[[], None] = lambda: None) -> None:
        self._on_submit = on_submit
        self._awaited: dict[asyncio.Task[Any], None] = {}
        self._settling: deque[asyncio.Future[None]] = deque()
        super().__init__()

    @property
    def awaited(self) -> tuple[asyncio.Task[Any], ...]:
        """Unfinished tasks that outside threads wait for; cancelling a task frees its thread."""
        return tuple(self._awaited)

    def settle(self) -> bool:
        """Let an outside request take its next step, now that the loop has nothing else to do."""
        while self._settling:
            future = self._settling.popleft()
            if not future.done():
                future.set_result(None)
                return True
        return False

    def may_jump(self) -> bool:
        """Return whether an outside thread waits."""
        return bool(self._awaited)

    def call_soon_threadsafe(
        self, callback: Callable[[Unpack[Ts]], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if getattr(callback, "__code__", None) in _SUBMISSION_CODE:
            return super().call_soon_threadsafe(self._submit, callback, context=context)
        return super().call_soon_threadsafe(callback, *args, context=context)

    def _submit(self, callback: Callable[..., object]) -> None:
        self._on_submit()
        usual = self.get_task_factory()
        self.set_task_factory(self._make_awaited)
        try:
            callback()
        finally:
            self.set_task_factory(usual)

    def _make_awaited(
        self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(self._answer(coro), loop=loop, **options)
        self._awaited[task] = None
        # Runs in the turn that wakes the thread outside, before it and before the next `select`.
        task.add_done_callback(self._awaited.pop)
        # A task may be cancelled before it has begun; nothing else would then close the coroutine.
        task.add_done_callback(lambda _: coro.close())
        return task

    async def _answer(self, coro: Coroutine[Any, Any, Any]) -> Any:
        await self._settled()
        try:
            return await coro
        finally:
            await self._leave()

    async def _leave(self) -> None:
        """Wait like `_settled`; an answer that exists can't be cancelled any more."""
        while True:
            try:
                return await self._settled()
            except asyncio.CancelledError:
                continue

    async def _settled(self) -> None:
        future = self.create_future()
        self._settling.append(future)
        await future
