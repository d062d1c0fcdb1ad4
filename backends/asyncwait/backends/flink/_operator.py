"""Flink's operator itself, with this package's task around it. All of it runs in Flink's thread.

It is `AsyncWaitOperator`, and in key-ordered mode `TableKeyedAsyncWaitOperator`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._state import (
    Naming,
    Reading,
    Restorable,
    initializer,
    java_element,
    read_keyed_state,
    read_state,
    restorable,
    restorable_by_key,
    taken_state,
    written_keyed_state,
    written_state,
)
from asyncwait.backends.flink._surroundings import environment, proxy, stream_config
from asyncwait.backends.flink._values import key_selector
from asyncwait.spec import LatencyMarker, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored

_PRIORITY = 0
"""Priority of the operator's mails: it is alone in its chain."""


class Settings(Struct, frozen=True):
    """Settings with which an operator is made.

    Args:
        mode: "ordered", "unordered" or "key-ordered".
        timeout: in milliseconds; 0 for none.
        state: the snapshot to restore from, in Flink's form; None for none.
    """

    function: Any
    mode: str
    capacity: int
    timeout: int
    strategy: Any
    state: Any


class Kind(Struct, frozen=True):
    """Functions of one of the two operators."""

    factory: Callable[[Settings], Any]
    has_keys: bool
    read: Callable[[Any, Reading], tuple[Stored, ...]]
    written: Callable[[Iterable[Restorable], Naming], Any]
    restorable: Callable[[tuple[Stored, ...]], tuple[tuple[Restorable, ...], tuple[Stored, ...]]]


def _factory(settings: Settings) -> Any:
    from jpype import JLong

    output_mode = flink("streaming.api.datastream.AsyncDataStream$OutputMode")
    return flink("streaming.api.operators.async.AsyncWaitOperatorFactory")(
        settings.function,
        JLong(settings.timeout),
        settings.capacity,
        output_mode.valueOf(settings.mode.upper()),
        settings.strategy,
    )


def _keyed_factory(settings: Settings) -> Any:
    from jpype import JLong

    return flink("table.runtime.operators.TableKeyedAsyncWaitOperatorFactory")(
        settings.function, key_selector(), JLong(settings.timeout), settings.capacity
    )


_KIND = Kind(_factory, False, read_state, written_state, restorable)
_KEYED = Kind(_keyed_factory, True, read_keyed_state, written_keyed_state, restorable_by_key)


def kind_of(mode: str) -> Kind:
    """Return the operator that has a mode."""
    return _KEYED if mode == "key-ordered" else _KIND


