"""What reads from the operator, as the script of a scenario says, and knows how the leg ended."""

import asyncio
from typing import Any

from harness import Run
from window import OperatorError, open_window


class Leg(Run):
    """Plays one scenario."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        super().__init__(scenario)
        self.clock.hung = lambda: self.end("hung") or self.loop.call_soon(self.loop.stop)
        self.ending: dict[str, Any] = {}
        self.left: dict[str, int] = {}
        self.steps = iter(self.get("sink", []))

    def play(self) -> dict[str, Any]:
        """Return the trace."""
        self.task = self.loop.create_task(self.live())
        self.task.add_done_callback(lambda _: self.loop.stop())
        if (at := self.get("cancel_at")) is not None:
            self.loop.call_at(at / 1000, self.cancel)
        self.loop.run_forever()
        told = {"events": [*self.events], "ending": self.ending} | self.left
        if not self.task.done():  # It hangs: its clean-up is not to run amid another leg.
            self.task.cancel()
            self.loop.run_forever()
        return {"legs": [{"capacity": self.get("capacity", 4)} | told]}

    def cancel(self) -> None:
        """Cancel the consumer."""
        if not self.ending:
            self.end("left")
            self.add("left")
        self.task.cancel()

    def end(self, how: str, error: BaseException | None = None) -> None:
        """Note how the leg is over; what is raised behind its end counts, too."""
        at = self.ending["at"] if self.ending.get("how") == "finished" else self.now
        self.ending = {"how": how, "at": at}
        if error is not None:
            cause = type(error.__cause__).__name__ if error.__cause__ else ""
            self.ending |= {"error": type(error).__name__, "cause": cause, "detail": repr(error)}
            self.ending["unchanged"] = any(error is each for each in self.planned)
            if isinstance(error, OperatorError) and error.record:
                self.ending["record"] = error.record

    async def live(self) -> None:
        """Open, read, leave."""
        before = len(asyncio.all_tasks())
        raised: BaseException | None = None
        window: Any = None
        try:
            opened = open_window(self.get("capacity", 4), self, self)
            async with opened as window:
                try:
                    await self.consume(window)
                except StopAsyncIteration:
                    self.end("finished")
                except Exception as error:
                    raised = error
                    self.end("failed", error)
                    for step in self.steps:
                        await self.wait(step.get("n", 0) if step["does"] == "pause" else 0)
                if self.ending["how"] != "left":
                    self.ending["again"] = await self.further(window, raised)
                if raised is not None:
                    raise raised
        except asyncio.CancelledError:
            pass
        except Exception as error:
            if error is not raised:
                self.end("failed", error)
                window = None
        self.add("closed")
        await asyncio.sleep(0)
        self.left["tasks_left"] = len(asyncio.all_tasks()) - before
        if window:
            self.ending["after"] = await self.further(window, raised)

    async def consume(self, window: Any) -> None:
        """Follow the script, then read to the end."""
        for step in self.steps:
            does, n = step.get("does", "read"), step.get("n", 0)
            if does == "pause":
                await self.wait(n)
            elif does == "block":
                self.block(n)
            elif does == "leave":
                self.end("left")
                return self.add("left")
            elif does == "give_up":
                try:
                    async with asyncio.timeout(n / 1000):
                        await self.take(window)
                except TimeoutError:
                    self.add("gave-up")
            else:
                for _ in range(n):
                    await self.take(window)
        while True:
            await self.take(window)

    async def take(self, window: Any) -> None:
        """Read an element."""
        self.add("waits")
        self.add("took", element=await anext(window))

    async def further(self, window: Any, raised: BaseException | None) -> str:
        """Read three times more; say what that gives."""
        for _ in range(3):
            try:
                return f"gave {await anext(window)}"
            except StopAsyncIteration:
                said = "stop"
            except Exception as error:
                said = "same" if error is raised else f"raised {error!r}"
        return said
