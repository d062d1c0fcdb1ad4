"""What PyFlink's operation is in, as it sees it: the thread that feeds it, and its output."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from asyncwait.backends.pyflink._function import CalledFunction, Failures, Held, Records
from asyncwait.backends.pyflink._operation import made, process
from asyncwait.backends.pyflink._stage import Stage
from asyncwait.spec import Barrier, Element, OperatorConfig, Record, Snapshot


class PyFlinkSide:
    """Makes the operation, and does to it what a worker does, in a thread of its own."""

    def __init__(self, config: OperatorConfig, function: CalledFunction, stage: Stage) -> None:
        self._config, self._function, self._stage = config, function, stage
        self._records = Records()
        self._failures = Failures(self._records, function)
        self._work: Callable[[], object] | None = None
        self._operation: Any = None
        self.given: deque[Element] = deque()
        """What has come out, and nobody has taken."""
        self.failure: BaseException | None = None
        """What PyFlink has raised in the thread that feeds it."""
        self.is_idle = self.is_finished = False

    # On the loop

    def process(self, element: Element) -> None:
        """Have an element processed; for a barrier, a snapshot taken."""
        if isinstance(element, Record):
            self._do(partial(process, self._operation, self._records.held(element)))
        else:
            assert isinstance(element, Barrier | Snapshot)
            self._do(partial(self._snapshot, element))

    def end_input(self) -> None:
        """Have it told that the input has ended."""
        self._do(self._finish)

    def _do(self, work: Callable[[], object]) -> None:
        self._work, self.is_idle = work, False

    # In the thread

    def live(self) -> None:
        """Make the operation, and do to it what there is to do, until something is raised."""
        try:
            self._operation = made(self._config, self._function, self._emit)
            self._operation.open()
            while not self.is_finished:
                self.is_idle = True
                self._stage.wait(lambda: self._work is not None)
                assert self._work is not None
                work, self._work = self._work, None
                work()
                del work
        except Exception as error:
            self.failure = self._failures.plain(error)

    def _snapshot(self, barrier: Barrier | Snapshot) -> None:
        """Wait until nothing is in flight, as before each checkpoint (PY-10)."""
        self._operation.finish()
        upstream = barrier if isinstance(barrier, Snapshot) else None
        self.given.append(Snapshot(barrier.checkpoint_id, (), upstream=upstream))
        self._wait_for_room()

    def _finish(self) -> None:
        self._operation.finish()
        self._operation.close()
        self.is_finished = True

    # In whichever thread puts something out

    def _emit(self, held: Held, rows: Iterable[Any]) -> None:
        """Put results out, and wait until they were taken: what is out is in flight until then."""
        for row in rows:
            self.given.append(Record(row[2], row[0], held.record.key))
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._stage.wait(lambda: not self.given)
