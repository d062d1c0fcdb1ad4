"""What can be watched, and how often."""

import math
from typing import Any, Protocol

import anyio

from asyncwait.spec import InvalidConfig, Statistics


class Watched(Protocol):
    """What `async with` of an operator gives: `OperatorResults`, `PlainResults`, and of a chain."""

    def statistics(self) -> Statistics:
        """Return the present figures."""
        ...


class Interval:
    """Waits until it is time again, by the clock of the loop.

    What comes late delays nothing behind it. What was missed altogether is left out, and the next
    comes a whole interval later.

    Args:
        every: seconds from one time to the next.
        first: when the first one is due, in seconds of the loop's clock.
    """

    def __init__(self, every: float, first: float) -> None:
        self._every = every
        self._due = first

    async def wait(self) -> None:
        """Return when it is time."""
        await anyio.sleep_until(self._due)
        now = anyio.current_time()
        self._due += self._every
        if self._due <= now:
            self._due = now + self._every


def require_watched(results: Any, every: Any) -> None:
    """Refuse what can't be watched.

    Args:
        results: given as what is to be watched.
        every: given as the seconds from one reading to the next.

    Raises:
        InvalidConfig: `results` has no figures, or `every` is not a finite number above 0.
    """
    if not callable(getattr(results, "statistics", None)):
        expected = "what an operator gives, as in `async with ordered_wait(...) as results`"
        raise InvalidConfig.of("results", results, expected)
    is_number = isinstance(every, int | float) and not isinstance(every, bool)
    if not is_number or not 0 < every < math.inf:
        raise InvalidConfig.of("every", every, "a finite number of seconds > 0")
