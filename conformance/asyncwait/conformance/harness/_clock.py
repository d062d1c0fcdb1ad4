"""Virtual clocks: time jumps to the next timer as soon as everything waits.

One event loop turn after another without time moving is a livelock; after `MAX_TURNS` of them the
clock calls `on_spin` once, and the run it belongs to is ended from outside.
"""

import asyncio
import selectors
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import anyio

from asyncwait.spec import MissingExtra

if TYPE_CHECKING:
    import trio

T = TypeVar("T")

LoopName: TypeAlias = Literal["asyncio", "trio"]

MAX_TURNS = 20_000
"""Loop turns within one instant. Sound operators need a few for each event: hundreds at most."""


class SpinWatch:
    """Counts loop turns in one instant of the clock.

    Args:
        on_spin: called once, on the loop, when there were too many.
    """

    def __init__(self, on_spin: Callable[[], None] = lambda: None) -> None:
        self.on_spin = on_spin
        self._turns = 0
        self._now = 0.0

    def turn(self, now: float) -> bool:
        """Note one turn at the time `now`; return whether this is the one too many."""
        if now != self._now:
            self._now, self._turns = now, 0
        self._turns += 1
        return self._turns == MAX_TURNS


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
        return super().call_soon(callback, *args, context=context)

    def settle(self) -> bool:
        """Make the last steps of this instant runnable; return whether there were any."""
        return False

    def may_jump(self) -> bool:
        """Return whether the clock may move now; for loops that outside threads talk to."""
        return True

    def jump(self, seconds: float) -> None:
        """Move the clock; for the selector."""
        self._now += seconds

    def turned(self) -> None:
        """Note a turn of the loop without a jump; for the selector."""
        if self.spin.turn(self._now):
            self.call_soon(self.spin.on_spin)

    def pending_timers(self) -> int:
        """Return how many timers are set and not cancelled.

        asyncio has no public way to ask, and a timer that outlives its operator is a leak.
        """
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return sum(not timer.cancelled() for timer in timers)


def run_virtual(
    main: Callable[[SpinWatch], Awaitable[T]],
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
        return _run_trio(main)

    async def on_loop() -> T:
        running = asyncio.get_running_loop()
        assert isinstance(running, VirtualLoop)
        return await main(running.spin)

    return anyio.run(on_loop, backend="asyncio", backend_options={"loop_factory": loop_factory})


def _run_trio(main: Callable[[SpinWatch], Awaitable[T]]) -> T:
    try:
        import trio
        import trio.testing
    except ImportError:
        raise MissingExtra("trio", "trio") from None
    spin = SpinWatch()
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
            self._spin.on_spin()


def loop_clock() -> Callable[[], float]:
    """Return the clock of the running loop, as a function that any thread may call."""
    try:
        return asyncio.get_running_loop().time
    except RuntimeError:
        import trio

        return trio.lowlevel.current_clock().current_time


def loop_blocker() -> Callable[[float], object]:
    """Return the function that blocks the running loop for so many seconds: its clock just moves.

    On a real clock it sleeps.
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
    """Return the function with which other threads have something run on the running loop."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:
        import trio

        return trio.lowlevel.current_trio_token().run_sync_soon
