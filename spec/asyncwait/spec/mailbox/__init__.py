"""Contract of the task mailbox on which an operator runs; its rules are in MBX."""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox._mailbox import (
    HIGHEST,
    MAIN,
    CallAt,
    Controller,
    DefaultAction,
    Executor,
    Loop,
    Mail,
    Mailbox,
    MailboxClosedError,
    MailboxState,
    OpenProcessor,
    Processor,
    Suspension,
)

__all__ = [
    "HIGHEST",
    "MAIN",
    "CallAt",
    "Controller",
    "DefaultAction",
    "Executor",
    "Loop",
    "Mail",
    "Mailbox",
    "MailboxClosedError",
    "MailboxState",
    "OpenProcessor",
    "Processor",
    "Suspension",
]

claim_exports(__name__)
