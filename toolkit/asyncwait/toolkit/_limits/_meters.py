"""How much of each limit is in use: what may begin now, or else when."""

from collections import deque
from collections.abc import Sequence
from http import HTTPStatus
from math import ceil, inf
from typing import Protocol

from asyncwait.spec import RetryAfter
from asyncwait.toolkit._limits._vocabulary import Limit
from asyncwait.toolkit._transient import status_of, transient

ROUNDING = 1 + 1e-9
"""Sums of costs are no more exact than that."""


class Turn:
    """One call, from the moment it may begin.

    Args:
        amounts: what it costs, by meter; in the end, what it has cost.
        now: when it was asked for, in seconds.
    """

    __slots__ = ("amounts", "asked", "began", "ended", "error", "number", "told")

    def __init__(self, amounts: list[float], now: float) -> None:
        self.amounts = amounts
        self.asked = now
        self.began = inf
        """When it began, in seconds; what has not counts, and never leaves."""
        self.ended = inf
        self.told: Sequence[float | None] = ()
        """What the call itself says of its costs."""
        self.error: BaseException | None = None
        """What it has raised."""
        self.number = 0
        """By which a ledger knows it that others use, too."""


class Meter(Protocol):
    """One limit, and the calls that count for it."""

    def delay(self, turn: Turn, /) -> float:
        """Return in how many seconds to ask again for a call.

        0 if it may begin, and infinity if that depends on the end of another one.
        """
        ...

    def take(self, turn: Turn, /) -> None:
        """Count it."""
        ...

    def begin(self, turn: Turn, /) -> None:
        """Note that it begins."""
        ...

    def end(self, turn: Turn, /) -> None:
        """Note that it has ended; or that it does not begin, as if it had never been counted."""
        ...


class Window:
    """So much in any stretch of time: see `Limit`.

    Args:
        limit: what is allowed.
        place: of its costs among those of a turn.
    """

    def __init__(self, limit: Limit, place: int) -> None:
        self._most, self._per, self._latency = limit.most, limit.per, limit.arrives_in
        self._place = place
        self._total = 0.0
        self._begun: deque[Turn] = deque()
        """By their beginnings; those that ended while they were on their way are below, too."""
        self._short: deque[Turn] = deque()
        """Those, by their ends."""

    def delay(self, turn: Turn) -> float:
        self._forget(turn.asked)
        if self._total + turn.amounts[self._place] <= self._most * ROUNDING:
            return 0
        return self._next() - turn.asked

    def take(self, turn: Turn) -> None:
        self._total += turn.amounts[self._place]

    def begin(self, turn: Turn) -> None:
        self._begun.append(turn)

    def end(self, turn: Turn) -> None:
        place = self._place
        if turn.began == inf:
            self._total -= turn.amounts[place]
            return
        self._forget(turn.ended)
        if turn.told and (told := turn.told[place]) is not None:
            if self._leaves(turn) > turn.ended:
                self._total += told - turn.amounts[place]
            turn.amounts[place] = told
        if self._is_short(turn):
            self._short.append(turn)

    def _is_short(self, turn: Turn) -> bool:
        """Say whether a call has ended in less time than one may be on its way."""
        return turn.ended < turn.began + self._latency

    def _leaves(self, turn: Turn) -> float:
        return min(turn.ended, turn.began + self._latency) + self._per

    def _forget(self, now: float) -> None:
        """Count no more what has reached the service so long ago."""
        while self._begun and (
            self._is_short(self._begun[0]) or self._leaves(self._begun[0]) <= now
        ):
            turn = self._begun.popleft()
            if not self._is_short(turn):
                self._total -= turn.amounts[self._place]
        while self._short and self._leaves(self._short[0]) <= now:
            self._total -= self._short.popleft().amounts[self._place]

    def _next(self) -> float:
        """Return when the next one leaves."""
        firsts = [turns[0] for turns in (self._begun, self._short) if turns]
        return min(map(self._leaves, firsts), default=inf)


class Room:
    """So many calls at a time."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open = 0

    def delay(self, _: Turn) -> float:
        return 0 if self._open < self._most else inf

    def take(self, _: Turn) -> None:
        self._open += 1

    def begin(self, _: Turn) -> None:
        """Nothing changes."""

    def end(self, _: Turn) -> None:
        self._open -= 1


_FEWER = 0.9
"""Calls at a time, in proportion, after a service has said that they are too many."""

_BEFORE_ANY = 0.5
"""The same for the first time: until then there were twice as many with each round."""

_MORE = 0.05
"""How much more, in proportion, after a round that was served, where nothing says how many are too
many."""

_A_LITTLE_MORE = 0.0005
"""The same near what was too many the last time."""

_DOUBLED_IN = 1.5
"""Seconds in which that little doubles: the limit of a service may be higher than before."""

_NEAR = (0.95, 1.02)
"""What is near that, in proportion."""

_FIRST = 4
"""Calls at a time to begin with, where nobody knows the limit of the service."""

_WEIGHT = 0.1
"""Of the last call in the average of how long calls take."""


class Search:
    """As many calls at a time as the service bears: see `Adaptive`."""

    def __init__(self, most: int, now: float) -> None:
        self._most = most
        self._open = 0
        self._next = self._since = now
        """When the next call may begin, and when they became fewer for the last time."""
        self._limit = float(min(_FIRST, most))
        """Calls at a time."""
        self._too_many: float | None = None
        """How many calls at a time were too many, the last time."""
        self._took = 0.0
        """How long calls take that are served, in seconds, on average."""

    def delay(self, turn: Turn) -> float:
        if self._open >= ceil(self._limit):
            return inf
        return max(0.0, self._next - turn.asked)

    def take(self, turn: Turn) -> None:
        gap = self._took / self._limit
        self._next = max(self._next, turn.asked - gap) + gap
        self._open += 1

    def begin(self, _: Turn) -> None:
        """Nothing changes."""

    def end(self, turn: Turn) -> None:
        self._open -= 1
        if turn.began == inf:
            return
        if turn.error is None:
            self._served(turn.ended - turn.began, turn.ended)
        elif says_too_many(turn.error) and turn.began >= self._since:
            self._refused(turn.error, turn.ended)

    def _served(self, took: float, now: float) -> None:
        """Call more. Calls are spread over the time that one takes: a burst is refused at once."""
        self._took += (took - self._took) * (_WEIGHT if self._took else 1)
        self._limit = min(float(self._most), self._limit + self._step(now))

    def _step(self, now: float) -> float:
        """Return how many more calls there are at a time for one that was served."""
        if self._too_many is None:
            return 1.0
        least, most = _NEAR
        if least <= self._limit / self._too_many < most:
            return min(_MORE, _A_LITTLE_MORE * 2 ** ((now - self._since) / _DOUBLED_IN))
        return min(1 / self._limit, _MORE)

    def _refused(self, error: BaseException, now: float) -> None:
        """Call less, and nothing before the service wants to be asked; what began before is old."""
        is_first = self._too_many is None
        self._too_many = self._limit
        self._limit = max(1.0, self._limit * (_BEFORE_ANY if is_first else _FEWER))
        asks = error if isinstance(error, RetryAfter) else transient(error)
        self._since = now + (asks.seconds if isinstance(asks, RetryAfter) else 0)
        self._next = max(self._next, self._since)


def says_too_many(error: BaseException) -> bool:
    """Say whether a service that was called too often has made this error."""
    return isinstance(error, RetryAfter) or status_of(error) == HTTPStatus.TOO_MANY_REQUESTS
