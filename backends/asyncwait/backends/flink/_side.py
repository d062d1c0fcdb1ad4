"""The task that Flink's operator sees: the receiver of its mails, its output and its errors."""

from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

from asyncwait.backends.flink._function import CalledFunction, Spawn
from asyncwait.backends.flink._jvm import flink
from asyncwait.backends.flink._operator import FlinkOperator, Settings, kind_of
from asyncwait.backends.flink._retries import MAX_INT, NEVER, milliseconds, no_retry, strategy
from asyncwait.backends.flink._turns import Turns
from asyncwait.backends.flink._values import Failures, KeyedTokens, Tokens
from asyncwait.reference import TimerService
from asyncwait.spec import (
    Barrier,
    Element,
    LatencyMarker,
    OperatorConfig,
    Record,
    Retry,
    Snapshot,
    Watermark,
)
from asyncwait.spec.mailbox import Loop
from asyncwait.toolkit import FunctionParts


class FlinkSide:
    """Makes the operator, drives it as a task does, and serves its requests to the task.

    All its methods run in Flink's thread, except `posted` and the properties.
    """

    def __init__(
        self,
        config: OperatorConfig,
        function: FunctionParts,
        loop: Loop,
        *,
        timers: TimerService,
        spawn: Spawn,
        look: Callable[[], object],
    ) -> None:
        self._config, self._loop, self._timers, self._look = config, loop, timers, look
        self.turns = Turns(_cancellation, self._set_clock)
        has_keys = kind_of(config.mode).has_keys
        self._tokens = KeyedTokens(self.turns) if has_keys else Tokens()
        self.function = CalledFunction(
            function, self._tokens, self.turns, spawn, forgets=config.retry is None
        )
        self.failures = Failures(self._tokens, self.function.attempts)
        self.failure: BaseException | None = None
        """The first failure that Flink has reported to its cluster."""
        self.given: deque[Element] = deque()
        """Elements that have come out and that the consumer has not taken."""
        self.context: Context | None = None
        """Context in copies of which predicates run."""
        self.is_open = self.is_finished = False
        self._operator: FlinkOperator | None = None
        self._markers: deque[Element] = deque()
        self._posted = self._run = 0

    @property
    def has_mail(self) -> bool:
        """Whether mails wait to be run."""
        return self._posted > self._run

    def _set_clock(self) -> None:
        if self._operator is not None:
            self._operator.set_clock()

    # Steps of a task

    def begin(self, stored: tuple[Record | Watermark, ...]) -> None:
        """Make the operator, and open it."""
        config = self._config
        kind, tokens = kind_of(config.mode), self._tokens
        settings = Settings(
            self.function.java(),
            config.mode,
            min(config.capacity, MAX_INT),
            self._timeout(),
            self._strategy(config.retry),
            kind.written(stored, tokens.of_stored) if stored else None,
        )
        self._operator = FlinkOperator(self, settings)
        self._operator.open()
        self.is_open = True

    def _timeout(self) -> int:
        """Return the milliseconds to a deadline; with retries, 0 is a deadline at once (VA-4)."""
        if self._config.timeout is not None:
            return milliseconds(self._config.timeout)
        return 0 if self._config.retry is None else NEVER

    def _strategy(self, retry: Retry | None) -> Any:
        if retry is None or retry.max_attempts == 1:
            return no_retry()
        assert self.context is not None
        return strategy(retry, self.turns, self._tokens, self.failures.error_of, self.context)

    def process(self, element: Element) -> None:
        """Process an element; for a barrier, take a snapshot."""
        assert self._operator is not None
        if isinstance(element, Barrier | Snapshot):
            stored = self._operator.snapshot(self._tokens.stored)
            upstream = element if isinstance(element, Snapshot) else None
            self._put(Snapshot(element.checkpoint_id, stored, upstream=upstream))
            return
        if isinstance(element, LatencyMarker):
            self._markers.append(element)
        self._operator.process(element, self._tokens.of_record)

    def run_mails(self) -> None:
        """Run the mails that are there."""
        assert self._operator is not None
        self._operator.run_mails()

    def end_input(self) -> None:
        """Report the end of the input, and wait until the operator has emitted everything."""
        assert self._operator is not None
        self._operator.end_input()
        self.is_finished = True

    def close(self) -> None:
        """Close the operator, and drop it; later mails are refused (CO-15).

        Java holds this object, and no collector finds a reference cycle through both languages.
        """
        operator, self._operator = self._operator, None
        if operator is not None:
            operator.close()

    def _put(self, element: Element) -> None:
        """Emit an element; the task admits no element until the consumer has taken this one."""
        self.given.append(element)

    # Requests of the operator to its task; in Flink's thread, except `posted`

    def posted(self) -> None:
        """Count a new mail; may be called from any thread."""
        self._posted += 1
        self._loop.call_from_thread(self._look)

    def wait_for_mail(self) -> None:
        """Wait for a mail; raise the cancellation if the task has failed."""
        self._require_sound()
        if not self.has_mail:
            self.turns.wait("mail")
        self._run += 1

    def wait_for_room(self) -> bool:
        """Wait until the output is taken or a mail comes; return whether a mail came.

        While the consumer has output to take, deadlines fire, and no element is admitted.
        """
        self._require_sound()
        if self.given and not self.has_mail:
            self.turns.wait("room")
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
        return round(self._loop.time() * 1000)

    def register(self, when: int, callback: Any) -> Callable[[], object]:
        """Call `callback` at a time, in milliseconds; return a function that cancels it."""
        from jpype import JLong

        def fire() -> None:
            callback.onProcessingTime(JLong(when))

        if when >= NEVER:
            return lambda: None
        timer = self.turns.ask(lambda: self._timers.register(when / 1000, fire))
        return lambda: self._timers.cancel(timer)

    def collect(self, record: Any) -> None:
        """Emit a result, with the key of its record."""
        result = self._tokens.taken(record.getValue())
        when = int(record.getTimestamp()) if record.hasTimestamp() else None
        self._put(Record(result.value, when, result.record.key))

    def emit(self, element: Element) -> None:
        """Emit a watermark or a status."""
        self._put(element)

    def emit_marker(self) -> None:
        """Emit the first of the waiting latency markers."""
        self._put(self._markers.popleft())

    def failed(self, error: Any) -> None:
        """Store an error that Flink reports to its cluster; the task fails with the first one."""
        if self.failure is None:
            self.failure = self.failures.of_cluster(error)


def _cancellation() -> BaseException:
    """Return the exception that ends Flink's thread wherever it waits."""
    return flink("runtime.execution.CancelTaskException")()  # type: ignore[no-any-return]
