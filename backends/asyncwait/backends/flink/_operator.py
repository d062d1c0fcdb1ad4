"""Flink's operator itself, in surroundings of ours. All of it runs in Flink's thread.

It is `AsyncWaitOperator`, and in key-ordered mode `TableKeyedAsyncWaitOperator`.
"""

from collections.abc import Callable
from typing import Any

from asyncwait.backends.flink._jvm import flink, java
from asyncwait.backends.flink._kinds import Settings, kind_of
from asyncwait.backends.flink._state import initializer, java_element, taken_state
from asyncwait.backends.flink._surroundings import environment, proxy, stream_config
from asyncwait.spec import LatencyMarker, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored

__all__ = ["FlinkOperator", "Settings"]

_PRIORITY = 0
"""Of the operator's mails: it is alone in its chain."""


class FlinkOperator:
    """One operator, with its mailbox and its timers.

    Args:
        task: what it is in, a `FlinkSide`, which imports this module: it takes its mails, timers,
            outputs and errors.
        settings: how it is made.
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
        """Return Flink's own executor, where the task is told of mails and waits for them."""
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
        """Have Flink's clock show the time of the task's."""
        self._clock.set()

    # What a task does to it

    def open(self) -> None:
        """Open it: what was stored is called again, and blocks where there is no room (RS-4)."""
        self.operator.open()

    def process(
        self,
        element: Record | Watermark | WatermarkStatus | LatencyMarker,
        token: Callable[[Record], str],
    ) -> None:
        """Process an element of the input; block where there is no room (BP-1)."""
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
        """Have it take a snapshot; return what is in there."""
        return self._kind.read(taken_state(self.operator), meaning)

    def end_input(self) -> None:
        """Tell it that the input has ended; it blocks until it has let out everything (EI-1)."""
        self.operator.endInput()
        self.operator.finish()

    def run_mails(self) -> None:
        """Run the mails that are there."""
        while self.mailbox.hasMail():
            self._task.ran()
            self.mails.tryYield()

    def close(self) -> None:
        """Close it, with its mailbox: mails that come later are refused (CO-15)."""
        self._timers.quiesce()
        self.mailbox.quiesce()
        self.operator.close()
        self.mailbox.close()


class _Clock:
    """Flink's own clock for tests, which is set before anybody looks at it."""

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
    """Have the task report what timers raise: it does so only while it runs."""
    field = flink("streaming.runtime.tasks.StreamTask").class_.getDeclaredField("isRunning")
    field.setAccessible(True)
    field.set(container, java("java.lang.Boolean").TRUE)


def _supplier(thing: Any) -> Any:
    from jpype import JProxy

    return JProxy("java.util.function.Supplier", dict={"get": lambda: thing})


def _timer(cancel: Callable[[], object]) -> Any:
    """Return a timer as Java has it; nobody asks it for more than to be cancelled."""
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
