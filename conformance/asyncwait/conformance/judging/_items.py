"""What a leg is made of, as the checks see it: calls, inputs, outputs."""

from typing import Any

from msgspec import Struct

from asyncwait.conformance.judging._identity import Identity
from asyncwait.spec import Barrier, Element, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.scenario import CallEnded, Step

NEVER = float("inf")

ROUNDING = 0.002
"""Milliseconds by which a sum of times may be off: each is written with three decimals."""

_FENCES = (Watermark, WatermarkStatus)
_STORED = (Record, *_FENCES)
_BARRIERS = (Barrier, Snapshot)


class Call(Struct, frozen=True, eq=False):
    """One call of the function.

    Args:
        number: as in the trace.
        value: what it is called with.
        identity: of its value.
        at: ms since the leg began.
        seq: number of the event.
        step: what was planned for it.
        record: number of its record; None where the trace does not tell it.
        deadline: of its record, in ms.
        limit: of itself as one attempt, in ms.
        cancelled_at: ms, when a cancellation reached it.
        cancelled_seq: number of that event; -1 for none.
        ended: how it ended; None if it did not.
        ended_at: ms.
        ended_seq: number of the event; -1 for none.
    """

    number: int
    value: Any
    identity: str
    at: float
    seq: int
    step: Step
    record: int | None = None
    deadline: float = NEVER
    limit: float = NEVER
    cancelled_at: float = NEVER
    cancelled_seq: int = -1
    ended: CallEnded | None = None
    ended_at: float = NEVER
    ended_seq: int = -1

    @property
    def until(self) -> float:
        """When it is cancelled at the latest, unless the operator is over, in ms."""
        return min(self.deadline, self.limit)

    def runs_before(self, seq: int) -> bool:
        """Whether it has not ended before the event number `seq`."""
        return not -1 < self.ended_seq < seq


class Input(Struct, frozen=True, eq=False):
    """One element that the operator had to deal with: restored, or taken from the source.

    Args:
        pos: its place among them, in input order.
        element: what it is.
        identity: of the element; two that are alike have the same.
        index: in the scenario's inputs; None for a restored element.
        at: ms since the leg began, when it was taken; 0 for a restored element.
        seq: number of the event; -1 for a restored element.
    """

    pos: int
    element: Element
    identity: Identity
    index: int | None
    at: float
    seq: int

    @property
    def is_record(self) -> bool:
        """Whether it is a record."""
        return isinstance(self.element, Record)

    @property
    def is_fence(self) -> bool:
        """Whether it is a watermark or a status."""
        return isinstance(self.element, _FENCES)

    @property
    def is_stored(self) -> bool:
        """Whether it is a record or a fence: what a snapshot holds until it is gone."""
        return isinstance(self.element, _STORED)

    @property
    def checkpoint_id(self) -> int | None:
        """The id of the Snapshot that it asks for; None if it asks for none."""
        return self.element.checkpoint_id if isinstance(self.element, _BARRIERS) else None

    def __str__(self) -> str:
        where = "restored" if self.index is None else f"input {self.index}"
        return f"{self.element} ({where})"


class Item(Input, frozen=True, eq=False):
    """An input, and what became of it.

    Args:
        attempts: the calls of a record, in order; none as long as it waits for its first.
        asked_at: ms, when the handler was asked for it.
        decided_at: ms.
        decided_seq: number of the event that decided it; -1 if it was no event.
        timed_out: its deadline decided it.
        results: what it has to put out once decided; None while undecided or failed.
        wrong: name of the error that it was decided with; empty for none.
        cause: class of the cause of that error, where it is not what its call has raised.
        failure: name of the error that its failure handler was to be asked about; empty for none.
        failure_cause: class of the cause of that, as `cause`.
        given: how many of its outputs the consumer has taken.
        first_at: ms, when the consumer took the first of them.
        first_seq: number of that event; -1 for none.
        emitted_at: ms, when the consumer took the last of them.
        emitted_seq: number of that event; -1 for none.
    """

    attempts: tuple[Call, ...] = ()
    asked_at: float = NEVER
    decided_at: float = NEVER
    decided_seq: int = -1
    timed_out: bool = False
    results: tuple[Any, ...] | None = None
    wrong: str = ""
    cause: str = ""
    failure: str = ""
    failure_cause: str = ""
    given: int = 0
    first_at: float = NEVER
    first_seq: int = -1
    emitted_at: float = NEVER
    emitted_seq: int = -1

    @property
    def call(self) -> Call | None:
        """A record's first call; None as long as it has none."""
        return self.attempts[0] if self.attempts else None

    @property
    def last(self) -> Call | None:
        """A record's last call so far, whose outcome counts; None as long as it has none."""
        return self.attempts[-1] if self.attempts else None

    def is_begun_before(self, seq: float) -> bool:
        """Whether the consumer took some of it before the event number `seq`."""
        return -1 < self.first_seq < seq

    def is_out_before(self, seq: float) -> bool:
        """Whether the consumer took all of it before the event number `seq`."""
        return -1 < self.emitted_seq < seq


class Output(Struct, frozen=True, eq=False):
    """One element that the consumer took.

    Args:
        element: what it is.
        at: ms since the leg began.
        seq: number of the event.
        item: the input that it belongs to; None if there is none.
        part: which of the results of its record it is, from 0 on.
        trouble: "invented", "repeated", "torn" (not the next result of its record), or nothing.
    """

    element: Element
    at: float
    seq: int
    item: Item | None = None
    part: int = 0
    trouble: str = ""
