"""What a variation is: one class, whose name and docstring say what it does."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.conformance.harness import LoopName
from asyncwait.reference import (
    CallRunner,
    ElementQueue,
    Operator,
    OrderedQueue,
    Output,
    SourceReader,
    TaskMailbox,
    TimerService,
    UnorderedQueue,
    open_with,
)
from asyncwait.spec import Mode, OpenOperator

PARTS: Mapping[type, str] = {
    CallRunner: "calls_class",
    Output: "output_class",
    SourceReader: "source_class",
    TaskMailbox: "mailbox_class",
    TimerService: "timers_class",
}
"""The parts of an operator, and the attribute of the operator's class that names each."""

QUEUES: Mapping[Mode, type[ElementQueue]] = {"ordered": OrderedQueue, "unordered": UnorderedQueue}
"""The queue of each mode."""


class Variation(Struct, frozen=True):
    """A sound operator with one small change to its mechanism, or with a mechanism of its own.

    Args:
        change: a subclass of the reference's Operator, or of one of its parts, which then takes
            the place of that part; or another operator altogether. Its name becomes the
            variation's; its docstring is the sentence on it.
        loop: "asyncio" or "trio".
    """

    change: type
    loop: LoopName = "asyncio"

    @property
    def name(self) -> str:
        """What it does, in words joined by hyphens."""
        words: list[str] = re.findall("[A-Z][a-z0-9]*", self.change.__name__)
        return "-".join(words).lower()

    @property
    def sentence(self) -> str:
        """What it does, or which bug it re-creates, in a sentence."""
        return " ".join((self.change.__doc__ or "").split())

    @property
    def open_operator(self) -> OpenOperator:
        """The function that opens such an operator."""
        return open_with(operator_with(self.change))

    def backend(self) -> StreamBackend:
        """Return it as a backend."""
        return stream_backend(self.open_operator, loop=self.loop)


class Faulty(Variation, frozen=True, kw_only=True):
    """A variation that breaks a rule.

    Args:
        rule: id of the rule that has to convict it; others may do so too.
        blocks: it blocks its loop, so that only its process can be ended, from outside.
    """

    rule: str
    blocks: bool = False


def operator_with(change: type) -> type[Any]:
    """Return the class of operators with `change` in place of what it is derived from.

    Raises:
        TypeError: it is no operator, and derived from no part of one.
    """
    if hasattr(change, "__aenter__"):  # a variation of the whole, or another one altogether
        return change
    return type(change.__name__, (Operator,), _places(change))


def _places(change: type) -> dict[str, Any]:
    if issubclass(change, ElementQueue):
        queues: dict[Mode, type[ElementQueue]] = {
            mode: change if issubclass(change, sound) else sound for mode, sound in QUEUES.items()
        }
        return {"queue_classes": queues}
    for part, attribute in PARTS.items():
        if issubclass(change, part):
            return {attribute: change}
    raise TypeError(f"{change!r} is no operator, and derived from no part of one")
