"""Worker around PyFlink's operation: the thread that feeds it, and the receiver of its output."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from asyncwait.backends.pyflink._function import CalledFunction, Failures, Held, Records
from asyncwait.backends.pyflink._operation import made, process
from asyncwait.backends.pyflink._stage import Stage
from asyncwait.spec import Barrier, Element, OperatorConfig, Record, Snapshot


class PyFlinkSide:
    """Makes the operation, and feeds it as a worker does, in a thread of its own."""

    def __init__(self, config: OperatorConfig, function: CalledFunction, stage: Stage) -> None:
        self._config, self._function, self._stage = config, function, stage
        self._records = Records()
        self._failures = Failures(self._records, function)
        self._work: Callable[[], object] | None = None
        self._operation: Any = None
        self.given: deque[Element] = deque()
        """Elements that have come out and that the consumer has not taken."""
        self.failure: BaseException | None = None
        """The error that PyFlink has raised in the thread that feeds it."""
        self.is_idle = self.is_finished = False

    # On the loop

    def process(self, element: Element) -> None:
        """Queue an element for processing; for a barrier, a snapshot."""
        if isinstance(element, Record):
            self._do(partial(process, self._operation, self._records.held(element)))
        else:
            assert isinstance(element, Barrier | Snapshot)
            self._do(partial(self._snapshot, element))

    def end_input(self) -> None:
        """Queue the end of the input."""
        self._do(self._finish)

    def _do(self, work: Callable[[], object]) -> None:
        self._work, self.is_idle = work, False

    # In the thread

    def live(self) -> None:
        """Make the operation, and do its queued work until the end or an error."""
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

    # In any thread that emits results

    def _emit(self, held: Held, rows: Iterable[Any]) -> None:
        """Emit results, and wait until the consumer has taken them: they are in flight so long."""
        for row in rows:
            self.given.append(Record(row[2], row[0], held.record.key))
        self._wait_for_room()

    def _wait_for_room(self) -> None:
        self._stage.wait(lambda: not self.given)