class FlinkOperator:
    """One operator, with its mailbox and its timers.

    Args:
        task: a `FlinkSide`, which imports this module: it takes the operator's mails, timers,
            outputs and errors.
        settings: the settings with which the operator is made.
    """

    def __init__(self, task: Any, settings: Settings) -> None:
        tasks = "streaming.runtime.tasks."
        self._task, self._kind = task, kind_of(settings.mode)
        self._clock = _Clock(task)
        self.mailbox = flink(f"{tasks}mailbox.TaskMailboxImpl")(
            java("java.lang.Thread").currentThread()
        )
        immediate = flink(f"{tasks}StreamTaskActionExecutor").IMMEDIATE
        self.mails = flink(f"{tasks}mailbox.MailboxExecutorImpl")(
            self.mailbox, _PRIORITY, immediate
        )
        executor = self._watched_mails()
        env = environment(settings.state, task.failed)
        container = flink(f"{tasks}OneInputStreamTask")(env, self._timer_service())
        _set_running(container)
        timers = container.getProcessingTimeServiceFactory().createProcessingTimeService(executor)
        factory = self._kind.factory(settings)
        factory.setProcessingTimeService(timers)
        factory.setMailboxExecutor(executor)
        self._timers = timers
        self.operator = factory.createStreamOperator(
            flink("streaming.api.operators.StreamOperatorParameters")(
                container,
                stream_config(has_keys=self._kind.has_keys),
                self._output(),
                _supplier(timers),
                None,
                executor,
            )
        )
        self.operator.initializeState(initializer(env))

    def _watched_mails(self) -> Any:
        """Return Flink's own executor; the task counts its mails, and waits for them."""
        mails, task = self.mails, self._task
        options = flink("api.common.operators.MailboxExecutor$MailOptions")

        def execute(*mail: Any) -> None:
            if isinstance(mail[0], options):
                mails.execute(mail[0], mail[1], mail[2], *mail[3:])
            else:
                mails.execute(mail[0], mail[1], *mail[2:])
            task.posted()

        def take() -> None:
            task.wait_for_mail()
            mails.yield_()
            while task.wait_for_room():
                mails.yield_()

        methods = {"execute": execute, "yield": take, "tryYield": mails.tryYield}
        return proxy("api.common.operators.MailboxExecutor", methods)

    def _timer_service(self) -> Any:
        task, clock = self._task, self._clock
        return proxy(
            "streaming.runtime.tasks.TimerService",
            {
                "getClock": lambda: clock.java,
                "getCurrentProcessingTime": clock.java.absoluteTimeMillis,
                "registerTimer": lambda when, callback: _timer(task.register(int(when), callback)),
            },
        )

    def _output(self) -> Any:
        task = self._task
        return proxy(
            "streaming.api.operators.Output",
            {
                "collect": task.collect,
                "emitWatermark": lambda mark: task.emit(Watermark(int(mark.getTimestamp()))),
                "emitWatermarkStatus": lambda s: task.emit(WatermarkStatus(bool(s.isIdle()))),
                "emitLatencyMarker": lambda _: task.emit_marker(),
            },
        )

    def set_clock(self) -> None:
        """Set Flink's clock to the time of the task's clock."""
        self._clock.set()

    # Steps of a task

    def open(self) -> None:
        """Open it: restored records are called again, which blocks without room (RS-4)."""
        self.operator.open()

    def process(
        self,
        element: Record | Watermark | WatermarkStatus | LatencyMarker,
        token: Callable[[Record], str],
    ) -> None:
        """Process an element of the input; block without room (BP-1)."""
        operator = self.operator
        match element:
            case Record():
                operator.processElement(java_element(element, token))
            case Watermark():
                operator.processWatermark(java_element(element, token))
            case WatermarkStatus():
                status = flink("streaming.runtime.watermarkstatus.WatermarkStatus")
                operator.processWatermarkStatus(status.IDLE if element.idle else status.ACTIVE)
            case LatencyMarker():
                operator.processLatencyMarker(_marker())

    def snapshot(self, meaning: Callable[[str], Record]) -> tuple[Stored, ...]:
        """Take a snapshot; return its elements."""
        return self._kind.read(taken_state(self.operator), meaning)

    def end_input(self) -> None:
        """Report the end of the input; block until everything has come out (EI-1)."""
        self.operator.endInput()
        self.operator.finish()

    def run_mails(self) -> None:
        """Run the mails that are there."""
        while self.mailbox.hasMail():
            self._task.ran()
            self.mails.tryYield()

    def close(self) -> None:
        """Close it, with its mailbox; later mails are refused (CO-15)."""
        self._timers.quiesce()
        self.mailbox.quiesce()
        self.operator.close()
        self.mailbox.close()


class _Clock:
    """Flink's own clock for tests, which is set before Flink reads it."""

    def __init__(self, task: Any) -> None:
        self._now = task.now
        self._shown = task.now()
        self._milliseconds = java("java.util.concurrent.TimeUnit").MILLISECONDS
        self.java = flink("util.clock.ManualClock")(self._shown * 1_000_000)

    def set(self) -> None:
        now = self._now()
        if now != self._shown:
            self.java.advanceTime(now - self._shown, self._milliseconds)
            self._shown = now


def _set_running(container: Any) -> None:
    """Mark the task as running, because it reports errors of timers only while it runs."""
    field = flink("streaming.runtime.tasks.StreamTask").class_.getDeclaredField("isRunning")
    field.setAccessible(True)
    field.set(container, java("java.lang.Boolean").TRUE)


def _supplier(thing: Any) -> Any:
    from jpype import JProxy

    return JProxy("java.util.function.Supplier", dict={"get": lambda: thing})


def _timer(cancel: Callable[[], object]) -> Any:
    """Return a timer for Java, which can only be cancelled."""
    from jpype import JProxy

    def cancelled(_: Any) -> bool:
        cancel()
        return True

    methods = {"cancel": cancelled, "isDone": lambda: False, "isCancelled": lambda: False}
    return JProxy("java.util.concurrent.ScheduledFuture", dict=methods)


def _marker() -> Any:
    from jpype import JLong

    operator_id = flink("runtime.jobgraph.OperatorID")(0, 0)
    return flink("streaming.runtime.streamrecord.LatencyMarker")(JLong(0), operator_id, 0)
