"""Programs and traces as JSON."""

import hashlib

import msgspec

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.mailbox.program._program import Program, require_program
from asyncwait.spec.mailbox.program._trace import MailboxTrace
from asyncwait.spec.texts import one_line


def program_to_json(program: Program) -> bytes:
    """Return `program` as JSON, without what stands at its default."""
    return msgspec.json.encode(program)


def program_from_json(data: bytes) -> Program:
    """Read a program.

    Raises:
        InvalidConfig: it is none, or can't be played; the message says why.
    """
    try:
        program = msgspec.json.decode(data, type=Program)
    except msgspec.DecodeError as error:
        raise InvalidConfig(f"the program breaks its schema: {one_line(error)}") from error
    require_program(program)
    return program


def mailbox_trace_to_json(trace: MailboxTrace) -> bytes:
    """Return `trace` as JSON, without what stands at its default."""
    return msgspec.json.encode(trace)


def mailbox_trace_from_json(data: bytes) -> MailboxTrace:
    """Read a trace.

    Raises:
        InvalidConfig: it is none; the message says why.
    """
    try:
        return msgspec.json.decode(data, type=MailboxTrace)
    except msgspec.DecodeError as error:
        raise InvalidConfig(f"the trace breaks its schema: {one_line(error)}") from error


def program_id(program: Program) -> str:
    """Return the id under which people speak of a program: eight hexadecimal digits."""
    return hashlib.sha256(program_to_json(program)).hexdigest()[:8]
