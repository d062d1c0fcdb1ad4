"""How an operator is set up. Everything is checked where it is given."""

import math
import sys
from typing import Any, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.spec._errors import InvalidConfig

Mode: TypeAlias = Literal["ordered", "unordered"]
"""Results in input order, or in completion order between two watermarks."""

MODES: tuple[Mode, ...] = ("ordered", "unordered")


class Retry(Struct, frozen=True, kw_only=True):
    """When and how often a call is repeated.

    Args:
        max_attempts: calls of one record at most, the first included.
        initial: back-off before the second call, in seconds.
        multiplier: each further back-off is this much longer.
        cap: no back-off is longer, in seconds.
        attempt_timeout: longest time for one attempt, in seconds; None for no such limit.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    max_attempts: int = 3
    initial: float = 0.1
    multiplier: float = 2.0
    cap: float = 60.0
    attempt_timeout: float | None = None

    def __post_init__(self) -> None:
        require_whole("max_attempts", self.max_attempts)
        _require_seconds("initial", self.initial)
        if not _is_number(self.multiplier) or not self.multiplier >= 1:
            raise InvalidConfig.of("multiplier", self.multiplier, "a number >= 1")
        _require_seconds("cap", self.cap)
        _require_timeout("attempt_timeout", self.attempt_timeout)

    def back_off(self, attempts: int) -> float:
        """Return the seconds to wait after `attempts` calls of one record.

        It depends on that record alone and can't overflow (Flink's RT-5 shares it among all).
        """
        try:
            grown = self.initial * float(self.multiplier) ** (attempts - 1)
        except OverflowError:
            return self.cap
        return min(grown, self.cap)


class OperatorConfig(Struct, frozen=True):
    """What an operator is told besides its function.

    Args:
        mode: "ordered" or "unordered".
        capacity: records admitted and not yet emitted at most.
        timeout: seconds from a record's first call to its deadline; None for no deadline.
        retry: how failed calls are repeated; None for never.
        max_held: finished results that may wait for their turn besides `capacity` running
            calls; None counts them as part of the capacity.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
    """

    mode: Mode = "ordered"
    capacity: int = 100
    timeout: float | None = None
    retry: Retry | None = None
    max_held: int | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidConfig.of("mode", self.mode, "'ordered' or 'unordered'")
        require_whole("capacity", self.capacity)
        _require_timeout("timeout", self.timeout)
        if self.timeout is not None and self.timeout > sys.float_info.max:
            force_setattr(self, "timeout", math.inf)  # an int may be more than a clock can add
        if self.retry is not None and not isinstance(self.retry, Retry):
            raise InvalidConfig.of("retry", self.retry, "a Retry or None")
        if self.max_held is not None:
            require_whole("max_held", self.max_held)

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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def require_whole(name: str, value: Any) -> None:
    """Refuse what can't count anything.

    Args:
        name: of the argument, for the message.
        value: given for it.

    Raises:
        InvalidConfig: `value` is not a whole number >= 1.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidConfig.of(name, value, "a whole number >= 1")


def _require_seconds(name: str, value: Any) -> None:
    # "Not greater" is true of NaN too.
    if not _is_number(value) or not value > 0:
        raise InvalidConfig.of(name, value, "a number of seconds > 0")


def _require_timeout(name: str, value: Any) -> None:
    """Zero would mean never here and at once there, so it is refused (Flink's TO-1, TO-3)."""
    if value is not None and (not _is_number(value) or not value > 0):
        raise InvalidConfig.of(name, value, "a number of seconds > 0, or None for none")
