"""Whether a trace can come from a run of its scenario."""

from collections import defaultdict
from functools import cached_property

import msgspec

from asyncwait.conformance.judging._observe import (
    ROUNDING,
    Call,
    Numbers,
    Seen,
    is_same,
    is_same_element,
)
from asyncwait.conformance.judging._read import calls_of, is_ahead_of_time
from asyncwait.spec import Record
from asyncwait.spec.scenario import (
    CallCancelled,
    CallEnded,
    CallStarted,
    Closed,
    Event,
    FailureAsked,
    FiguresRead,
    HandlerAsked,
    HookRun,
    Leg,
    LegStart,
    Misuse,
    Scenario,
    SinkGaveUp,
    SinkLeft,
    SinkTook,
    SinkWaits,
    SnapshotAsked,
    SourceClosed,
    SourceEnded,
    Taken,
    Trace,
    identity,
    next_leg,
)
from asyncwait.spec.snapshots import SnapshotError
from asyncwait.spec.texts import counted

_HOW = {"reply": "returned", "raise": "raised", "misreturn": "misreturned", "never": "returned"}
"""End of a call by its step; a "never" returns only after it swallowed its cancellation."""

_RESOLUTION = 1.0
"""Milliseconds by which a timer of a real clock may come early."""


def impossible(scenario: Scenario, trace: Trace) -> str | None:
    """Return why `trace` can't belong to `scenario`, or None.

    A wrong operator still has a possible trace. A trace is impossible only if the program that
    writes it reports the plan's own events wrongly.
    """
    if not trace.legs:
        return "it has no leg"
    if len(trace.legs) > len(scenario.crashes) + 1:
        crashes = counted(len(scenario.crashes), "time")
        return f"it has {counted(len(trace.legs), 'leg')}, the scenario crashes {crashes}"
    plan: LegStart | None = LegStart.first(scenario)
    for number, leg in enumerate(trace.legs):
        if plan is None:
            return f"leg {number}: the leg before did not crash"
        why = _impossible_setting(plan, leg) or _Leg(plan, leg).impossible()
        if why is not None:
            return f"leg {number}: {why}"
        try:
            plan = next_leg(plan, leg)
        except SnapshotError as error:
            return f"leg {number}: its last snapshot can't be restored: {error}"
    if plan is not None:
        return f"leg {plan.number} is missing: the one before crashed as planned"
    return None


def _impossible_setting(plan: LegStart, leg: Leg) -> str | None:
    """Compare how the operator was opened with the plan; a leg without events shows nothing."""
    if not leg.events:
        return None
    config = plan.config
    if (leg.mode, leg.capacity) != (config.mode, config.capacity):
        planned = f"{config.mode}, capacity {config.capacity}"
        return f"{leg.mode}, capacity {leg.capacity}; planned is {planned}"
    if not is_same_element(leg.restored, plan.restored):
        return f"it was restored from {_json(leg.restored)}, planned is {_json(plan.restored)}"
    if leg.first_index != plan.first_index:
        return f"it begins with input {leg.first_index}, planned is {plan.first_index}"
    return None


