"""The checkpoint lock: no snapshot falls into an emission."""

from collections import deque
from collections.abc import Callable

from asyncwait.backends.emitter._life import Life
from asyncwait.backends.emitter._signal import Signal


class CheckpointLock:
    """Keeps emission and snapshot apart.

    With threads, this lock protected every step of the operator. On one loop a step is alone by
    itself, and only what takes several has to be protected. That is the emission of a record: from
    the moment when the consumer takes its first result until it has taken the last, and the emitter
    has removed the record from the queue. A snapshot in between would hold results that came out,
    or tear them apart (SNAP-3, SNAP-6). A snapshot is a single step, so nobody waits for it.

    Args:
        life: of the operator; what waits for the lock then is let go.
    """

    def __init__(self, life: Life) -> None:
        self._life = life
        self._steps: deque[Callable[[], object]] = deque()
        self._freed = Signal()
        self.is_held = False
        """Whether an emission has begun, and is not over."""
        self.on_release: Callable[[], object] = lambda: None
        """Called after what has waited."""
        life.when_over(self._freed.give)

    def hold(self) -> None:
        """Begin what takes more than a step; nobody else may be at it."""
        assert not self.is_held
        self.is_held = True

    def release(self) -> None:
        """End it; what has waited for it runs now, before anybody else may hold the lock."""
        self.is_held = False
        while self._steps and not self.is_held:
            self._steps.popleft()()
        self._freed.give()
        self.on_release()

    def run(self, step: Callable[[], object]) -> None:
        """Run a step now or, if the lock is held, as soon as it is released."""
        if self.is_held:
            self._steps.append(step)
        else:
            step()

    async def run_and_wait(self, step: Callable[[], object]) -> None:
        """Run a step like `run`, and wait until it has run, or the operator is over."""
        done: list[object] = []
        self.run(lambda: done.append(step()))
        while not (done or self._life.is_over):
            await self._freed.outlast()
