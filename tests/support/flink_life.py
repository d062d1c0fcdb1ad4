"""One of Flink's own operators, from its making to its end, for a player of known scenarios.

It has a thread of its own, which gives its turn back where the operator is blocked.

What a timer raises is noted as raised by its mail, and not in the words in which Flink's task tells
its cluster of it: the traces come from surroundings without that task.
"""

import json
from collections.abc import Callable
from typing import Any

from flink_clock import FlinkClock
from flink_words import cancellation, chain, complete, complete_late, said, strategy
from known_traces import Entry, Notes, Scenario, scripted, token_of

from asyncwait.backends.flink._jvm import java
from asyncwait.backends.flink._operator import FlinkOperator, Settings
from asyncwait.backends.flink._state import written_state
from asyncwait.backends.flink._surroundings import proxy
from asyncwait.backends.flink._turns import Turns
from asyncwait.spec import Barrier, Element, Record, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import Stored

_BY_A_TIMER = "Caught exception while processing timer."


class FlinkLife:
    """An operator, with its timers and its function; and what a task is to it (a `FlinkSide`).

    Args:
        scenario: how it is made, and what its function does.
        notes: where all that is seen goes.
        before: the one that it is restored after.
    """

    def __init__(self, scenario: Scenario, notes: Notes, before: "FlinkLife | None" = None) -> None:
        self.scenario, self._notes = scenario, notes
        self.clock: FlinkClock = FlinkClock(
            0 if before is None else before.clock.time, scenario.timer_lag_ms
        )
        self._handles: dict[str, list[Any]] = {} if before is None else before._handles
        self._records: dict[str, Record] = {} if before is None else before._records
        self._turns = Turns(cancellation, self._set_clock)
        self._operator: Any = None
        self.busy_with = "restore"
        self.has_failed = False

    # What it is asked

    @property
    def is_blocked(self) -> bool:
        """Whether the operator waits for a mail in the middle of something."""
        return self._turns.waits_for == "mail" and not self.has_failed

    @property
    def blocked_on(self) -> str | None:
        """What it is blocked on, if it is."""
        return self.busy_with if self.is_blocked else None

    @property
    def takes_input(self) -> bool:
        """Whether nothing has to be held upstream."""
        return not self.is_blocked

    @property
    def left(self) -> Entry:
        """What else is noted at the end."""
        return {"mails": self.mails, "timers": len(self.clock)}

    @property
    def mails(self) -> int:
        """How many mails wait."""
        return int(self._operator.mailbox.size())

    @property
    def queued(self) -> int:
        """How many elements the operator has in its queue."""
        operator = self._operator.operator
        field = operator.getClass().getDeclaredField("queue")
        field.setAccessible(True)
        return int(field.get(operator).size())

    # What is done to it

    async def begin(self, stored: tuple[Stored, ...] | None = None) -> bool:
        """Make the operator, and open it; return whether it could be made."""

        def begin() -> None:
            self._operator = FlinkOperator(self, self._settings(stored))
            self._operator.open()
            if stored is not None:
                self._notes.add("restored")

        try:
            self._turns.do(begin)
        except java("java.lang.IllegalArgumentException") as error:
            self._notes.add("rejected", error=said(error))
            return False
        return True

    def _settings(self, stored: tuple[Stored, ...] | None) -> Settings:
        scenario = self.scenario
        methods = {"asyncInvoke": self._invoke, "timeout": self._time_out}
        return Settings(
            proxy("streaming.api.functions.async.AsyncFunction", methods),
            scenario.mode,
            scenario.capacity,
            scenario.timeout_ms or 0,
            strategy(scenario.retry),
            written_state(stored, self._token) if stored else None,  # type: ignore[arg-type]
        )

    def give(self, element: Element) -> None:
        """Have it process an element of the input, or take a snapshot at a barrier."""
        if isinstance(element, Barrier):
            meaning = self._records.__getitem__
            self._do("put", lambda: self._notes.snapshot(self._operator.snapshot(meaning)))
        else:
            self._do("put", lambda: self._operator.process(element, self._token))

    def end_input(self) -> None:
        """Tell it that the input has ended."""

        def end() -> None:
            self._operator.end_input()
            self._notes.add("input_ended")

        self._do("drain", end)

    def run_mail(self) -> None:
        """Have it run a mail; where it is blocked, all that it needs to go on."""
        if self.is_blocked:
            self._run(self._turns.go_on, "record")
        else:
            self._run(lambda: self._turns.do(self._operator.mails.tryYield), "mail")

    def complete(self, value: Any, attempt: int, outcome: Entry) -> None:
        """Complete a call from outside; note it if Flink refuses that."""
        try:
            complete(self._handles[token_of(value)][attempt], outcome)
        except java("java.lang.RuntimeException") as error:
            self._notes.add("rejected", error=said(error))

    async def end(self) -> None:
        """Close it, also where it is blocked."""
        self._turns.end(self._close)

    def _close(self) -> None:
        if self._operator is not None:
            self._operator.close()

    def _do(self, what: str, work: Callable[[], object]) -> None:
        self.busy_with = what
        self._notes.unblocked()
        self._run(lambda: self._turns.do(work), "record")

    def _run(self, turn: Callable[[], object], via: str) -> None:
        try:
            turn()
        except java("java.lang.Throwable") as error:
            self._fail(via, error)

    def _fail(self, via: str, error: Any) -> None:
        self._notes.add("fail", via=via, error=[said(each) for each in chain(error)])
        self.has_failed = self.scenario.on_fail == "stop"

    # The function; in Flink's thread

    def _invoke(self, token: Any, future: Any) -> None:
        value = json.loads(str(token))
        self._notes.invoke(value)
        self._handles.setdefault(token_of(value), []).append(future)
        complete(future, scripted(self.scenario.on_invoke, value))

    def _time_out(self, token: Any, future: Any) -> None:
        value = json.loads(str(token))
        self._notes.add("timeout", value=value)
        if self.scenario.on_timeout:
            complete(future, scripted(self.scenario.on_timeout, value))
        else:
            complete_late(future)

    def _token(self, record: Record) -> str:
        token = token_of(record.value)
        self._records[token] = record
        return token

    # What a task is asked; in Flink's thread

    def posted(self) -> None:
        """Do nothing: the mailbox is looked at."""

    def ran(self) -> None:
        """The same."""

    def wait_for_mail(self) -> None:
        """Return when there is a mail; a task that has failed runs none."""
        while self.has_failed or not self.mails:
            self._turns.wait("mail")

    def wait_for_room(self) -> bool:
        """Wait for nothing: what comes out is taken at once."""
        return False

    def now(self) -> int:
        """Return the time of the scenario, in milliseconds."""
        return self.clock.time

    def _set_clock(self) -> None:
        if self._operator is not None:
            self._operator.set_clock()

    def register(self, when: int, callback: Any) -> Callable[[], object]:
        """Set a timer; return what cancels it."""
        return self.clock.register(when, callback)

    def collect(self, record: Any) -> None:
        """Note a result."""
        when = int(record.getTimestamp()) if record.hasTimestamp() else None
        self._notes.add("emit", value=str(record.getValue()), ts=when)

    def emit(self, element: Watermark | WatermarkStatus) -> None:
        """Note a watermark or a status."""
        self._notes.emit(element)

    def emit_marker(self) -> None:
        """Do nothing: none of the scenarios has a latency marker."""

    def failed(self, error: Any) -> None:
        """Note what Flink tells its cluster, or what a timer has raised."""
        if str(error.getMessage()) == _BY_A_TIMER:
            self._fail("mail", error.getCause().getCause())
        else:
            self._fail("failExternally", error)
