"""How an operator is set up. Everything is checked where it is given."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec._retry import Retry
from asyncwait.spec.checks import (
    at_most_infinite,
    is_plain_function,
    require_timeout,
    require_whole,
)

Mode: TypeAlias = Literal["ordered", "unordered", "key-ordered"]
"""Results in input order, or in completion order between two watermarks: those of all records, or
of one key after another."""

MODES: tuple[Mode, ...] = ("ordered", "unordered", "key-ordered")


class OperatorConfig(Struct, frozen=True):
    """What an operator is told besides its function.

    Args:
        mode: "ordered", "unordered" or "key-ordered".
        capacity: records admitted and not yet emitted at most, but see `max_held`.
        timeout: seconds from a record's first call to its deadline; None for no deadline.
        retry: how failed calls are repeated; None for never.
        max_held: so many finished elements, which wait for their turn or for the consumer, take no
            room: then `capacity` bounds the undecided calls. None for no such elements.
        copy: makes the copy of a record's value that each call and each handler is given, say
            `copy.deepcopy`. None for no copies: all of them are given the very object that was
            read, and what one of them changes in it, the next one sees.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
    """

    mode: Mode = "ordered"
    capacity: int = 100
    timeout: float | None = None
    retry: Retry | None = None
    max_held: int | None = None
    copy: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidConfig.of("mode", self.mode, "'ordered', 'unordered' or 'key-ordered'")
        require_whole("capacity", self.capacity)
        require_timeout("timeout", self.timeout)
        if self.timeout is not None:
            force_setattr(self, "timeout", at_most_infinite(self.timeout))
        if self.retry is not None and not isinstance(self.retry, Retry):
            raise InvalidConfig.of("retry", self.retry, "a Retry or None")
        if self.max_held is not None:
            require_whole("max_held", self.max_held)
        if self.copy is not None and not is_plain_function(self.copy):
            raise InvalidConfig.of("copy", self.copy, "a plain function of a value, or None")

    def require_only(self, operator: str, *supported: str) -> None:
        """Refuse the optional settings that `operator` does not know.

        Args:
            operator: its name, for the message.
            supported: names of optional settings that it does know.

        Raises:
            InvalidConfig: one of `retry`, `max_held` is set and not among `supported`.
        """
        for name in ("retry", "max_held"):
            value = getattr(self, name)
            if value is not None and name not in supported:
                raise InvalidConfig.of(name, value, f"None: {operator} does not support it")
