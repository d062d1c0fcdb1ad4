"""`asyncio.as_completed` for a stream: results come as calls end, so many of which run at once.

It knows one mode only, and says so:

    asyncwait verify as_completed:backend
"""

import asyncio
from collections import deque
from functools import partial

import sliding_window
from sliding_window import SlidingWindow

from asyncwait.conformance import StreamBackend, stream_backend
from asyncwait.spec import Record


class AsCompleted(SlidingWindow):
    """What comes out: of whichever call has ended, but of one after the other."""

    _begun: asyncio.Task[deque[Record]] | None = None

    def _turn(self) -> asyncio.Task[deque[Record]] | None:
        return self._begun or next((call for call in self._window if call.done()), None)

    def _take(self, call: asyncio.Task[deque[Record]]) -> Record | None:
        result = super()._take(call)
        self._begun = call if call.result() else None
        return result


open_operator = partial(sliding_window.open_operator, window_class=AsCompleted)


def backend() -> StreamBackend:
    """Say what it has besides the core."""
    return stream_backend(open_operator, profiles=["unordered", "copies"])
