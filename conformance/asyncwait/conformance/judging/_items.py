"""What a leg is made of, as the checks see it: calls, inputs, outputs."""

from typing import Any

from asyncwait.spec import Element, Record, Watermark, WatermarkStatus
from asyncwait.spec.scenario import CallEnded, Step

NEVER = float("inf")


class Call:
    """One call of the function."""

    __slots__ = (
        "at",
        "cancelled_at",
        "ended",
        "ended_at",
        "ended_seq",
        "number",
        "seq",
        "step",
        "value",
    )

    def __init__(self, number: int, value: Any, at: float, seq: int, step: Step) -> None:
        self.number = number
        self.value = value
        self.at = at
        self.seq = seq
        self.step = step
        self.cancelled_at = NEVER
        self.ended: CallEnded | None = None
        self.ended_at = NEVER
        self.ended_seq = -1


class Item:
    """One element that the operator had to deal with: restored, or taken from the source."""

    __slots__ = (
        "asked_at",
        "at",
        "call",
        "decided_at",
        "decided_seq",
        "element",
        "emitted_at",
        "emitted_seq",
        "first_seq",
        "index",
        "outputs",
        "pos",
        "results",
        "seq",
        "timed_out",
        "wrong",
    )

    def __init__(self, pos: int, element: Element, index: int | None, at: float, seq: int) -> None:
        self.pos = pos
        self.element = element
        self.index = index
        """In the scenario's inputs; None for a restored element."""
        self.at = at
        self.seq = seq
        self.call: Call | None = None
        self.asked_at = NEVER
        """When the handler was asked for it."""
        self.decided_at = NEVER
        self.decided_seq = -1
        self.timed_out = False
        self.results: tuple[Any, ...] | None = None
        """What it has to put out once decided; None while undecided or failed."""
        self.wrong = ""
        """Name of the error that it was decided with; empty for none."""
        self.outputs: list[Output] = []
        self.first_seq = -1
        self.emitted_at = NEVER
        self.emitted_seq = -1

    @property
    def is_record(self) -> bool:
        """Whether it is a record."""
        return isinstance(self.element, Record)

    @property
    def is_fence(self) -> bool:
        """Whether it is a watermark or a status."""
        return isinstance(self.element, Watermark | WatermarkStatus)

    @property
    def is_barrier(self) -> bool:
        """Whether it asks for a snapshot."""
        return hasattr(self.element, "checkpoint_id")

    def __str__(self) -> str:
        where = "restored" if self.index is None else f"input {self.index}"
        return f"{self.element} ({where})"


class Output:
    """One element that the consumer took."""

    __slots__ = ("at", "element", "item", "part", "seq", "trouble")

    def __init__(self, element: Element, at: float, seq: int) -> None:
        self.element = element
        self.at = at
        self.seq = seq
        self.item: Item | None = None
        self.part = 0
        self.trouble = ""
        """ "invented", "repeated", "torn" (not the next result of its record), or nothing."""
