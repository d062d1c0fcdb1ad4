"""Runs an operator on a loop to its end: on a virtual clock or the real clock, within bounds.

A coroutine function runs on either loop. The host is the task in which an operator lives and its
consumer reads. The census counts what is left on the loop.

Virtual time jumps to the next timer as soon as everything waits. Loop turns without end in one
instant are a livelock; after `MAX_TURNS` of them the clock calls `on_spin` once, and the run is
ended from outside.

On asyncio a cancelled scope of anyio makes the loop turn until its tasks have left it: the scope
cancels them again in each turn. Time goes on meanwhile, as it does on a real clock, where a turn
takes some microseconds.

No turn is timed by the real clock. An operator that blocks its loop for longer than a scenario may
take is ended with its process, and the trace says "blocked" (END-8). The harness ignores a shorter
busy wait: a turn takes as long where the machine is busy or memory is collected. A bound that
convicts no sound operator is hardly below that patience, and within it nothing is late by a clock
that stands still.
"""

import asyncio
import selectors
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from inspect import CORO_CREATED, getcoroutinestate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import anyio
from msgspec import Struct

from asyncwait.spec import MissingExtra

MAX_TURNS = 20_000
"""Loop turns within one instant. Sound operators need a few for each event: hundreds at most."""

MAX_WAKES = 30_000
"""Instants in one leg. The largest scenarios of sound operators need a third of them."""

REDELIVERIES = 1_000
"""Loop turns within one instant after which time goes on while a scope cancels again and again."""

_REDELIVERY = "_deliver_cancellation"
"""Name of the method with which anyio's scopes cancel again, in all releases from 4.0 on."""


class SpinWatch:
    """Counts loop turns in one instant of the clock."""

    def __init__(self, on_spin: Callable[[], object] = lambda: None) -> None:
        self._on_spin = on_spin
        self._turns = 0
        self.in_all = 0
        self.wakes = 0
        """Instants in which the loop has run."""
        self._now = 0.0

    def restart(self, on_spin: Callable[[], object]) -> None:
        """Count from 0 again, and call `on_spin` instead."""
        self._on_spin, self._turns = on_spin, 0

    def spin(self) -> None:
        """Report too many turns."""
        self._on_spin()

    def turn(self, now: float) -> bool:
        """Note one turn at the time `now`; return whether it is one too many."""
        if now != self._now:
            self._now, self._turns = now, 0
            self.wakes += 1
        self._turns += 1
        self.in_all += 1
        has_woken = self._turns == 1 and self.wakes == MAX_WAKES
        return has_woken or self._turns == MAX_TURNS


