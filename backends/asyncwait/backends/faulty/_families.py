"""The operators that faulty ones are made of: the reference, and the emitter."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from asyncwait.backends.emitter import (
    CheckpointLock,
    Checkpoints,
    Emitter,
    EmitterOperator,
    Intake,
    Outlet,
    Parts,
    Reader,
    Records,
    Timers,
)
from asyncwait.backends.emitter import OrderedQueue as OrderedBlockingQueue
from asyncwait.backends.emitter import UnorderedQueue as UnorderedBlockingQueue
from asyncwait.reference import (
    CallRunner,
    Operator,
    OrderedQueue,
    Output,
    SourceReader,
    TaskMailbox,
    TimerService,
    UnorderedQueue,
)
from asyncwait.spec import Mode


def _reference_with(name: str, places: dict[str, Any]) -> type[Any]:
    return type(name, (Operator,), places)


def _emitter_with(name: str, places: dict[str, Any]) -> type[Any]:
    return type(name, (EmitterOperator,), {"parts_class": type(name, (Parts,), places)})


class Family(Struct, frozen=True):
    """An operator that can be varied.

    Args:
        parts: its parts, and the attribute of the operator that names the class of each.
        queues: its queue of each mode.
        build: returns a class of such operators, given its name and what attributes it has.
    """

    parts: Mapping[type, str]
    queues: Mapping[Mode, type]
    build: Callable[[str, dict[str, Any]], type[Any]]

    def places(self, change: type) -> dict[str, Any]:
        """Return the attributes of an operator with `change` in it; empty if it is no part."""
        if any(issubclass(change, queue) for queue in self.queues.values()):
            queues = {m: change if issubclass(change, q) else q for m, q in self.queues.items()}
            return {"queue_classes": queues}
        return {name: change for part, name in self.parts.items() if issubclass(change, part)}


REFERENCE = Family(
    parts={
        CallRunner: "calls_class",
        Output: "output_class",
        SourceReader: "source_class",
        TaskMailbox: "mailbox_class",
        TimerService: "timers_class",
    },
    queues={"ordered": OrderedQueue, "unordered": UnorderedQueue},
    build=_reference_with,
)

EMITTER = Family(
    parts={
        CheckpointLock: "lock_class",
        Checkpoints: "checkpoints_class",
        Emitter: "emitter_class",
        Intake: "intake_class",
        Outlet: "outlet_class",
        Reader: "reader_class",
        Records: "records_class",
        Timers: "timers_class",
    },
    queues={"ordered": OrderedBlockingQueue, "unordered": UnorderedBlockingQueue},
    build=_emitter_with,
)


def operator_with(change: type) -> type[Any]:
    """Return the class of operators with `change` in place of what it is derived from.

    Raises:
        TypeError: it is no operator, and derived from no part of one.
    """
    if hasattr(change, "__aenter__"):  # a variation of the whole, or another one altogether
        return change
    for family in (REFERENCE, EMITTER):
        if places := family.places(change):
            return family.build(change.__name__, places)
    raise TypeError(f"{change!r} is no operator, and derived from no part of one")