class _Leg:
    def __init__(self, plan: LegStart, leg: Leg) -> None:
        self._plan = plan
        self._scenario = plan.scenario
        self._leg = leg
        # Times of a real clock are rounded to its grid: back by no more than they were late.
        late_by = leg.late_by
        self._slack = ROUNDING + (late_by + _RESOLUTION if late_by else 0)
        self._inputs = plan.inputs
        stored = () if leg.restored is None else leg.restored.in_flight
        self._values = [identity(each.value) for each in stored if isinstance(each, Record)]
        """Values of the records read so far, by their numbers."""
        self._taken = 0
        self._is_closed = self._is_over = False
        self._waiting = False
        self._took_at: float | None = None
        self._calls: set[int] = set()
        self._ended: set[int] = set()
        self._figures_at = sorted(self._scenario.figures_at, reverse=True)
        """Planned times of readings, in ms, the latest first."""
        self._requests: dict[int, list[int]] = defaultdict(list)
        """Planned times of each request for a Snapshot, in ms, the latest first."""
        for request in sorted(plan.requests, key=lambda request: -request.at):
            self._requests[request.checkpoint_id].append(request.at)

    def impossible(self) -> str | None:
        """Return the first impossible event or ending."""
        at = 0.0
        for event in self._leg.events:
            if event.at < at:
                return f"{_json(event)} stands behind an event at {at:g}"
            at = event.at
            if (why := self._impossible(event)) is not None:
                return why
        return self._impossible_answers() or self._impossible_ending()

    def _impossible(self, event: Event) -> str | None:
        match event:  # The most frequent events come first.
            case SinkWaits() | SinkGaveUp():
                self._waiting, self._took_at = isinstance(event, SinkWaits), None
            case SinkTook():
                return self._sink_take(event)
            case CallStarted() | CallCancelled() | CallEnded():
                return self._call(event)
            case Taken():
                return self._take(event)
            case SourceEnded():
                return self._end_source(event)
            case SourceClosed():
                self._is_closed = True
            case HandlerAsked() if not self._scenario.handled:
                return f"a handler was asked for {_json(event.value)}, none is planned"
            case FailureAsked() if not self._scenario.failures_handled:
                asked = f"{event.error} of {_json(event.value)}"
                return f"a handler was asked about {asked}, none is planned"
            case HandlerAsked() | FailureAsked():
                return self._impossible_record(event)
            case HookRun() if self._scenario.hooks == "none":
                return f"{event.hook} ran, no hook is planned"
            case Closed():  # The figures are read once more then.
                self._is_over = True
                self._figures_at = [0] if self._scenario.figures_at else []
            case FiguresRead():
                return self._read_figures(event)
            case SnapshotAsked():
                return self._ask_snapshot(event)
            case SinkLeft() if self._is_early(event.at, self._leaves_at()):
                return f"the consumer left at {event.at:g}, that is not planned"
            case _:
                pass
        return None

    def _is_early(self, at: float, planned: float | None) -> bool:
        """Whether `at` is before the planned time; None is never planned."""
        return planned is None or at + self._slack < planned

    def _take(self, event: Taken) -> str | None:
        following = self._plan.first_index + self._taken
        if event.index != following or self._taken >= len(self._inputs):
            return f"input {event.index} was taken, the next one is {following}"
        if self._is_early(event.at, self._inputs[self._taken].at):
            return f"input {event.index} was taken before its time"
        element = self._inputs[self._taken].element
        if isinstance(element, Record):
            self._values.append(identity(element.value))
        self._taken += 1
        return None

    def _end_source(self, event: SourceEnded) -> str | None:
        if event.raised != bool(self._scenario.source_error):
            how = "raised" if event.raised else "ended without its error"
            return f"the source {how}, that is not planned"
        if self._is_closed:
            return None  # A closed source may end at once.
        if self._taken < len(self._inputs):
            return f"the source ended before input {self._plan.first_index + self._taken}"
        if self._is_early(event.at, self._scenario.source_ends_at - self._plan.began_at):
            return "the source ended before its time"
        return None

    def _call(self, event: CallStarted | CallCancelled | CallEnded) -> str | None:
        match event:
            case CallStarted() if event.call in self._calls:
                return f"call {event.call} started twice"
            case CallStarted():
                self._calls.add(event.call)
                is_for_nobody = is_ahead_of_time(self._scenario, event)
                return None if is_for_nobody else self._impossible_record(event)
            case CallCancelled() if event.call not in self._calls:
                return f"call {event.call} was cancelled before it started"
            case CallEnded() if event.call not in self._calls or event.call in self._ended:
                return f"call {event.call} ended without having started, or twice"
            case CallEnded():
                self._ended.add(event.call)
        return None

    def _impossible_record(self, event: CallStarted | HandlerAsked | FailureAsked) -> str | None:
        value, record = identity(event.value), event.record
        if not self._scenario.tells_apart:
            return None
        if record is None:
            is_open = self._values.count(value) > 1 and not self._is_copied
            return f"{_json(event)} does not tell which record it is about" if is_open else None
        if record >= len(self._values):
            return f"{_json(event)} is about record {record}, there are {len(self._values)} so far"
        if self._values[record] != value:
            return f"{_json(event)} is about record {record}, whose value is {self._values[record]}"
        return None

    @cached_property
    def _is_copied(self) -> bool:
        """Whether the operator passed a copy, so that the harness can't tell its record."""
        return any(isinstance(e, Misuse) and e.what == "copied" for e in self._leg.events)

    def _impossible_answers(self) -> str | None:
        """Compare each answer with its step: the k-th call of a value does step k of its plan."""
        calls = tuple(
            calls_of(self._scenario, Seen.of(self._leg.events), Numbers(self._scenario, ()))
        )
        began = {call.batch: call.at for call in reversed(calls)}
        for call in sorted(calls, key=lambda call: call.ended_seq):
            since = call.at
            if self._scenario.cache is not None:
                if call.batch is None:
                    continue  # It may have any results.
                since = began[call.batch]
            if (why := self._impossible_answer(call, since)) is not None:
                return why
        return None

    def _impossible_answer(self, call: Call, began: float) -> str | None:
        event, step = call.ended, call.step
        if event is None or event.how == "cancelled":
            return None
        due = None if step.does == "never" else began + step.after
        if step.swallow and -1 < call.cancelled_seq < call.ended_seq:
            due = call.cancelled_at + step.clean_up
        said = f"call {call.number} of {_json(call.value)}"
        if due is None or event.how != _HOW[step.does]:
            gave = f"gave {_json(event.results)}" if event.how == "returned" else event.how
            return f"{said} {gave}, planned is {_json(step)}"
        if event.how == "returned" and not is_same(event.results, step.results):
            return f"{said} gave {_json(event.results)}, planned is {_json(step)}"
        return f"{said} answered before its time" if self._is_early(event.at, due) else None

    def _read_figures(self, event: FiguresRead) -> str | None:
        planned = self._figures_at
        if not planned or self._is_early(event.at, planned.pop()):
            return f"figures were read at {event.at:g}, that is not planned, or not yet"
        return None

    def _ask_snapshot(self, event: SnapshotAsked) -> str | None:
        planned = self._requests[event.checkpoint_id]
        if planned and not self._is_early(event.at, planned[-1]):
            planned.pop()
            return None
        return f"snapshot {event.checkpoint_id} was asked for, that is not planned, or not yet"

    def _sink_take(self, event: SinkTook) -> str | None:
        """Compare with the wait before; an operator may put out several elements at once."""
        if not self._waiting:
            return f"{_json(event.element)} was taken by a consumer that did not wait"
        if self._took_at is not None and self._took_at != event.at:
            return f"{_json(event.element)} was taken, the consumer did not wait again"
        self._took_at = event.at
        return None

    def _left_at(self) -> float | None:
        """Return when the consumer may leave or be cancelled first, in ms; None for never."""
        if self._plan.number:
            return None
        scripted = any(step.does in {"leave", "raise"} for step in self._scenario.sink)
        return 0 if scripted else self._scenario.cancel_at

    def _leaves_at(self) -> float | None:
        crash = self._plan.crash
        times = [self._left_at(), None if crash is None else crash.at]
        return min((at for at in times if at is not None), default=None)

    def _impossible_ending(self) -> str | None:
        ending, crash = self._leg.ending, self._plan.crash
        match ending.how:
            case "left" if self._is_early(ending.at, self._left_at()):
                return f"it was left at {ending.at:g}, that is not planned"
            case "crashed" if crash is None or self._is_early(ending.at, crash.at):
                return f"it crashed at {ending.at:g}, that is not planned"
            case "finished" | "failed" | "left" | "crashed" if not self._is_over:
                return f"it {ending.how}, and no event says that it was closed"
            case _:
                return None


def _json(part: object) -> str:
    """Return a part of a scenario or trace as JSON, in which `1` and `1.0` differ."""
    try:
        return msgspec.json.encode(part).decode()
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return repr(part)
