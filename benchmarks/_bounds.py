"""What an operator could do at best: simulations without any overhead."""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush


def in_order(latencies: Sequence[float], capacity: int, held: int) -> float:
    """Return in how many seconds ordered output is through that costs nothing but its calls.

    Args:
        latencies: seconds that each call takes, in input order.
        capacity: calls at a time.
        held: finished records that may wait for their turn without taking a slot.
    """
    running: list[tuple[float, int]] = []
    """Ends of calls, and their places in the input."""
    finished: set[int] = set()
    following, first, now = deque(enumerate(latencies)), 0, 0.0
    while first < len(latencies):
        while following and len(running) + max(0, len(finished) - held) < capacity:
            place, seconds = following.popleft()
            heappush(running, (now + seconds, place))
        now, place = heappop(running)
        finished.add(place)
        while first in finished:
            finished.remove(first)
            first += 1
    return now
