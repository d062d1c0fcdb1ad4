"""Programs that try a mailbox, and what was seen of them: data, with a round trip through JSON."""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox.program._program import (
    ANYBODYS,
    ASKING,
    OWNER,
    SENDERS,
    WAITING,
    Does,
    EventKind,
    FutureSeen,
    MailboxTrace,
    Post,
    Program,
    Seen,
    Step,
    Value,
    mailbox_trace_from_json,
    mailbox_trace_to_json,
    program_from_json,
    program_id,
    program_to_json,
    require_program,
)

__all__ = [
    "ANYBODYS",
    "ASKING",
    "OWNER",
    "SENDERS",
    "WAITING",
    "Does",
    "EventKind",
    "FutureSeen",
    "MailboxTrace",
    "Post",
    "Program",
    "Seen",
    "Step",
    "Value",
    "mailbox_trace_from_json",
    "mailbox_trace_to_json",
    "program_from_json",
    "program_id",
    "program_to_json",
    "require_program",
]

claim_exports(__name__)
