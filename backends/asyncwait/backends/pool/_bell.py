"""How the tasks of an operator wake each other."""

import anyio


class Bell:
    """Wakes one waiting task; ringing while nobody waits does nothing and costs next to nothing.

    Whoever waits looks at the state first, and again afterwards. No await lies between the look
    and the wait, so that no ring is missed.
    """

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    async def wait(self) -> None:
        """Sleep until the next ring."""
        event = self._event = anyio.Event()
        try:
            await event.wait()
        finally:
            self._event = None

    def ring(self) -> None:
        """Wake the waiting task, if there is one."""
        if self._event is not None:
            self._event.set()
