"""What the tests of the emitter share: both loops on virtual clocks, and parts that are wired."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from operators import virtual_loop

from asyncwait.backends.emitter import (
    CheckpointLock,
    ElementQueue,
    Emitter,
    Entry,
    Life,
    OrderedQueue,
    Outlet,
)
from asyncwait.spec import Record, Stored


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Both loops, each on a clock of its own that starts at 0 and jumps to the next timer."""
    return virtual_loop(request.param)


@dataclass
class Wired:
    """An emitter between a queue and an outlet, without what fills the one and completes.

    Attributes:
        entries: what was put, by the value of the record, or the element itself.
    """

    queue: ElementQueue = field(default_factory=lambda: OrderedQueue(9))
    entries: dict[object, Entry] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.life = Life()
        self.lock = CheckpointLock(self.life)
        self.outlet = Outlet(self.life, self.lock, 3)
        self.emitter = Emitter(self.queue, self.outlet, self.lock, self.life)

    def put(self, *elements: Stored) -> list[bool]:
        """Try to put each element; return which found room."""
        put: list[bool] = []
        for element in elements:
            entry = Entry.of(element)
            name = element.value if isinstance(element, Record) else element
            self.entries[name] = entry
            put.append(self.queue.try_put(entry))
        return put

    def complete(self, name: object, *results: object) -> None:
        """Complete a record with results."""
        entry = self.entries[name]
        entry.outputs = tuple(map(Record, results))
        self.queue.completed(entry)

    def poll(self) -> object:
        """Take the next entry out; return its name, None for none."""
        entry = self.queue.poll()
        if entry is None:
            return None
        return entry.element.value if isinstance(entry.element, Record) else entry.element


@pytest.fixture
def wired() -> type[Wired]:
    """The parts."""
    return Wired
