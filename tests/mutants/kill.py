"""Holds an operator, or a mailbox, to its quick suite in this process; ends with 1 at a violation.

The same scenarios and checks as a quick `asyncwait verify`, or programs and checks as
`asyncwait verify-mailbox`, without their processes and reports.
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
from asyncwait.conformance.mailbox import judge_mailbox, mailbox_cases, play_program
from asyncwait.reference import MailboxProcessor
from asyncwait.spec.scenario import Scenario

OPERATORS = {
    "pool": asyncwait.backends.pool.open_operator,
    "reference": asyncwait.reference.open_operator,
}
LOOPS: tuple[LoopName, ...] = ("asyncio", "trio")
LONGEST_SCENARIO = 30
"""Seconds after which an operator blocks its loop."""


PROGRAMS = 300
"""How many generated programs a mailbox is asked to run, on each stage."""


def main(name: str) -> None:
    """Play and judge; a process that is left by force can't hang in its clean-up."""
    wrong = _mailbox() if name == "mailbox" else _operator(name)
    os._exit(any(wrong))


def _operator(name: str) -> Iterator[bool]:
    for loop in LOOPS:
        for scenario in _suite():
            faulthandler.dump_traceback_later(LONGEST_SCENARIO, exit=True)
            judged = judge(scenario, play(OPERATORS[name], scenario, loop), CHECKS)
            yield bool(judged.error) or any(judged.violations())


def _mailbox() -> Iterator[bool]:
    for case in mailbox_cases(PROGRAMS):
        faulthandler.dump_traceback_later(LONGEST_SCENARIO, exit=True)
        judged = judge_mailbox(play_program(case.program, MailboxProcessor, case.stage))
        yield bool(judged.error or judged.broken)


def _suite() -> Iterator[Scenario]:
    yield from (example.scenario for example in EXAMPLES)
    yield from (scenario for _, scenario in shapes(QUICK, seed=0))
    yield from generate(QUICK, seed=0)


if __name__ == "__main__":
    main(sys.argv[1])
