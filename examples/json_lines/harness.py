"""What surrounds the operator: a clock that jumps, its source, and the function that it calls."""

import asyncio
import json
import selectors
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

from window import CallFailed, undisturbed


class Clock(selectors.DefaultSelector):  # type: ignore[misc, valid-type]
    """Jumps to the next moment at which something is due; stops the loop if nothing is."""

    now = 0.0
    hung: Any = None  # is called then

    def select(self, timeout: float | None = None) -> Any:
        """Let time pass at once."""
        if timeout is None:
            self.hung()
        self.now += timeout or 0
        return super().select(0)


Planned, PlannedSourceError, Unpicklable = (
    type(name, (Exception,), {}) for name in ("Planned", "PlannedSourceError", "Unpicklable")
)
ERRORS = {
    error.__name__: error
    for error in (ValueError, StopIteration, StopAsyncIteration, asyncio.CancelledError)
} | {"": Planned, "Unpicklable": Unpicklable}
MISRETURNS = {"none": None, "text": "text", "bytes": b"bytes", "number": 7}


def broken() -> Iterator[str]:
    """Give a collection that breaks while it is read."""
    yield "x"
    raise Planned


class Run:
    """What surrounds an operator while a scenario is played: clock, source, function, events."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.scenario = scenario
        self.get = scenario.get
        self.clock = Clock()
        self.loop = asyncio.SelectorEventLoop(self.clock)
        self.loop.time = lambda: self.clock.now  # type: ignore[method-assign]
        self.events: list[dict[str, Any]] = []
        self.planned: list[BaseException] = []  # what has to come out as it is
        self.plans = {key(plan["value"]): plan for plan in self.get("plans", [])}
        self.called = Counter[str]()
        self.read = 0
        if self.get("hooks", "none") != "none":
            self.open, self.close = partial(self.hook, "open"), partial(self.hook, "close")

    @property
    def now(self) -> float:
        """Milliseconds since the leg began, so that equal instants are equal."""
        return round(self.clock.now * 1000, 3)

    async def wait(self, ms: float) -> None:
        """Have so many milliseconds pass."""
        await asyncio.sleep(ms / 1000)

    def add(self, kind: str, **fields: Any) -> None:
        """Write an event."""
        self.events.append({"type": kind, "at": self.now, **fields})

    def block(self, ms: int) -> None:
        """Let time pass while nobody does anything."""
        if ms:
            self.events.append({"type": "blocked", "at": self.now, "until": self.now + ms})
            self.clock.now += ms / 1000

    def passing(self, error: BaseException) -> BaseException:
        """Remember an error that has to come out as the same object."""
        self.planned.append(error)
        return error

    # The source

    def __aiter__(self) -> "Run":
        return self

    async def __anext__(self) -> Any:
        self.add("asked")
        inputs = self.get("inputs", [])
        timed = inputs[self.read] if self.read < len(inputs) else None
        due = timed["at"] if timed else self.get("source_ends_at", 0)
        if due > self.now:
            await self.wait(due - self.now)
        if timed:
            self.block(timed.get("blocks", 0))
            self.add("taken", index=self.read)
            self.read += 1
            return timed["element"]
        kind = self.get("source_error", "")
        self.add("source-ended", raised=bool(kind))
        if kind:
            raise self.passing(CallFailed({}) if kind == "contract" else PlannedSourceError())
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Close the source."""
        await self.wait(self.get("close_takes", 0))
        self.add("source-closed")
        if self.get("close_error"):
            raise self.passing(PlannedSourceError())

    # The function

    async def hook(self, name: str) -> None:
        """Be `open` or `close` of the function."""
        if self.get("hooks") == "coroutine":
            await self.wait(self.get("hook_takes", 0))
        self.add("hook", hook=name)
        if self.get("hook_error") == name:
            raise self.passing(Planned())

    async def __call__(self, value: Any) -> Any:
        """Do what the plan says."""
        call, name = self.called.total(), key(value)
        steps = self.plans.get(name, {"steps": [{"results": [value]}]}).get("steps", [{}])
        step = steps[min(self.called[name], len(steps) - 1)]
        self.called[name] += 1
        self.add("call", call=call, value=value)
        does, error = step.get("does", "reply"), step.get("error", "")
        try:
            if does == "never":
                await asyncio.Future()
            elif step.get("after") or step.get("thread"):
                await self.wait(step.get("after", 0))
        except asyncio.CancelledError:
            self.add("call-cancelled", call=call)
            if step.get("clean_up"):
                await undisturbed(self.wait(step["clean_up"]))
            if not step.get("swallow"):
                self.add("call-ended", call=call, how="cancelled")
                raise
        self.block(step.get("blocks", 0))
        if does == "raise":
            self.add("call-ended", call=call, how="raised")
            raise ERRORS[error]
        if does == "misreturn":
            self.add("call-ended", call=call, how="misreturned")
            return broken() if error == "broken" else MISRETURNS[error]
        self.add("call-ended", call=call, how="returned", results=step.get("results", []))
        return list(step.get("results", []))


def key(value: Any) -> str:
    """Return a text that is the same for the same JSON."""
    return json.dumps(value, sort_keys=True)
