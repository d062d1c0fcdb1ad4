"""Programs that try a mailbox, and what was seen of them, as data."""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.mailbox.program._program import (
    ANYBODYS,
    ASKING,
    OWNER,
    SENDERS,
    WAITING,
    Does,
    FutureSeen,
    MailboxTrace,
    Post,
    Program,
    Seen,
    Step,
    Value,
    program_id,
    require_program,
)

__all__ = [
    "ANYBODYS",
    "ASKING",
    "OWNER",
    "SENDERS",
    "WAITING",
    "Does",
    "FutureSeen",
    "MailboxTrace",
    "Post",
    "Program",
    "Seen",
    "Step",
    "Value",
    "program_id",
    "require_program",
]

claim_exports(__name__)
