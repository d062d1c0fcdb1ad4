"""A trace: everything that was observed in a run, as data.

Times are milliseconds since the leg began. Events stand in the order in which they were written;
of two with the same time only cause before effect means anything.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct

from asyncwait.spec._config import Mode
from asyncwait.spec._elements import Element, Record, Snapshot
from asyncwait.spec.scenario._limits import decoded, require_flat, require_flat_element

Moment: TypeAlias = Annotated[float, Meta(ge=0, description="When: ms since the leg began.")]
Count: TypeAlias = Annotated[int, Meta(ge=0)]


class SourceAsked(Struct, frozen=True, tag="asked", forbid_unknown_fields=True):
    """The operator asks the source for its next element."""

    at: Moment


class Taken(Struct, frozen=True, tag="taken", forbid_unknown_fields=True):
    """The source hands over an element: it is due, and the operator has asked for it.

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
        value: of the record that it is called for.
        record: that record's number, where records are told apart: 0 for the first that the leg
            was restored with or took, then 1, and so on.
        batch: number of the call that this one shares with others, where calls are batched: 0 for
            the first of the leg. They stand one behind the other then. With a cache: number of the
            load that it begins, waits for, or is given the results of; one that is for no record
            is a load in the background. None for one that is given what no load of the leg gave.
    """

    at: Moment
    call: Count
    value: Any
    record: Count | None = None
    batch: Count | None = None


class CallCancelled(Struct, frozen=True, tag="call-cancelled", forbid_unknown_fields=True):
    """A cancellation reaches the running call; in callback form none does.

    Args:
        call: its number.
    """

    at: Moment
    call: Count


class CallEnded(
    Struct, frozen=True, tag="call-ended", omit_defaults=True, forbid_unknown_fields=True
):
    """A call ends; in callback form: it is completed, or raises.

    Args:
        call: its number.
        how: it "returned" results; it "raised" the error that is planned; it "misreturned", that
            is gave something else than results, or ones that break while they are read; or it was
            "cancelled" and ended by that.
        results: what it returned.
    """

    at: Moment
    call: Count
    how: Literal["returned", "raised", "misreturned", "cancelled"] = "returned"
    results: tuple[Any, ...] = ()


class HandlerAsked(
    Struct, frozen=True, tag="handler", omit_defaults=True, forbid_unknown_fields=True
):
    """The timeout handler is asked for results.

    Args:
        value: of the record that they are asked for.
        record: that record's number, as of a call.
    """

    at: Moment
    value: Any
    record: Count | None = None


class FailureAsked(
    Struct, frozen=True, tag="failure", omit_defaults=True, forbid_unknown_fields=True
):
    """The failure handler is asked for results.

    Args:
        value: of the record that they are asked for.
        error: class name of the error that it is given.
        cause: class name of the cause of that.
        attempts: how many calls of the record the error tells of.
        record: that record's number, as of a call.
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
        hook: which one.
    """

    at: Moment
    hook: Literal["open", "close"]


class Blocked(Struct, frozen=True, tag="blocked", forbid_unknown_fields=True):
    """Something blocks the loop: the clock moves, and nothing else does.

    Args:
        until: when it ends; ms since the leg began.
    """

    at: Moment
    until: Annotated[float, Meta(ge=0)]


MisuseKind: TypeAlias = Literal[
    "supplier-thread",
    "supplier-needless",
    "read-twice",
    "copied",
    "interrupted",
    "swallowed",
    "call-shares",
    "handler-shares",
    "spoiled",
    "context-lost",
    "context-of-a-call",
    "context-of-a-handler",
    "context-of-the-consumer",
    "context-of-the-source",
    "cancelled-otherwise",
    "task-of-others",
    "scope-seen",
    "batch-empty",
    "predicate-again",
    "restless",
]
"""What an operator may not do with what it was given; each is a rule of its own."""


class Misuse(Struct, frozen=True, tag="misuse", forbid_unknown_fields=True):
    """The operator does with what it was given what the contract rules out.

    Args:
        at: ms since the leg began.
        what: "supplier-thread": it asks a supplier on another thread than the loop's;
            "supplier-needless": it asks one whose completion does not count; "read-twice": it reads
            a collection of results a second time; "copied": it hands on a copy in place of the very
            object; "interrupted": it cancels the read of its source, which is right only when it is
            through; "swallowed": it lets nothing come out of leaving although its consumer was
            cancelled, or raises an error of its own in its place; "call-shares", "handler-shares":
            where there are copies, it gives a call or a handler a value that is none, or not one of
            its own, or that somebody has changed; "spoiled": it stores such a value;
            "context-lost": a call does not see the context variable that was set when the operator
            was opened; "context-of-a-call": one sees what another call has set;
            "context-of-a-handler", "context-of-the-consumer", "context-of-the-source": these see
            what they should not; "cancelled-otherwise": a call is not cancelled as its loop does
            it; "task-of-others": the task of a call is that of another one, too, or was cancelled
            before, or more than once; "scope-seen": a call sees a deadline of the operator's;
            "batch-empty": the function is called with an empty batch; "predicate-again": it asks a
            predicate of a `Retry` a second time about one error, or about one collection of
            results; "restless": its loop wakes again and again while nothing happens.
        detail: what it was, in words.
    """

    at: float
    what: MisuseKind
    detail: str


class SnapshotAsked(Struct, frozen=True, tag="snapshot-asked", forbid_unknown_fields=True):
    """A snapshot is requested on demand.

    Args:
        checkpoint_id: the number that it will carry.
    """

    at: Moment
    checkpoint_id: int


class FiguresRead(
    Struct, frozen=True, tag="figures", omit_defaults=True, forbid_unknown_fields=True
):
    """The operator's statistics are read; they are those of `asyncwait.spec.Statistics`.

    Args:
        in_flight: records that were called and are not emitted.
        waiting: elements taken from the source that wait for room.
        held: records in flight that are decided.
        calls: calls so far.
        batches: batches called so far.
        hits: calls that were given what a cache kept.
        shared: calls that share a load which another one had begun.
        loads: calls that have begun one.
        stale: calls that were given old results, and are neither of these any more.
        null_keys: calls that have no key.
        refreshes: loads in the background.
        evictions: keys that had to go.
        retries: those that were not the first of their record.
        timeouts: records that their deadline decided.
        failures_handled: records for which the failure handler gave results.
        abandoned: calls that ran on after they were cancelled and had their turn to end.
        max_in_flight: highest `in_flight` so far.
        max_held: highest `held` so far.
        oldest: ms since the first call of the record in flight that was called first.
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
        element: as it came out.
    """

    at: Moment
    element: Element


class SinkIntruded(Struct, frozen=True, tag="intruded", forbid_unknown_fields=True):
    """A second task read while the consumer waited.

    Args:
        got: what it got: "raised X", "gave X" or "stop".
    """

    at: Moment
    got: str


class SinkGaveUp(Struct, frozen=True, tag="gave-up", forbid_unknown_fields=True):
    """The consumer cancelled its wait, and got nothing."""

    at: Moment


class SinkLeft(Struct, frozen=True, tag="left", omit_defaults=True, forbid_unknown_fields=True):
    """The consumer leaves the context before the end, is cancelled, or crashes.

    Args:
        at: ms since the leg began.
        raising: it leaves by an error that is raised in the body of the context.
    """

    at: Moment
    raising: bool = False


class Closed(Struct, frozen=True, tag="closed", forbid_unknown_fields=True):
    """The context is left, whatever ended the leg: the operator says that it is gone."""

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
    | SinkIntruded
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
"""How a leg ended. The last five are set by a bound of the harness, not by the operator."""


class Ending(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a leg ended.

    Args:
        how: the consumer saw the stream "finished"; it got an error, so the operator "failed"; it
            "left", by its script or cancelled; or the leg "crashed" as planned. The others are
            bounds of the harness: "hung" in time that moves, "livelock" in time that does not,
            "blocked" or "died" with its process; and "error" is one of the harness itself.
        at: ms since the leg began, when the consumer learned it.
        error: class name of the error that the consumer got.
        record: the input record that the error names.
        cause: class name of the error's cause.
        unchanged: the error of the source, of a hook or of the body came out as the very object
            that was raised.
        again: what further reads gave before the context was left, or the first of them that went
            wrong: "stop" for the end, "same" for the same error object, "hung" or
            "livelock", or a description of anything else; empty if there were none.
        after: the same, after the context was left.
        detail: text for people.
        traceback: where an error that the contract does not name comes from, as text; the innermost
            error, and in it the innermost place, stands first.
        number: of the record that the error names, as of a call.
        attempts: how many calls of that record the error tells of; 0 for no such error.
        unsaid: class name of an error that closing raised, too, and of which no note on the error
            that came out tells; empty if there is none.
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
    unsaid: str = ""


class Leg(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One life of an operator, from opening to its end or crash.

    Args:
        ending: how it ended.
        events: what was observed, in the order in which it happened.
        first_index: number of the scenario's input with which the source of this leg begins.
        restored: the snapshot that the operator was given.
        mode: of the operator in this leg.
        capacity: of the operator in this leg.
        tasks_left: tasks alive after the context was left, beyond those before.
        timers_left: timers likewise.
        abandoned: final figure of the operator's statistics: calls that ran on after they were
            cancelled and had their turn to end.
        refused: what a completion in callback form raised at the user; empty for nothing.
        kept: objects that the operator was found to know without need, at most, where they are
            tracked.
        kept_keys: keys likewise, in key-ordered mode.
        grown: bytes that the operator held more, at least, each time it was looked at while it had
            nothing in flight; for each element that had come out since.
        company: what went wrong with another operator on the loop; empty for nothing.
        late_by: the harness's own greatest lateness in ms; 0 on a virtual clock.
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
    kept_keys: int = 0
    grown: Annotated[float, Meta(ge=0)] = 0
    company: str = ""
    late_by: Annotated[float, Meta(ge=0)] = 0


class Trace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All legs of one scenario.

    Args:
        legs: in order; the first starts from the scenario's own `restore`.
        self_reported: a foreign program wrote it, not the harness.
        output: what was printed meanwhile, the last of it.
    """

    legs: tuple[Leg, ...]
    self_reported: bool = False
    output: str = ""


def trace_from_json(data: bytes) -> Trace:
    """Read a trace from JSON.

    Raises:
        InvalidConfig: not JSON, cut short, or it breaks the schema or a limit; the message says
            where.
    """
    trace: Trace = decoded(
        data, Trace, "the trace breaks its schema", "the trace is not whole JSON"
    )
    require_flat_trace(trace)
    return trace


def require_flat_trace(trace: Trace) -> None:
    """Refuse a trace that holds values or snapshots too deep in each other.

    Raises:
        InvalidConfig: it has more levels than `Limits.levels`.
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
