"""The suite of the task mailbox: programs, a player and checks.

An operator need not have a mailbox; this suite is for mailboxes of users and of the reference.
"""

from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._history import MailboxHistory
from asyncwait.conformance.mailbox._notation import (
    MailboxExample,
    notation_of,
    program,
    program_of,
    trace_lines,
)
from asyncwait.conformance.mailbox._plans import GENERATED, mailbox_plans
from asyncwait.conformance.mailbox._player import play_program
from asyncwait.conformance.mailbox._random import random_programs
from asyncwait.conformance.mailbox.checks import MAILBOX_CHECKS, judge_mailbox
from asyncwait.spec.exports import claim_exports

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