class _JumpingSelector(selectors.DefaultSelector):
    """Polls files without waiting, and moves the clock instead of sleeping."""

    def __init__(self, loop: "VirtualLoop") -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0 or self._loop.settle():
            self._loop.turned()
            return ready
        if timeout is None or not self._loop.may_jump():
            return super().select(None)
        self._loop.jump(timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that starts at time 0 and never sleeps."""

    def __init__(self) -> None:
        self._now = 0.0
        self._cancels_again = False
        self._redeliveries = 0
        self.spin = SpinWatch()
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """Refuse other threads, as asyncio does in debug mode: they have `call_soon_threadsafe`.

        Without this a call from another thread works by luck: the harness waits for its threads.
        """
        if self.is_running() and asyncio._get_running_loop() is not self:  # noqa: SLF001
            raise RuntimeError("call_soon() from another thread; use call_soon_threadsafe()")
        if getattr(callback, "__name__", "") == _REDELIVERY:
            self._cancels_again = True
        return super().call_soon(callback, *args, context=context)

    def settle(self) -> bool:
        """Make the last steps of this instant runnable; return whether any were left."""
        return False

    def may_jump(self) -> bool:
        """Return whether the clock may move now; loops that serve outside threads override it."""
        return True

    def jump(self, seconds: float) -> None:
        """Move the clock; for the selector."""
        self._now += seconds
        self._redeliveries = 0

    def turned(self) -> None:
        """Note a turn of the loop without a jump; for the selector."""
        if self._cancels_again:
            self._cancels_again = False
            self._redeliveries += 1
            if self._redeliveries >= REDELIVERIES and self.may_jump():
                self._jump_to_next_timer()
        if self.spin.turn(self._now):
            self.call_soon(self.spin.spin)

    def _jump_to_next_timer(self) -> None:
        following = min((timer.when() for timer in live_timers(self)), default=self._now)
        self.jump(max(0.0, following - self._now))

    def pending_timers(self) -> int:
        """Return the number of set timers: a timer that outlives its operator is a leak."""
        return len(live_timers(self))


def live_timers(loop: asyncio.AbstractEventLoop) -> list[asyncio.TimerHandle]:
    """Return the timers that are set and not cancelled; asyncio has no public function for it."""
    timers: list[asyncio.TimerHandle] = loop._scheduled  # type: ignore[attr-defined] # noqa: SLF001
    return [timer for timer in timers if not timer.cancelled()]


def loop_clock() -> Callable[[], float]:
    """Return the clock of the running loop, as a function that any thread may call."""
    try:
        return asyncio.get_running_loop().time
    except RuntimeError:
        import trio

        return trio.lowlevel.current_clock().current_time


def loop_blocker() -> Callable[[float], object]:
    """Return the function that blocks the running loop for a number of seconds.

    A virtual clock just moves. A real clock sleeps.
    """
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        import trio
        import trio.testing

        clock = trio.lowlevel.current_clock()
        return clock.jump if isinstance(clock, trio.testing.MockClock) else time.sleep
    return running.jump if isinstance(running, VirtualLoop) else time.sleep


def loop_door() -> Callable[[Callable[[], object]], object]:
    """Return the function with which other threads run a callback on the running loop."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        import trio

        return trio.lowlevel.current_trio_token().run_sync_soon


if TYPE_CHECKING:
    import trio

T = TypeVar("T")

LoopName: TypeAlias = Literal["asyncio", "trio"]

Main: TypeAlias = Callable[[SpinWatch], Awaitable[T]]
"""The coroutine function to run; it gets the watch that notices a spinning loop."""

GRACE = 1.0
"""Seconds of the loop's clock in which cancelled tasks may end before they are abandoned."""


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
        loop_factory: makes the asyncio loop.

    Raises:
        MissingExtra: trio is not installed.
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
    """Run `main` to its end on the real clock, which notices no spinning; see `run_virtual`."""
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
    """Make the harness's own code work in plain callbacks of the loop, where no task runs.

    An operator may call the function there. If sniffio is installed, anyio asks sniffio for the
    name of the loop, which `anyio.run` would have set.
    """
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:
        sniffio.current_async_library_cvar.set("asyncio")


def _wind_up(loop: asyncio.AbstractEventLoop, spin: SpinWatch) -> None:
    """Do what `asyncio.run` does at its end, within a bound: tasks may refuse to end."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left and not _run_bounded(loop, spin, _gone(left)):
        # They are dropped; asyncio would report each of them at some later time.
        loop.set_exception_handler(lambda *_: None)
    _run_bounded(loop, spin, loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())


async def _gone(tasks: set[asyncio.Task[Any]]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)


def _run_bounded(
    loop: asyncio.AbstractEventLoop, spin: SpinWatch, coroutine: Coroutine[Any, Any, object]
) -> bool:
    """Run `coroutine` within a time and a number of turns; return whether it finished."""
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
    """A trio instrument: trio calls it on each turn of the loop."""

    def __init__(self, spin: SpinWatch, clock: "trio.testing.MockClock") -> None:
        self._spin = spin
        self._clock = clock

    def after_io_wait(self, timeout: float) -> None:  # noqa: ARG002 - trio's signature
        if self._spin.turn(self._clock.current_time()):
            self._spin.spin()


Overdue: TypeAlias = Literal["hung", "livelock"]


class Host:
    """Runs a coroutine function, the life of an operator, in bounded time.

    On asyncio it is a plain task, in no scope of anyio: the operator sees what it would see in any
    program. A task that does not end when it is cancelled is abandoned.

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
        """Wait for `task` within the bounds; return the bound that it exceeded, or None."""
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
    """Numbers of tasks and timers."""

    tasks: int = 0
    timers: int = 0

    @classmethod
    def take(cls) -> "Census":
        """Count the tasks and timers on the running loop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            import trio  # an extra, and here it runs already

            return cls(trio.lowlevel.current_statistics().tasks_living, 0)
        return cls(len(asyncio.all_tasks(running)), len(live_timers(running)))

    def beyond(self, before: "Census") -> "Census":
        """Return the numbers in excess of `before`."""
        return Census(max(0, self.tasks - before.tasks), max(0, self.timers - before.timers))
