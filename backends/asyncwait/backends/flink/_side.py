"""The task that Flink's operator sees: the receiver of its mails, its output and its errors.

Flink's operator blocks its thread while it has nothing to do, as in a task of Flink. So it has a
thread of its own, which gives its turn to the loop when it blocks.
"""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from types import SimpleNamespace
from typing import Any

from asyncwait.backends.flink._foreign import ForeignSide, ForeignTask
from asyncwait.backends.flink._function import CalledFunction
from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._operator import (
    Clock,
    java_marker,
    java_timer,
    kind_of,
    set_running,
    supplier,
)
from asyncwait.backends.flink._retries import NEVER, no_retry, strategy
from asyncwait.backends.flink._stage import Stage
from asyncwait.backends.flink._state import Restorable, initializer, java_element, taken_state
from asyncwait.backends.flink._surroundings import environment, proxy, stream_config
from asyncwait.backends.flink._values import Failures, KeyedTokens, Tokens
from asyncwait.spec import Element, LatencyMarker, Record, Retry, Watermark, WatermarkStatus
from asyncwait.toolkit import FunctionParts

_PRIORITY = 0
"""Priority of the operator's mails: it is alone in its chain."""


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

    All its methods run in Flink's thread, except `_post` and the properties.
    """

    def __init__(
        self, task: ForeignTask, function: FunctionParts, stored: tuple[Restorable, ...]
    ) -> None:
        self._task, self._stored, config = task, stored, task.config
        self._kind = kind_of(config.mode)
        self.stage: FlinkStage
        stage = FlinkStage(task.clock, task.timers, task.look)
        self._tokens = KeyedTokens(stage) if self._kind.has_keys else Tokens()
        called = CalledFunction(
            function, self._tokens, stage, task.spawn, forgets=config.retry is None
        )
        self._failures = Failures(self._tokens, called.attempts)
        super().__init__(stage, called, self._failures.plain)
        self._java: Any = None
        """The operator, its mailbox, executor of mails, and timers."""
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
        made, self._java = self._java, None
        self.stage.set_clock = None
        with suppress(Exception):
            if made is not None:
                made.timers.quiesce()
                made.mailbox.quiesce()
                made.operator.close()
                made.mailbox.close()
        del made
        java("java.lang.Thread").detach()  # otherwise Java keeps the thread and its objects forever

    def begin(self) -> None:
        """Make the operator, and open it: without room for restored records it blocks (RS-4)."""
        config, kind, opened = self._task.config, self._kind, copy_context()
        self.function.parts = self.function.parts.within(opened)
        stored, self._stored = self._stored, ()
        state = kind.written(stored, self._tokens.of_stored) if stored else None
        tasks = "streaming.runtime.tasks."
        clock = Clock(self._now)
        mailbox = flink(f"{tasks}mailbox.TaskMailboxImpl")(java("java.lang.Thread").currentThread())
        immediate = flink(f"{tasks}StreamTaskActionExecutor").IMMEDIATE
        mails = flink(f"{tasks}mailbox.MailboxExecutorImpl")(mailbox, _PRIORITY, immediate)
        executor = self._watched(mails)
        env = environment(state, self._failed)
        container = flink(f"{tasks}OneInputStreamTask")(env, self._timer_service(clock))
        set_running(container)
        timers = container.getProcessingTimeServiceFactory().createProcessingTimeService(executor)
        factory = kind.factory(config, self.function.java(), self._strategy(config.retry, opened))
        factory.setProcessingTimeService(timers)
        factory.setMailboxExecutor(executor)
        operator = factory.createStreamOperator(
            flink("streaming.api.operators.StreamOperatorParameters")(
                container,
                stream_config(has_keys=kind.has_keys),
                self._output(),
                supplier(timers),
                None,
                executor,
            )
        )
        operator.initializeState(initializer(env))
        self._java = SimpleNamespace(operator=operator, mailbox=mailbox, mails=mails, timers=timers)
        self.stage.set_clock = clock.set
        operator.open()

    def _strategy(self, retry: Retry | None, opened: Context) -> Any:
        if retry is None or retry.max_attempts == 1:
            return no_retry()
        return strategy(retry, self.stage, self._tokens, self._failures.error_of, opened)

    def process(self, element: Element) -> None:
        """Process an element; for a barrier, take a snapshot. Without room it blocks (BP-1)."""
        operator, tokens = self._java.operator, self._tokens
        match element:
            case Record():
                operator.processElement(java_element(element, tokens.of_record))
            case Watermark():
                operator.processWatermark(java_element(element, tokens.of_record))
            case WatermarkStatus():
                status = flink("streaming.runtime.watermarkstatus.WatermarkStatus")
                operator.processWatermarkStatus(status.IDLE if element.idle else status.ACTIVE)
            case LatencyMarker():
                self._markers.append(element)
                operator.processLatencyMarker(java_marker())
            case _:
                stored = self._kind.read(taken_state(operator), tokens.stored)
                self.emit_snapshot(element, stored)

    def run_mails(self) -> None:
        """Run the mails that are there."""
        made = self._java
        while made.mailbox.hasMail():
            self._run += 1
            made.mails.tryYield()

    def end_input(self) -> None:
        """Report the end of the input, and wait until everything has come out (EI-1)."""
        self._java.operator.endInput()
        self._java.operator.finish()
        self.is_finished = True

    def _watched(self, mails: Any) -> Any:
        """Return Flink's own executor of mails, which are counted, and waited for."""
        options = flink("api.common.operators.MailboxExecutor$MailOptions")

        def execute(*mail: Any) -> None:
            if isinstance(mail[0], options):
                mails.execute(mail[0], mail[1], mail[2], *mail[3:])
            else:
                mails.execute(mail[0], mail[1], *mail[2:])
            self._post()

        def take() -> None:
            self._wait_for_mail()
            mails.yield_()
            while self._wait_for_room():
                mails.yield_()

        methods = {"execute": execute, "yield": take, "tryYield": mails.tryYield}
        return proxy("api.common.operators.MailboxExecutor", methods)

    def _timer_service(self, clock: Clock) -> Any:
        return proxy(
            "streaming.runtime.tasks.TimerService",
            {
                "getClock": lambda: clock.java,
                "getCurrentProcessingTime": clock.java.absoluteTimeMillis,
                "registerTimer": lambda when, callback: self._register(int(when), callback),
            },
        )

    def _output(self) -> Any:
        emit = self.given.append
        return proxy(
            "streaming.api.operators.Output",
            {
                "collect": self._collect,
                "emitWatermark": lambda mark: emit(Watermark(int(mark.getTimestamp()))),
                "emitWatermarkStatus": lambda s: emit(WatermarkStatus(bool(s.isIdle()))),
                "emitLatencyMarker": lambda _: emit(self._markers.popleft()),
            },
        )

    # Requests of the operator to its task; in Flink's thread, except `_post`

    def _post(self) -> None:
        """Count a new mail; may be called from any thread."""
        self._posted += 1
        self._task.loop.call_from_thread(self._task.look)

    def _wait_for_mail(self) -> None:
        """Wait for a mail; raise the cancellation if the task has failed."""
        self._require_sound()
        self.stage.wait(lambda: self.has_mail)
        self._run += 1

    def _wait_for_room(self) -> bool:
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

    def _now(self) -> int:
        """Return the processing time, in milliseconds."""
        return round(self._task.clock() * 1000)

    def _register(self, when: int, callback: Any) -> Any:
        """Call `callback` at a time, in milliseconds; return a timer for Java."""
        from jpype import JLong

        def fire() -> None:
            callback.onProcessingTime(JLong(when))

        if when >= NEVER:
            return java_timer(lambda: None)
        timer = self.stage.ask(lambda: self._task.timers.register(when / 1000, fire))
        return java_timer(lambda: self._task.timers.cancel(timer))

    def _collect(self, record: Any) -> None:
        """Emit a result, with the key of its record."""
        result = self._tokens.taken(record.getValue())
        when = int(record.getTimestamp()) if record.hasTimestamp() else None
        self.given.append(Record(result.value, when, result.record.key))

    def _failed(self, error: Any) -> None:
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
