"""What an example is: a program worth a name."""

from msgspec import Struct

from asyncwait.spec.mailbox.program import Program


class MailboxExample(Struct, frozen=True):
    """A hand-written program."""

    name: str
    rules: tuple[str, ...]
    sentence: str
    program: Program
