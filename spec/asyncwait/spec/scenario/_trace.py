"""A trace: everything that was observed in a run, as data.

Times are milliseconds since the leg began. Events are in the order in which they were written; for
two events with the same time, only the order of cause before effect is significant.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec._config import Mode
from asyncwait.spec._elements import Element, Record, Snapshot
from asyncwait.spec.scenario._limits import decoded, require_flat, require_flat_element

Moment: TypeAlias = Annotated[float, Meta(ge=0, description="When: ms since the leg began.")]
Count: TypeAlias = Annotated[int, Meta(ge=0)]


class SourceAsked(Struct, frozen=True, tag="asked", forbid_unknown_fields=True):
    """The operator requests the next element of the source."""

    at: Moment


class Taken(Struct, frozen=True, tag="taken", forbid_unknown_fields=True):
    """The source gives an element, which is due, and which the operator has requested.

    Args:
        index: its number among the scenario's inputs, from 0 on.
    """

    at: Moment
    index: Count


class SourceEnded(Struct, frozen=True, tag="source-ended", forbid_unknown_fields=True):
    """The source reports the end of input, or raises its error.

    Args:
        raised: whether it raises.
    """

    at: Moment
    raised: bool = False


class SourceClosed(Struct, frozen=True, tag="source-closed", forbid_unknown_fields=True):
    """The operator closes the source."""

    at: Moment


class CallStarted(Struct, frozen=True, tag="call", omit_defaults=True, forbid_unknown_fields=True):
    """The function is called.

    Args:
        call: number of the call: 0 for the first of the leg, then 1, and so on.
        value: value of the called record.
        record: number of the called record, where the trace has to distinguish records: 0 for the
            first record that the leg restored or took, then 1, and so on.
        batch: with batches, number of the batch: 0 for the first of the leg; the calls of a batch
            follow each other. With a cache: number of the load that the call begins, waits for, or
            takes the results of; a load without a record is in the background. None if the results
            come from no load of the leg.
    """

    at: Moment
    call: Count
    value: Any
    record: Count | None = None
    batch: Count | None = None


class CallCancelled(Struct, frozen=True, tag="call-cancelled", forbid_unknown_fields=True):
    """A cancellation reaches the running call, except in callback form.

    Args:
        call: number of the call.
    """

    at: Moment
    call: Count


class CallEnded(
    Struct, frozen=True, tag="call-ended", omit_defaults=True, forbid_unknown_fields=True
):
    """A call ends; in callback form: it is completed, or raises.

    Args:
        call: number of the call.
        how: it "returned" results; it "raised" the planned error; it "misreturned" an object that
            is not results, or results that raise while they are read; or it was "cancelled" and
            ended by the cancellation.
        results: results that it returned.
    """

    at: Moment
    call: Count
    how: Literal["returned", "raised", "misreturned", "cancelled"] = "returned"
    results: tuple[Any, ...] = ()


class HandlerAsked(
    Struct, frozen=True, tag="handler", omit_defaults=True, forbid_unknown_fields=True
):
    """The operator calls the timeout handler.

    Args:
        value: value of the late record.
        record: number of the late record; see `CallStarted`.
    """

    at: Moment
    value: Any
    record: Count | None = None


class FailureAsked(
    Struct, frozen=True, tag="failure", omit_defaults=True, forbid_unknown_fields=True
):
    """The operator calls the failure handler.

    Args:
        value: value of the failed record.
        error: class name of the error that the handler receives.
        cause: class name of the error's cause.
        attempts: number of calls of the record according to the error.
        record: number of the failed record; see `CallStarted`.
    """

    at: Moment
    value: Any
    error: str
    cause: str = ""
    attempts: Count = 1
    record: Count | None = None


class HookRun(Struct, frozen=True, tag="hook", forbid_unknown_fields=True):
    """A hook of the function ran.

    Args:
        hook: name of the hook.
    """

    at: Moment
    hook: Literal["open", "close"]


class Blocked(Struct, frozen=True, tag="blocked", forbid_unknown_fields=True):
    """User code blocks the loop: the clock moves, and nothing else happens.

    Args:
        until: end of the blocking, in ms since the leg began.
    """

    at: Moment
    until: Annotated[float, Meta(ge=0)]


MisuseKind: TypeAlias = Literal[
    "supplier-thread",
    "supplier-needless",
    "copied",
    "interrupted",
    "swallowed",
    "call-shares",
    "handler-shares",
    "spoiled",
    "context-lost",
    "context-of-a-call",
    "context-of-a-handler",
    "cancelled-otherwise",
    "batch-empty",
    "restless",
]
"""Forbidden actions of an operator; each breaks a rule of its own."""


class Misuse(Struct, frozen=True, tag="misuse", forbid_unknown_fields=True):
    """The operator uses one of its arguments in a way that the contract forbids.

    Args:
        at: ms since the leg began.
        what: "supplier-thread": it calls a supplier in another thread than the loop's;
            "supplier-needless": it calls a supplier whose completion does not count; "copied": it
            emits a copy in place of the very object; "interrupted": it cancels the read of its
            source before the operator is over; "swallowed": leaving raises no cancellation although
            its consumer was cancelled, or raises another error in its place; "call-shares",
            "handler-shares": with copies, it gives a call or a handler a value that is not a copy,
            or not a copy of its own, or was changed; "spoiled": it stores such a value;
            "context-lost": a call does not see the context variable that was set when the operator
            was opened; "context-of-a-call": a call sees a variable that another call has set;
            "context-of-a-handler": a handler or a predicate sees a variable that it should not see;
            "cancelled-otherwise": a call is not cancelled in the way of its loop; "batch-empty":
            the function is called with an empty batch; "restless": its loop wakes repeatedly while
            nothing happens.
        detail: description in words.
    """

    at: float
    what: MisuseKind
    detail: str


class SnapshotAsked(Struct, frozen=True, tag="snapshot-asked", forbid_unknown_fields=True):
    """A snapshot is requested on demand.

    Args:
        checkpoint_id: the number that the snapshot will carry.
    """

    at: Moment
    checkpoint_id: int


class FiguresRead(
    Struct, frozen=True, tag="figures", omit_defaults=True, forbid_unknown_fields=True
):
    """The harness reads the operator's statistics; see `asyncwait.spec.Statistics`.

    Args:
        in_flight: records that were called and are not emitted.
        waiting: elements taken from the source that wait for room.
        held: records in flight that are decided.
        calls: calls so far.
        batches: batches called so far.
        hits: calls that took cached results.
        shared: calls that share a load that another call began.
        loads: calls that began a load.
        stale: calls that took stale results; `hits`, `shared` and `loads` do not include them.
        null_keys: calls without a key.
        refreshes: loads in the background.
        evictions: evicted keys.
        retries: calls that were not the first of their record.
        timeouts: records that their deadline decided.
        failures_handled: records for which the failure handler gave results.
        abandoned: cancelled calls that still ran after the loop had let them end.
        max_in_flight: highest `in_flight` so far.
        max_held: highest `held` so far.
        oldest: ms since the first call of the oldest record in flight.
        waiting_for_permits: records that wait for each limit.
    """

    at: Moment
    in_flight: int = 0
    waiting: int = 0
    held: int = 0
    calls: int = 0
    batches: int = 0
    hits: int = 0
    shared: int = 0
    loads: int = 0
    stale: int = 0
    null_keys: int = 0
    refreshes: int = 0
    evictions: int = 0
    retries: int = 0
    timeouts: int = 0
    failures_handled: int = 0
    abandoned: int = 0
    max_in_flight: int = 0
    max_held: int = 0
    oldest: float = 0
    waiting_for_permits: tuple[int, ...] = ()


class SinkWaits(Struct, frozen=True, tag="waits", forbid_unknown_fields=True):
    """The consumer begins to wait for the next element."""

    at: Moment


class SinkTook(Struct, frozen=True, tag="took", forbid_unknown_fields=True):
    """The consumer takes an element: it is emitted.

    Args:
        element: the emitted element.
    """

    at: Moment
    element: Element


class SinkGaveUp(Struct, frozen=True, tag="gave-up", forbid_unknown_fields=True):
    """The consumer cancelled its wait, and received no element."""

    at: Moment


class SinkLeft(Struct, frozen=True, tag="left", omit_defaults=True, forbid_unknown_fields=True):
    """The consumer leaves the context before the end, is cancelled, or crashes.

    Args:
        at: ms since the leg began.
        raising: whether an error in the body of the context makes it leave.
    """

    at: Moment
    raising: bool = False


class Closed(Struct, frozen=True, tag="closed", forbid_unknown_fields=True):
    """Leaving the context has returned, whatever ended the leg."""

    at: Moment


Event: TypeAlias = (
    SourceAsked
    | Taken
    | SourceEnded
    | SourceClosed
    | CallStarted
    | CallCancelled
    | CallEnded
    | HandlerAsked
    | FailureAsked
    | HookRun
    | Blocked
    | Misuse
    | SnapshotAsked
    | FiguresRead
    | SinkWaits
    | SinkTook
    | SinkGaveUp
    | SinkLeft
    | Closed
)

EndingKind: TypeAlias = Literal[
    "finished",
    "failed",
    "left",
    "crashed",
    "interrupted",
    "hung",
    "livelock",
    "blocked",
    "died",
    "error",
]
"""Endings of a leg. A bound of the harness sets the last five, not the operator."""


class Ending(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Ending of a leg.

    Args:
        how: the stream "finished"; the consumer received an error, so the operator "failed"; the
            consumer "left", by its script or by a cancellation; or the leg "crashed" as planned.
            The other values are bounds of the harness: "hung" while time moved, "livelock" while
            time did not move, "blocked" or "died" with its process; "error" is an error of the
            harness itself.
        at: time at which the consumer learned of the ending, in ms since the leg began.
        error: class name of the error that the consumer received.
        record: the input record that the error names.
        cause: class name of the error's cause.
        unchanged: whether the error of the source, of a hook or of the body came out as the very
            object that was raised.
        again: outcome of further reads before the context was left, or of the first wrong read:
            "stop" for the end, "same" for the same error object, "hung" or "livelock", or a
            description of anything else; empty without further reads.
        after: the same, after the context was left.
        detail: text for people.
        traceback: origin of an error that the contract does not name, as text; the innermost error,
            and in it the innermost place, comes first.
        number: number of the record that the error names; see `CallStarted`.
        attempts: number of calls of that record according to the error; 0 for no such error.
    """

    how: EndingKind
    at: Annotated[float, Meta(ge=0)] = 0
    error: str = ""
    record: Record | None = None
    cause: str = ""
    unchanged: bool = False
    again: str = ""
    after: str = ""
    detail: str = ""
    traceback: str = ""
    number: Count | None = None
    attempts: Count = 0


