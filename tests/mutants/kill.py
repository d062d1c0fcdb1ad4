"""Holds one operator to the quick suite, in this process, and ends with 1 at the first violation.

The same scenarios and checks as a quick `asyncwait verify`, without its processes and reports.
"""

import faulthandler
import os
import sys
from collections.abc import Iterator

import asyncwait.backends.pool
import asyncwait.reference
from asyncwait.conformance.areas import CHECKS, EXAMPLES
from asyncwait.conformance.generation import QUICK, generate, shapes
from asyncwait.conformance.harness import LoopName, play
from asyncwait.conformance.judging import judge
from asyncwait.spec.scenario import Scenario

OPERATORS = {
    "pool": asyncwait.backends.pool.open_operator,
    "reference": asyncwait.reference.open_operator,
}
LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")
LONGEST_SCENARIO = 30
"""Seconds after which an operator blocks its loop."""


def main(name: str) -> None:
    """Play and judge; a process that is left by force can't hang in its clean-up."""
    for loop in LOOPS:
        for scenario in _suite():
            faulthandler.dump_traceback_later(LONGEST_SCENARIO, exit=True)
            judged = judge(scenario, play(OPERATORS[name], scenario, loop), CHECKS)
            if judged.error or any(judged.violations()):
                os._exit(1)
    os._exit(0)


def _suite() -> Iterator[Scenario]:
    yield from (example.scenario for example in EXAMPLES)
    yield from (scenario for _, scenario in shapes(QUICK, seed=0))
    yield from generate(QUICK, seed=0)


if __name__ == "__main__":
    main(sys.argv[1])
