"""What is left on a loop."""

import asyncio

from msgspec import Struct

from asyncwait.conformance.harness._clock import live_timers


class Census(Struct, frozen=True):
    """How many tasks and timers there are."""

    tasks: int = 0
    timers: int = 0

    @classmethod
    def take(cls) -> "Census":
        """Count those on the running loop."""
        try:
            running = asyncio.get_running_loop()
        except RuntimeError:
            import trio  # an extra, and here it runs already

            return cls(trio.lowlevel.current_statistics().tasks_living, 0)
        return cls(len(asyncio.all_tasks(running)), len(live_timers(running)))

    def beyond(self, before: "Census") -> "Census":
        """Return how many there are more than `before`."""
        return Census(max(0, self.tasks - before.tasks), max(0, self.timers - before.timers))