class Leg(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One life of an operator, from opening to its end or crash.

    Args:
        ending: the ending of the leg.
        events: observed events, in the order in which they happened.
        first_index: index of the scenario's input with which the source of this leg begins.
        restored: the snapshot that the operator restored.
        mode: mode of the operator in this leg.
        capacity: capacity of the operator in this leg.
        tasks_left: additional tasks that are alive after the context was left.
        timers_left: additional timers likewise.
        abandoned: final figure of the operator's statistics: cancelled calls that still ran after
            the loop had let them end.
        refused: error that a completion in callback form raised in user code; empty for none.
        kept: largest number of tracked objects that the operator referenced without need.
        grown: smallest growth of the operator's memory between two measurements without records in
            flight, in bytes for each element emitted in between.
        late_by: greatest lateness of the harness itself in ms; 0 on a virtual clock.
    """

    ending: Ending
    events: tuple[Event, ...] = ()
    first_index: Count = 0
    restored: Snapshot | None = None
    mode: Mode = "ordered"
    capacity: int = 4
    tasks_left: Count = 0
    timers_left: Count = 0
    abandoned: int = 0
    refused: str = ""
    kept: int = 0
    grown: Annotated[float, Meta(ge=0)] = 0
    late_by: Annotated[float, Meta(ge=0)] = 0


class Trace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All legs of one scenario.

    Args:
        legs: legs in order; the first starts from the scenario's own `restore`.
        self_reported: whether a foreign program wrote the trace, not the harness.
        output: end of the printed output.
    """

    legs: tuple[Leg, ...]
    self_reported: bool = False
    output: str = ""


def trace_from_json(data: bytes) -> Trace:
    """Read a trace from JSON.

    Raises:
        InvalidConfig: `data` is not JSON, is cut short, or breaks the schema or a limit; the
            message says where.
    """
    trace: Trace = decoded(
        data, Trace, "the trace breaks its schema", "the trace is not whole JSON"
    )
    require_flat_trace(trace)
    return trace


def require_flat_trace(trace: Trace) -> None:
    """Refuse a trace with too many levels of nested values or snapshots.

    Raises:
        InvalidConfig: the trace has more levels than `Limits.levels`.
    """
    for leg in trace.legs:
        for element in (leg.restored, leg.ending.record):
            if element is not None:
                require_flat_element("trace", element)
        for event in leg.events:
            match event:
                case SinkTook():
                    require_flat_element("trace", event.element)
                case CallStarted() | HandlerAsked() | FailureAsked():
                    require_flat("trace", event.value)
                case CallEnded():
                    require_flat("trace", *event.results)
                case _:
                    pass
