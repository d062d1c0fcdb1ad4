"""The blocking front as an operator: a thread without a loop reads the results.

Coroutines that the front runs on a loop of its own run here on the suite's loop, whose time stands
still while the thread is on its way.
"""

import asyncio
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractAsyncContextManager
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any

import anyio

from asyncwait.backends.threads._operator import open_plain
from asyncwait.backends.threads._plain import threads_wait
from asyncwait.backends.threads._thread_pool import ThreadPool
from asyncwait.backends.threads.conformance._loops import PatientLoop
from asyncwait.backends.threads.conformance._server import Hired, Server
from asyncwait.conformance.running import plain_opener
from asyncwait.spec import Mode, OperatorConfig

MODES: tuple[Mode, ...] = ("ordered", "unordered", "key-ordered")


class Interrupted(BaseException):
    """A signal has ended the wait for a result."""


class _Reader:
    """A thread that runs requested functions, one after the other.

    Attributes:
        present: has an item while the thread is on its way; none while it waits for the loop.
    """

    def __init__(self, loop: PatientLoop) -> None:
        self._loop = loop
        self.is_over = False
        self.interrupt: Callable[[], object] = bool
        self.calm: Callable[[], object] = bool
        self.present: list[None] = []
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        context = copy_context()
        thread = threading.Thread(target=context.run, args=(self._work,), daemon=True)
        thread.start()

    def ask(self, function: Callable[[], Any]) -> asyncio.Future[Any]:
        """Let the thread call `function`; called on the loop."""
        future = self._loop.create_future()
        if self.is_over:  # No job waits then.
            _outcome(future, function)()
            return future

        def job() -> None:
            tell = _outcome(future, function)
            self._loop.call_soon_threadsafe(tell)
            self.rests()

        # The consumer may have gone.
        future.add_done_callback(lambda told: told.cancelled() or told.exception())
        self.goes()
        self._jobs.put(job)
        return future

    def end(self) -> None:
        self.is_over = True
        self._jobs.put(None)

    def goes(self) -> None:
        """Note that the thread is on its way."""
        self.present.append(None)

    def rests(self) -> None:
        self.present.pop()
        self._loop.look()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _outcome(future: asyncio.Future[Any], function: Callable[[], Any]) -> Callable[[], object]:
    try:
        returned = function()
    except StopIteration:
        return partial(future.set_exception, StopAsyncIteration())
    except BaseException as error:
        return partial(future.set_exception, error)
    return partial(future.set_result, returned)


class _Lent(asyncio.AbstractEventLoop):
    """The loop of the suite in place of a loop that a thread runs."""

    def __init__(self, loop: PatientLoop, reader: _Reader) -> None:
        self._loop = loop
        self._reader = reader
        reader.interrupt, reader.calm = self.interrupt, self.calm
        self._runs = threading.Event()
        self._breaks: SimpleQueue[BaseException | None] = SimpleQueue()
        self._asked: list[asyncio.Task[Any]] = []
        self._is_interrupted = False

    def run_forever(self) -> None:
        """Wait until it is stopped, or an error breaks out of it."""
        self._runs.set()
        if (error := self._breaks.get()) is not None:
            raise error

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Any = None
    ) -> Any:
        """Let the loop call `callback`; the reader waits meanwhile."""
        handle = self._loop.call_soon_threadsafe(self._call, callback, *args, context=context)
        self._reader.rests()
        return handle

    def _call(self, callback: Callable[..., object], *args: Any) -> None:
        self._asked.clear()
        callback(*args)
        if not self._asked:
            self._reader.goes()
        elif self._is_interrupted:
            self.interrupt()

    def create_task(  # type: ignore[override]
        self, coroutine: Any, **_: Any
    ) -> Any:
        """Run a coroutine on the loop, unless it would end the loop of the suite."""
        if coroutine.__name__ == "_wind_up":
            coroutine.close()
            coroutine = asyncio.sleep(0)
        task = self._loop.create_task(coroutine)
        task.add_done_callback(self._done)  # before the report to the thread
        self._asked.append(task)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        if task in self._asked:
            self._reader.goes()

    def interrupt(self) -> None:
        """End the wait of the thread, as a signal does that breaks out of the loop.

        If the thread does not wait yet, its next request is interrupted; `calm` takes that back.
        """
        waits = any(not task.done() for task in self._asked)
        self._is_interrupted = not waits
        if waits:
            self._asked.clear()
            self._reader.goes()
            self._runs.clear()
            self._breaks.put(Interrupted())
            self._runs.wait()  # The thread has its answer.

    def calm(self) -> None:
        """Interrupt no later request."""
        self._is_interrupted = False

    def stop(self) -> None:
        self._breaks.put(None)

    def close(self) -> None:
        """Leave the loop open: it belongs to the suite."""


