"""Reports of a task to the driver, which never delay or fail the task."""

import secrets
import socket
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread

from asyncwait.backends.spark.progress._figures import TaskFigures, TaskName
from asyncwait.backends.spark.progress._wire import Endpoint, Report, State, connect, packed

EVERY = 0.5
"""Seconds from one report to the next."""

_TRIES = 8
"""Failures in a row after which the driver counts as gone."""

_LONGEST_PAUSE = 8.0
"""Largest number of seconds from one try to the next."""

_PATIENCE = 2.0
"""Seconds for a step of the network; only the thread of the reporter waits."""

_FAREWELL = 0.8
"""Seconds that an ending task waits for its last report to go out."""


@contextmanager
def reporting(
    endpoint: Endpoint | None,
    task: TaskName,
    figures: Callable[[], TaskFigures],
    *,
    every: float = EVERY,
) -> Generator[None]:
    """Report the figures of a task while the body runs: at once, at intervals, and at its end.

    The last report says whether the attempt ended, or failed with the error of the body; closing it
    early, like a generator that is no longer read, counts as an end. Without a reachable driver
    nothing is reported: this is never an error, and delays the end by less than a second.

    Args:
        endpoint: of the driver; None for no reports.
        task: name of the task.
        figures: returns its figures. It is called in a thread of its own, for the last time when
            the body has ended; an error of it is dropped, and the earlier figures are reported
            again.
        every: seconds from one report to the next.
    """
    if endpoint is None:
        yield
        return
    reporter = _Reporter(endpoint, task, figures, every)
    state: State = "failed"
    try:
        yield
        state = "ended"
    except GeneratorExit:
        state = "ended"
        raise
    finally:
        reporter.leave(state)


class _Reporter:
    """Reports in a thread, which starts at construction; see `reporting`."""

    def __init__(
        self,
        endpoint: Endpoint,
        task: TaskName,
        figures: Callable[[], TaskFigures],
        every: float,
    ) -> None:
        self._endpoint, self._task = endpoint, task
        self._ask, self._every = figures, every
        self._figures = TaskFigures()
        self._run_name = secrets.token_bytes(8)
        self._number = 0
        self._state: State = "running"
        self._is_left = Event()
        self._thread = Thread(target=self._run, name="asyncwait-reporting", daemon=True)
        with suppress(RuntimeError):  # the process has too many threads
            self._thread.start()

    def leave(self, state: State) -> None:
        """Send the last report, if that takes only a moment."""
        self._state = state
        self._is_left.set()
        if self._thread.ident is not None:
            self._thread.join(_FAREWELL)

    def _run(self) -> None:
        failures = 0
        with closing(_Line(self._endpoint)) as line:
            while failures < _TRIES:
                state = self._state  # before the figures: the last ones are read after the end
                try:
                    line.send(self._report(state))
                    failures = 0
                except Exception:  # Nothing about a report, figures included, may fail a task.
                    failures += 1
                if state != "running":
                    return
                pause = self._every * 2**failures
                self._is_left.wait(min(pause, max(self._every, _LONGEST_PAUSE)))

    def _report(self, state: State) -> bytes:
        with suppress(Exception):
            self._figures = self._ask()
        number, self._number = self._number, self._number + 1
        what = (number, state, self._task, self._figures, self._endpoint.operator)
        return packed(Report(self._run_name, *what))


class _Line:
    """A connection to the driver, which is made when needed, and again after it broke."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._stream: socket.socket | None = None

    def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            OSError: the message can't be sent.
        """
        if self._stream is not None and _has_ended(self._stream):
            self.close()
        if self._stream is None:
            self._stream = connect(self._endpoint, _PATIENCE)
        try:
            self._stream.sendall(message)
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection; sent messages still arrive."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _has_ended(stream: socket.socket) -> bool:
    """Whether the driver has closed the connection; it never sends anything else."""
    stream.setblocking(False)
    try:
        stream.recv(1)
    except BlockingIOError:
        return False
    except OSError:
        return True
    finally:
        stream.settimeout(_PATIENCE)
    return True
