"""Holds an operator, or a mailbox, to its quick suite in this process; ends with 1 at a violation.

The same scenarios and checks as a quick `asyncwait verify`, or programs and checks as
`asyncwait verify --mailbox`, without their processes and reports.
"""

import faulthandler
import os
import sys
from collections.abc import Iterator

from suite import quick_cases

from asyncwait.conformance.areas import CHECKS
from asyncwait.conformance.judging import judge
from asyncwait.conformance.mailbox import judge_mailbox, mailbox_plans, play_program
from asyncwait.conformance.running import adapted, load_backend
from asyncwait.spec.rules import rules_for

BACKENDS = {
    "pool": ("pool-asyncio", "pool-trio", "pool-plain-asyncio", "pool-plain-trio"),
    "reference": ("reference-asyncio", "reference-trio"),
    "emitter": ("emitter-asyncio", "emitter-trio"),
    "threads": ("threads",),
}
LONGEST_SCENARIO = 30
"""Seconds after which an operator blocks its loop."""

PROGRAMS = 300
"""How many generated programs a mailbox is asked to run, on each stage."""


def main(name: str) -> None:
    """Play and judge; a process that is left by force can't hang in its clean-up."""
    wrong = _mailbox() if name == "mailbox" else _operator(name)
    os._exit(any(wrong))


def _operator(name: str) -> Iterator[bool]:
    for backend in map(load_backend, BACKENDS[name]):
        can, known = backend.capabilities, set(backend.expected_failures)
        held = {rule: CHECKS[rule] for rule in rules_for(can)}
        for case in quick_cases():
            faulthandler.dump_traceback_later(LONGEST_SCENARIO, exit=True)
            scenario = adapted(case.scenario, can)
            (trace,) = backend.run([scenario])
            judged = judge(scenario, trace, held)
            broken = {rule for rule, _ in judged.violations()}
            # What follows what is known in the same run is held to be its consequence.
            yield bool(judged.error) or bool(broken and not broken & known)


def _mailbox() -> Iterator[bool]:
    from asyncwait.reference import MailboxProcessor

    for _, plan, _ in mailbox_plans(PROGRAMS):
        faulthandler.dump_traceback_later(LONGEST_SCENARIO, exit=True)
        judged = judge_mailbox(play_program(plan.program, MailboxProcessor, plan.stage))
        yield bool(judged.error or judged.broken)


if __name__ == "__main__":
    main(sys.argv[1])
