"""A loop on a virtual clock that knows which calls are on their way in threads."""

import time
from contextlib import suppress
from typing import Any

from asyncwait.backends.threads._thread_pool import ThreadPool
from asyncwait.conformance.harness import VirtualLoop

_LOOK = 0.0002
"""Real seconds between two checks whether threads are on their way."""


class PatientLoop(VirtualLoop):
    """A loop whose time stands still while a thread is on its way, to the server or back.

    Its servers process requests only when no thread is on its way. So requests of one instant are
    processed in the order in which calls were taken.
    """

    def __init__(self) -> None:
        self.pools: list[ThreadPool] = []
        self.servers: list[Any] = []
        """Servers that answer requests from threads."""
        super().__init__()

    def moving(self) -> int:
        """Return at least the number of calls that are neither with their server nor over."""
        # In this order: a call that reaches its server meanwhile still counts as moving.
        served: int = sum(server.present for server in self.servers)
        return sum(len(pool.present) for pool in self.pools) - served

    def look(self) -> None:
        """Let the loop check the threads again; called in one of them."""
        with suppress(RuntimeError):  # The loop has closed.
            self.call_soon_threadsafe(self.serve)

    def serve(self) -> bool:
        """Answer requests, if no thread is on its way; return whether there were any."""
        served = [] if self.moving() else [server.serve() for server in self.servers]
        return any(served)

    def may_jump(self) -> bool:
        """Return whether every call waits for its answer, and no report is pending."""
        if self.moving() or any(server.is_asked for server in self.servers):
            return False
        return not self._ready  # type: ignore[attr-defined]

    def settle(self) -> bool:
        """Answer requests: the last call on its way may have ended instead."""
        return self.serve()

    def jump(self, seconds: float) -> None:
        """Move the clock; while a call blocks the loop, threads go on until they wait."""
        is_served = True
        while is_served:
            while self.moving():
                time.sleep(_LOOK)  # in real time: threads cannot wake a blocked loop
            served = [server.serve() for server in self.servers]
            is_served = any(served)
        super().jump(seconds)
