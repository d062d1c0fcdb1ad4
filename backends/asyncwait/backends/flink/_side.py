"""The task that Flink's operator sees: the receiver of its mails, its output and its errors.

Flink's operator blocks its thread while it has nothing to do, as in a task of Flink. So it has a
thread of its own, which gives its turn to the loop when it blocks.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any

from asyncwait.backends.flink._foreign import ForeignSide, ForeignTask
from asyncwait.backends.flink._function import CalledFunction
from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._operator import FlinkOperator, Settings, kind_of
from asyncwait.backends.flink._retries import MAX_INT, NEVER, deadline, no_retry, strategy
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.flink._state import Restorable
from asyncwait.backends.flink._values import Failures, KeyedTokens, Tokens
from asyncwait.spec import Barrier, Element, LatencyMarker, Record, Retry, Snapshot
from asyncwait.toolkit import FunctionParts


class FlinkStage(Stage):
    """The stage of Flink's thread, whose clock is set when the thread goes on."""

    set_clock: Callable[[], object] | None = None

    def require_going(self) -> None:
        """End the thread if it must end, as Flink ends it.

        Raises:
            BaseException: Flink's exception of a cancelled task.
        """
        if self.set_clock is not None:
            self.set_clock()
        if self.is_over:
            raise _cancellation()


class FlinkSide(ForeignSide):
    """Makes the operator, drives it as a task does, and serves its requests to the task.

    All its methods run in Flink's thread, except `posted` and the properties.
    """

    def __init__(
        self, task: ForeignTask, function: FunctionParts, stored: tuple[Restorable, ...]
    ) -> None:
        self._task, self._stored, config = task, stored, task.config
        self.stage: FlinkStage
        stage = FlinkStage(task.clock, task.timers, task.look)
        self._tokens = KeyedTokens(stage) if kind_of(config.mode).has_keys else Tokens()
        called = CalledFunction(
            function, self._tokens, stage, task.spawn, forgets=config.retry is None
        )
        self._failures = Failures(self._tokens, called.attempts)
        super().__init__(stage, called, self._failures.plain)
        self._operator: Any = None
        self._markers: deque[Element] = deque()
        self._posted = self._run = 0

    @property
    def has_mail(self) -> bool:  # type: ignore[override]
        """Whether mails wait to be run."""
        return self._posted > self._run

    @property
    def is_full(self) -> bool:  # type: ignore[override]
        """Whether the consumer has output to take: the task admits no element before."""
        return bool(self.given)

    # Steps of a task

    def live(self) -> None:
        """Make the operator, do its work, and close it once it is left.

        Later mails are refused (CO-15). Java holds this object, and no collector finds a reference
        cycle through both languages.
        """
        with suppress(BaseException):  # the operator is left: no caller takes the error
            super().live()
            self.stage.wait(lambda: False)
        operator, self._operator = self._operator, None
        self.stage.set_clock = None
        if operator is not None:
            with suppress(Exception):
                operator.close()
        del operator
        java("java.lang.Thread").detach()  # otherwise Java keeps the thread and its objects forever

    def begin(self) -> None:
        """Make the operator, and open it."""
        config, opened = self._task.config, copy_context()
        self.function.parts = self.function.parts.within(opened)
        stored, self._stored = self._stored, ()
        settings = Settings(
            self.function.java(),
            config.mode,
            min(config.capacity, MAX_INT),
            deadline(config),
            self._strategy(config.retry, opened),
            kind_of(config.mode).written(stored, self._tokens.of_stored) if stored else None,
        )
        self._operator = operator = FlinkOperator(self, settings)
        self.stage.set_clock = operator.set_clock
        operator.open()

    def _strategy(self, retry: Retry | None, opened: Context) -> Any:
        if retry is None or retry.max_attempts == 1:
            return no_retry()
        return strategy(retry, self.stage, self._tokens, self._failures.error_of, opened)

    def process(self, element: Element) -> None:
        """Process an element; for a barrier, take a snapshot."""
        if isinstance(element, Barrier | Snapshot):
            self.emit_snapshot(element, self._operator.snapshot(self._tokens.stored))
            return
        if isinstance(element, LatencyMarker):
            self._markers.append(element)
        self._operator.process(element, self._tokens.of_record)

    def run_mails(self) -> None:
        """Run the mails that are there."""
        self._operator.run_mails()

    def end_input(self) -> None:
        """Report the end of the input, and wait until the operator has emitted everything."""
        self._operator.end_input()
        self.is_finished = True

    # Requests of the operator to its task; in Flink's thread, except `posted`

    def posted(self) -> None:
        """Count a new mail; may be called from any thread."""
        self._posted += 1
        self._task.loop.call_from_thread(self._task.look)

    def wait_for_mail(self) -> None:
        """Wait for a mail; raise the cancellation if the task has failed."""
        self._require_sound()
        self.stage.wait(lambda: self.has_mail)
        self._run += 1

    def wait_for_room(self) -> bool:
        """Wait until the output is taken or a mail comes; return whether a mail came.

        While the consumer has output to take, deadlines fire, and no element is admitted.
        """
        self._require_sound()
        self.stage.wait(lambda: not self.given or self.has_mail)
        if not self.given:
            return False
        self._run += 1
        return True

    def _require_sound(self) -> None:
        if self.failure is not None:
            raise _cancellation()

    def ran(self) -> None:
        """Count a mail that was run."""
        self._run += 1

    def now(self) -> int:
        """Return the processing time, in milliseconds."""
        return round(self._task.clock() * 1000)

    def register(self, when: int, callback: Any) -> Callable[[], object]:
        """Call `callback` at a time, in milliseconds; return a function that cancels it."""
        from jpype import JLong

        def fire() -> None:
            callback.onProcessingTime(JLong(when))

        if when >= NEVER:
            return lambda: None
        timer = self.stage.ask(lambda: self._task.timers.register(when / 1000, fire))
        return lambda: self._task.timers.cancel(timer)

    def collect(self, record: Any) -> None:
        """Emit a result, with the key of its record."""
        result = self._tokens.taken(record.getValue())
        when = int(record.getTimestamp()) if record.hasTimestamp() else None
        self.given.append(Record(result.value, when, result.record.key))

    def emit(self, element: Element) -> None:
        """Emit a watermark or a status."""
        self.given.append(element)

    def emit_marker(self) -> None:
        """Emit the first of the waiting latency markers."""
        self.given.append(self._markers.popleft())

    def failed(self, error: Any) -> None:
        """Store an error that Flink reports to its cluster; the task fails with the first one."""
        if self.failure is None:
            self.failure = self._failures.of_cluster(error)


def _cancellation() -> BaseException:
    """Return the exception that ends Flink's thread wherever it waits."""
    return flink("runtime.execution.CancelTaskException")()  # type: ignore[no-any-return]


class FlinkTask(ForeignTask):
    """Gives Flink's operator its turns.

    If the operator blocks in a turn, it goes on when a mail comes, or when its output is taken.
    """

    def make_side(self, function: FunctionParts) -> FlinkSide:
        """Return Flink's side; the elements that it cannot restore become its first input."""
        stored, rest = kind_of(self.config.mode).restorable(self.stored)
        self.backlog.extend(rest)
        self.stored = ()
        return FlinkSide(self, function, stored)