@Collection.register  # pyright: ignore[reportAttributeAccessIssue] - it is an ABC
class _AllThere:
    """The elements of a source that never waits; a collection is read without a thread."""

    def __init__(self, elements: Any) -> None:
        self._elements = elements

    def __iter__(self) -> Iterator[Any]:
        elements = aiter(self._elements)
        while True:
            try:
                anext(elements).__await__().send(None)
            except StopIteration as given:
                yield given.value
            except StopAsyncIteration:
                return
            else:
                raise AssertionError("expected a source that never waits, got one that waits")

    async def aclose(self) -> None:
        await self._elements.aclose()


async def _end_of(asked: asyncio.Future[Any]) -> None:
    """Wait for the thread, which cannot be cancelled; then raise the cancellation of this wait."""
    cancelled: BaseException | None = None
    with anyio.CancelScope(shield=True):
        while not asked.done():
            try:
                await asyncio.wait([asked])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        raise cancelled


async def _wait_for(asked: asyncio.Future[Any], reader: _Reader) -> None:
    """Wait for the thread; if this wait is cancelled, interrupt the wait of the thread."""
    try:
        await asyncio.wait([asked])
    except BaseException:
        reader.interrupt()
        try:
            await _end_of(asked)
        finally:
            reader.calm()
        raise


class _Read:
    def __init__(self, results: Any, reader: _Reader) -> None:
        self._results = results
        self._reader = reader
        self._asked: asyncio.Future[Any] | None = None
        self.statistics = results.statistics

    def __aiter__(self) -> "_Read":
        return self

    async def __anext__(self) -> Any:
        kept = None if self._reader.is_over else self._asked
        asked = kept or self._reader.ask(self._results.__next__)
        self._asked = None
        try:
            await _wait_for(asked, self._reader)
        except BaseException:
            if not isinstance(asked.exception(), Interrupted):
                self._asked = asked  # The result came all the same.
            raise
        return asked.result()


class _Front(AbstractAsyncContextManager[_Read]):
    def __init__(self, stream: Any, reader: _Reader, server: Server) -> None:
        self._stream = stream
        self._reader = reader
        self._server = server

    async def __aenter__(self) -> _Read:
        entering = self._reader.ask(self._stream.__enter__)
        try:
            await _wait_for(entering, self._reader)
            return _Read(entering.result(), self._reader)
        except BaseException as error:
            if entering.exception() is None:  # The operator was entered all the same.
                await self._leave(error)
            else:
                self._reader.end()
                await self._server.shut()
            raise

    async def __aexit__(self, _: object, error: BaseException | None, __: object) -> None:
        await self._leave(error)

    async def _leave(self, error: BaseException | None) -> None:
        try:
            leaving = self._reader.ask(lambda: self._stream.__exit__(None, error, None))
            await _end_of(leaving)
            leaving.result()
            self._server.check_told()
        finally:
            self._reader.end()
            await self._server.shut()


def open_front(
    config: OperatorConfig, fn: Any, elements: Any, restore: Any = None, *, single: bool
) -> AbstractAsyncContextManager[Any]:
    """Open the front with a function that sends requests to a server on the loop."""
    loop: Any = asyncio.get_running_loop()
    reader, server = _Reader(loop), Server(fn, loop)
    loop.pools.append(reader)
    loop.servers.append(server)

    def hire() -> ThreadPool:
        hired = Hired(loop, server)
        loop.pools.append(hired)
        return hired

    build: Any = threads_wait
    lent: Any = _Lent

    def opens(mode: Mode) -> Callable[..., Any]:
        wait = build(mode, partial(open_plain, hire=hire), lambda: lent(loop, reader))
        return lambda source, *given, **options: _Front(
            wait(_AllThere(source), *given, **options), reader, server
        )

    open_operator: Any = plain_opener({mode: opens(mode) for mode in MODES}, single=single)
    opened: AbstractAsyncContextManager[Any] = open_operator(config, server, elements, restore)
    return opened
