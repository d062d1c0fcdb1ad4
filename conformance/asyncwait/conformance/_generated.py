"""Generated scenarios that a process of its own makes, while others play those that are there."""

import sys
from collections.abc import Iterator
from typing import Self

import msgspec

from asyncwait.conformance.running import ChildProcess
from asyncwait.spec.scenario import Scenario

LONGEST = 600.0
"""Seconds from one scenario to the next; hypothesis takes some milliseconds."""


class Generated:
    """The scenarios of `generate(count, seed)`, which may be gone through several times.

    Making them takes longer than playing and judging them, so it is begun at once.

    Args:
        count: how many.
        seed: which.
    """

    def __init__(self, count: int, seed: int) -> None:
        module = ("-P", "-m", "asyncwait.conformance.generation", str(count), str(seed))
        self._found: list[Scenario] = []
        self._child: ChildProcess | None = ChildProcess((sys.executable, *module))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._child is not None:
            self._child.kill()
            self._child = None

    def __iter__(self) -> Iterator[Scenario]:
        """Yield them as they come.

        Raises:
            RuntimeError: the process that makes them broke.
        """
        number = 0
        while number < len(self._found) or self._find(self._child):
            yield self._found[number]
            number += 1

    def _find(self, child: ChildProcess | None) -> bool:
        """Wait for one more; return whether there is one."""
        if child is None:
            return False
        try:
            line = child.wait_for_line(LONGEST)
        except (EOFError, TimeoutError) as error:
            raise RuntimeError(f"scenarios can't be generated: {error}") from error
        if not line:
            self.__exit__()
            return False
        self._found.append(msgspec.json.decode(line, type=Scenario))
        return True
