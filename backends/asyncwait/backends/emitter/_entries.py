"""What stands in the queue of an operator."""

from dataclasses import dataclass

import anyio

from asyncwait.backends.emitter._watch import Call
from asyncwait.spec import Element, Record
from asyncwait.spec.snapshots import Stored


@dataclass(slots=True, eq=False)
class Entry:
    """An element in the queue: a record, or a fence, which is completed from birth.

    Args:
        element: as it was read; a snapshot holds this, never the outputs (SNAP-3).
        outputs: what comes out for it; None until it is completed.
        given: how many of these the consumer has taken.
        deadline: in seconds of the loop's clock; None if there is none, or before the first call.
        attempts: calls for it that began.
        is_called: whether what the last of them comes to still counts.
        call: the last one while it runs, if it can be cancelled.
        pause: what the back-off before the next one sleeps in, while it does.
        room: how many may share the next call, where batches are split; None for no bound.
        following: the next entry with its key, which waits for it in key-ordered mode.
    """

    element: Stored
    outputs: tuple[Element, ...] | None = None
    given: int = 0
    deadline: float | None = None
    attempts: int = 0
    is_called: bool = False
    call: Call | None = None
    pause: anyio.CancelScope | None = None
    room: int | None = None
    following: "Entry | None" = None

    @classmethod
    def of(cls, element: Stored) -> "Entry":
        """Make an entry of an element that was read or restored."""
        return cls(element, None if isinstance(element, Record) else (element,))

    @property
    def is_completed(self) -> bool:
        """Whether it is decided what comes out for it."""
        return self.outputs is not None

    @property
    def is_taken(self) -> bool:
        """Whether the consumer has all that comes out for it."""
        return self.outputs is not None and self.given == len(self.outputs)

    def is_late(self, at: float) -> bool:
        """Whether a time lies behind its deadline."""
        return self.deadline is not None and at > self.deadline
