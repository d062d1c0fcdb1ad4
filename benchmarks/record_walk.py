"""Through how many modules a record passes, and how often it changes from one to another.

    python benchmarks/record_walk.py

A reader who follows a record opens that many files, and turns that many pages. Each function that
is entered is noted, and each that goes on when one returns, with its module: between the step in
which an element is read and the one in which the consumer has its result, on a virtual clock. The
record has room, one call of 10 ms and a timeout; what an operator does once is left out by taking
the difference between a longer and a shorter stream.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from importlib import import_module
from types import CodeType, FrameType
from typing import Any

from asyncwait.conformance.harness import VirtualLoop
from asyncwait.spec import OpenOperator, OperatorConfig, Record

OPERATORS = {"reference": "asyncwait.reference", "pool": "asyncwait.backends.pool"}
SHORTER, LONGER = 10, 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--modules", action="store_true", help="list the modules, too")
    arguments = parser.parse_args()
    for name, package in OPERATORS.items():
        operator = import_module(package).open_operator
        shorter, longer = (walk(operator, package, records) for records in (SHORTER, LONGER))
        records = LONGER - SHORTER
        passed = Counter(longer)
        passed.subtract(shorter)
        visits = {module: count / records for module, count in passed.items() if count >= records}
        changes = (len(longer) - len(shorter)) / records
        print(f"{name:10} {len(visits):3} modules {changes:5.0f} changes of module a record")
        for module, count in sorted(visits.items()) if arguments.modules else ():
            print(f"           {count:5.1f} {module}")


def walk(operator: OpenOperator, package: str, records: int) -> list[str]:
    """Return the modules of a package in the order in which so many records pass through them."""
    path = f"/{package.replace('.', '/')}/"
    passed: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code: CodeType | None = frame.f_code
        elif event == "return" and frame.f_back is not None:
            code = frame.f_back.f_code
        else:
            return
        module = code.co_filename.rpartition(path)[2] if path in code.co_filename else ""
        if module and [module] != passed[-1:]:
            passed.append(module)

    loop = VirtualLoop()
    sys.setprofile(note)
    try:
        loop.run_until_complete(_run(operator, records))
    finally:
        sys.setprofile(None)
        loop.close()
    return passed


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


if __name__ == "__main__":
    main()
