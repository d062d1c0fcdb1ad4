"""How the tasks of an operator wait for each other."""

import anyio


class Signal:
    """Wakes whoever waits; given while nobody waits, it is forgotten.

    Whoever waits looks at the state first, and again afterwards. No await lies between the look and
    the wait, so that no signal is missed.
    """

    def __init__(self) -> None:
        self._event: anyio.Event | None = None

    async def wait(self) -> None:
        """Wait for the next signal."""
        await self._next().wait()

    async def outlast(self) -> None:
        """Wait for the next signal, whoever cancels the present task meanwhile.

        It is for the task that reads: a scope that the source holds open round its `yield` is the
        source's own affair, and a cancellation of the operator gives this signal.
        """
        event = self._next()
        while not event.is_set():
            try:
                with anyio.CancelScope(shield=True):
                    await event.wait()
            except anyio.get_cancelled_exc_class():
                continue  # asyncio's own, which no scope holds up

    def give(self) -> None:
        """Wake all that wait."""
        if self._event is not None:
            self._event.set()
            self._event = None

    def _next(self) -> anyio.Event:
        if self._event is None:
            self._event = anyio.Event()
        return self._event
