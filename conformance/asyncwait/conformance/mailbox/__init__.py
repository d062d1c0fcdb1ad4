"""The suite of the task mailbox: programs, a player, checks, and a verdict.

An operator need not have a mailbox; this suite is for those that do, and for the reference.
"""

from asyncwait.conformance.mailbox._examples import MAILBOX_EXAMPLES
from asyncwait.conformance.mailbox._history import MailboxHistory
from asyncwait.conformance.mailbox._notation import (
    MailboxExample,
    mailbox_trace,
    notation_of,
    program,
    program_of,
    trace_lines,
)
from asyncwait.conformance.mailbox._player import STAGES, Stage, play_program
from asyncwait.conformance.mailbox._random import random_programs
from asyncwait.conformance.mailbox._served import ServedMailbox
from asyncwait.conformance.mailbox._verify import (
    GENERATED,
    MailboxCase,
    MailboxFailure,
    MailboxJudged,
    MailboxResult,
    MailboxVerdict,
    judge_mailbox,
    mailbox_cases,
    verify_mailbox,
)
from asyncwait.conformance.mailbox._witnesses import MAILBOX_WITNESSES, MailboxWitness
from asyncwait.spec.exports import claim_exports

__all__ = [
    "GENERATED",
    "MAILBOX_EXAMPLES",
    "MAILBOX_WITNESSES",
    "STAGES",
    "MailboxCase",
    "MailboxExample",
    "MailboxFailure",
    "MailboxHistory",
    "MailboxJudged",
    "MailboxResult",
    "MailboxVerdict",
    "MailboxWitness",
    "ServedMailbox",
    "Stage",
    "judge_mailbox",
    "mailbox_cases",
    "mailbox_trace",
    "notation_of",
    "play_program",
    "program",
    "program_of",
    "random_programs",
    "trace_lines",
    "verify_mailbox",
]

claim_exports(__name__)
