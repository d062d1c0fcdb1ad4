"""The suite of the task mailbox: programs, a player and checks.

An operator need not have a mailbox; this suite is for mailboxes of users and of the reference.
"""

from asyncwait.conformance.judging import BookJudged
from asyncwait.conformance.mailbox import _ends, _loop, _mails
from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._history import MailboxHistory, check
from asyncwait.conformance.mailbox._notation import (
    MailboxExample,
    notation_of,
    program,
    program_of,
    trace_lines,
)
from asyncwait.conformance.mailbox._player import play_program
from asyncwait.conformance.mailbox._programs import GENERATED, mailbox_plans, random_programs
from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox.program import MailboxTrace

_REGISTERED = (_mails, _ends, _loop)  # each has added its checks

MAILBOX_CHECKS = check
"""The check of each rule, by its id."""


def judge_mailbox(trace: MailboxTrace) -> BookJudged:
    """Judge `trace` by every rule; never raise, whatever it contains.

    The events of a program that did not finish count as well.
    """
    try:
        history = MailboxHistory(trace)
    except Exception as error:
        return BookJudged(error=f"reading the trace failed: {type(error).__name__}: {error}")
    return MAILBOX_CHECKS.judge(history)


__all__ = [
    "GENERATED",
    "MAILBOX_CHECKS",
    "MAILBOX_EXAMPLES",
    "MailboxExample",
    "MailboxHistory",
    "judge_mailbox",
    "mailbox_plans",
    "notation_of",
    "play_program",
    "program",
    "program_of",
    "random_programs",
    "trace_lines",
]

claim_exports(__name__)
