"""Runs an operator on a loop to its end: on a virtual clock or the real one, within bounds.

A coroutine function runs on either loop; the host is the task in which an operator lives and its
consumer reads; the census tells what is left on the loop.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import anyio
from msgspec import Struct

from asyncwait.conformance.harness._clock import SpinWatch, VirtualLoop, live_timers
from asyncwait.spec import MissingExtra

if TYPE_CHECKING:
    import trio

T = TypeVar("T")

LoopName: TypeAlias = Literal["asyncio", "trio"]

Main: TypeAlias = Callable[[SpinWatch], Awaitable[T]]
"""What is run; it gets the watch that notices a spinning loop."""

GRACE = 1.0
"""Seconds of the loop's clock that cancelled tasks are given to end before they are left alone."""


def run_virtual(
    main: Main[T],
    loop: LoopName = "asyncio",
    *,
    loop_factory: Callable[[], VirtualLoop] = VirtualLoop,
) -> T:
    """Run `main` to its end on a virtual clock.

    Args:
        main: gets the watch that notices a spinning loop.
        loop: "asyncio" or "trio".
        loop_factory: of the asyncio loop.

    Raises:
        MissingExtra: trio is asked for and not installed.
    """
    if loop == "trio":
        return _run_trio(main, virtual=True)
    made = loop_factory()
    return _run_asyncio(main, made, made.spin)


def run_real(
    main: Main[T],
    loop: LoopName = "asyncio",
    *,
    loop_factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
) -> T:
    """Run `main` to its end on the real clock, on which no spinning is noticed.

    Args:
        main: see `run_virtual`.
        loop: "asyncio" or "trio".
        loop_factory: of the asyncio loop.

    Raises:
        MissingExtra: trio is asked for and not installed.
    """
    if loop == "trio":
        return _run_trio(main, virtual=False)
    return _run_asyncio(main, loop_factory(), SpinWatch())


def _run_asyncio(main: Main[T], loop: asyncio.AbstractEventLoop, spin: SpinWatch) -> T:
    async def run() -> T:
        _name_the_loop()
        return await main(spin)

    try:
        return loop.run_until_complete(run())
    except (KeyboardInterrupt, SystemExit):
        # Raised by plan; asyncio reports each task that raised it, too, at some later time.
        loop.set_exception_handler(lambda *_: None)
        raise
    finally:
        try:
            _wind_up(loop, spin)
        finally:
            loop.close()


def _name_the_loop() -> None:
    """Have the harness's own pieces work in plain callbacks of the loop, where no task runs.

    An operator may call the function there. Where sniffio is installed, anyio asks it which loop
    that is, and what `anyio.run` has told it.
    """
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set("asyncio")


def _wind_up(loop: asyncio.AbstractEventLoop, spin: SpinWatch) -> None:
    """Do what `asyncio.run` does at its end, but not for ever: tasks may refuse to end."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left and not _run_bounded(loop, spin, _gone(left)):
        # They are dropped as they are; asyncio would report each of them, at some later time.
        loop.set_exception_handler(lambda *_: None)
    _run_bounded(loop, spin, loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())


async def _gone(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def _run_bounded(
    loop: asyncio.AbstractEventLoop, spin: SpinWatch, coroutine: Coroutine[Any, Any, object]
) -> bool:
    """Run `coroutine`, for so long and so many turns at most; return whether it came to its end."""
    task = loop.create_task(coroutine)
    task.add_done_callback(lambda _: loop.stop())
    spin.restart(loop.stop)
    bound = loop.call_later(GRACE, loop.stop)
    try:
        loop.run_forever()
    finally:
        bound.cancel()
        if getcoroutinestate(coroutine) == CORO_CREATED:
            coroutine.close()  # The loop was stopped before it began.
    return task.done()


def _run_trio(main: Main[T], *, virtual: bool) -> T:
    try:
        import trio
        import trio.testing
    except ImportError:
        raise MissingExtra("trio", "trio") from None
    spin = SpinWatch()
    if not virtual:
        return trio.run(main, spin)
    clock = trio.testing.MockClock(autojump_threshold=0)
    watcher = _TrioWatcher(spin, clock)
    # Not through anyio: its early releases drop the options, and with them the clock.
    return trio.run(main, spin, clock=clock, instruments=[watcher])  # type: ignore[list-item]


class _TrioWatcher:
    """A trio instrument: is told of each turn of the loop."""

    def __init__(self, spin: SpinWatch, clock: "trio.testing.MockClock") -> None:
        self._spin = spin
        self._clock = clock

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        if self._spin.turn(self._clock.current_time()):
            self._spin.spin()


Overdue: TypeAlias = Literal["hung", "livelock"]


class Host:
    """Runs a life in bounded time.

    On asyncio it is a plain task, in no scope of anyio: what the operator sees is what it would see
    in any program. One that does not end when it is cancelled is left alone.

    Args:
        limit: seconds that a life may last.
    """

    def __init__(
        self, loop: LoopName, spin: SpinWatch, limit: float, overdue: Callable[[Overdue], None]
    ) -> None:
        self._loop = loop
        self._spin = spin
        self._limit = limit
        self._overdue = overdue

    async def run(self, life: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Run `life`; return whether it is over."""
        return await (self._on_trio(life) if self._loop == "trio" else self._on_asyncio(life))

    async def _on_asyncio(self, life: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        task = asyncio.create_task(life())
        for seconds in (self._limit, GRACE):
            overdue = await self._wait(task, seconds)
            if overdue is None:
                return True
            self._overdue(overdue)
            task.cancel()
        return False

    async def _wait(self, task: asyncio.Task[None], seconds: float) -> Overdue | None:
        """Wait for `task` for so long and so many turns at most; return what it did too long."""
        spun = asyncio.get_running_loop().create_future()
        self._spin.restart(lambda: spun.set_result(None))
        await asyncio.wait({task, spun}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            if not task.cancelled():
                task.result()
            return None
        return "livelock" if spun.done() else "hung"

    async def _on_trio(self, life: Callable[[], Awaitable[None]]) -> bool:
        with anyio.move_on_after(self._limit) as bound:

            def spun() -> None:
                self._overdue("livelock")
                bound.cancel()

            self._spin.restart(spun)
            await life()
            return True
        self._overdue("hung")
        return True


class Census(Struct, frozen=True):
    """How many tasks and timers there are."""

    tasks: int = 0
    timers: int = 0

    @classmethod
    def take(cls) -> "Census":
        """Count those on the running loop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            import trio  # an extra, and here it runs already

            return cls(trio.lowlevel.current_statistics().tasks_living, 0)
        return cls(len(asyncio.all_tasks(running)), len(live_timers(running)))

    def beyond(self, before: "Census") -> "Census":
        """Return how many there are more than `before`."""
        return Census(max(0, self.tasks - before.tasks), max(0, self.timers - before.timers))
