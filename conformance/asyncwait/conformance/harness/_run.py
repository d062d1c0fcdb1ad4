"""Runs a coroutine function to its end, on a virtual clock or on the real one, on either loop."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from asyncwait.conformance.harness._clock import SpinWatch, VirtualLoop
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
