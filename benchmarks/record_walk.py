"""Through how many modules a record or a scenario passes, and how often it changes module.

    python benchmarks/record_walk.py

A reader who follows one opens that many files, and turns that many pages. Each function that is
entered is noted, and each that goes on when one returns, with its module.

A record passes through an operator between the step in which an element is read and the one in
which the consumer has its result, on a virtual clock. It has room, one call of 10 ms and a timeout;
what an operator does once is left out by taking the difference between a longer and a shorter
stream.

A scenario passes from `verify` to the verdict, in the process that judges and in the one that
plays; the operator is left out, and a module for each area of rules counts as one. Of the first
examples the walk of one in the middle of others is taken: what is done once, or for few of them, is
left out.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from asyncwait.backends.pool.conformance import asyncio_backend
from asyncwait.conformance._verify import Coverage, verify
from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import OpenOperator, OperatorConfig, Record
from asyncwait.spec.scenario import Scenario, Trace

SUITE = ("asyncwait.conformance.", "asyncwait.spec.", "asyncwait.toolkit.")
OPERATORS = {"reference": "asyncwait.reference", "pool": "asyncwait.backends.pool"}
SHORTER, LONGER = 10, 20

FIRST, BEHIND = 100, 200
"""The scenarios that are followed: here and there are others before them, and behind them."""

NOTES = "RECORD_WALK_NOTES"
"""Environment variable: the file into which the process that plays writes its walk."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", action="store_true", help="list the modules, too")
    arguments = parser.parse_args()
    for name, measure in WALKS.items():
        visits = measure()
        changes = sum(visits.values())
        print(f"{name:25} {len(visits):3} modules {changes:5.0f} changes of module")
        for module, visited in sorted(visits.items()) if arguments.modules else ():
            print(f"{'':25} {visited:5.1f} {module}")


class Walk:
    """The modules of the package in the order in which they are passed through.

    Args:
        begins: how the names of the modules begin that are noted.
    """

    def __init__(self, *begins: str) -> None:
        self.passed: list[str] = []
        self._begins = begins

    def begin(self) -> None:
        """Note what is passed through from now on, in this thread."""
        sys.setprofile(self._note)

    def end(self) -> None:
        """Note nothing more."""
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        goes_on = {"call": frame, "return": frame.f_back}.get(event)
        spec = None if goes_on is None else goes_on.f_globals.get("__spec__")
        if goes_on is None or spec is None or spec.origin != goes_on.f_code.co_filename:
            return  # The last is made, as a method of a dataclass is: nobody reads it.
        if spec.name.startswith(self._begins) and [spec.name] != self.passed[-1:]:
            self.passed.append(spec.name)


def record_walk(operator: OpenOperator, package: str) -> Mapping[str, float]:
    """Return how often a record enters each module of an operator that it enters at all."""
    shorter, longer = (_walk(operator, package, records) for records in (SHORTER, LONGER))
    longer.subtract(shorter)
    records = LONGER - SHORTER
    return {module: count / records for module, count in longer.items() if count >= records}


def _walk(operator: OpenOperator, package: str, records: int) -> Counter[str]:
    walk = Walk(package)
    loop = VirtualLoop()
    walk.begin()
    try:
        loop.run_until_complete(_run(operator, records))
    finally:
        walk.end()
        loop.close()
    return Counter(walk.passed)


async def _run(operator: OpenOperator, records: int) -> None:
    async def elements() -> AsyncIterator[Record]:
        for number in range(records):
            yield Record(number)

    async def answer(value: Any) -> tuple[Any, ...]:
        await asyncio.sleep(0.01)
        return (value,)

    config = OperatorConfig("ordered", capacity=100, timeout=1)
    async with operator(config, answer, elements()) as results:
        async for _ in results:
            pass


class _Enough(Exception):
    """What was to be followed was followed."""


class _Walked:
    """A backend that notes what is passed through in its process, from one scenario to another."""

    def __init__(self) -> None:
        self._backend = asyncio_backend()
        self.capabilities = self._backend.capabilities
        self.expected_failures = self._backend.expected_failures
        self.batch = False
        self._walk = Walk(*SUITE)
        self._runs = 0

    def run(self, scenarios: Sequence[Scenario]) -> Iterator[Trace]:
        self._runs += len(scenarios)
        if self._runs == FIRST:
            self._walk.begin()
        if self._runs == BEHIND:
            self._walk.end()
            Path(os.environ[NOTES]).write_text(json.dumps(self._walk.passed), encoding="utf-8")
        return self._backend.run(scenarios)


def scenario_walk() -> Mapping[str, float]:
    """Return how often a scenario enters each module that nine of ten enter."""
    walk = Walk(*SUITE)
    judged = count()

    def follow(*_: object) -> None:
        number = next(judged)
        if number == FIRST:
            walk.begin()
        if number == BEHIND:
            walk.end()
            raise _Enough

    with tempfile.TemporaryDirectory() as folder, suppress(_Enough):
        notes = Path(folder) / "notes.json"
        os.environ[NOTES] = str(notes)
        try:
            verify(f"{Path(__file__).stem}:_Walked", Coverage(jobs=1, shrinks=False), follow)
        finally:
            walk.end()
            walk.passed += json.loads(notes.read_text(encoding="utf-8"))
    scenarios = BEHIND - FIRST
    visits = Counter(re.sub(r"(?<=\.areas\.).*", "*", module) for module in walk.passed)
    return {module: n / scenarios for module, n in visits.items() if n >= 0.9 * scenarios}


WALKS: Mapping[str, Callable[[], Mapping[str, float]]] = {
    **{
        f"a record in the {name}": partial(
            record_walk, import_module(package).open_operator, package
        )
        for name, package in OPERATORS.items()
    },
    "a scenario": scenario_walk,
}
"""What is followed, and how."""

if __name__ == "__main__":
    main()
