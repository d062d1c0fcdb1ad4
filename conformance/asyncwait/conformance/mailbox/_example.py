"""What an example is: a program worth a name."""

from msgspec import Struct

from asyncwait.spec.mailbox.program import Program


class MailboxExample(Struct, frozen=True):
    """A hand-written program.

    Args:
        name: short, in words joined by hyphens; unique.
        rules: ids of the rules that it is about; each of them applies in it.
        sentence: what it shows.
        program: what is played. Every rule judges it, not only those named.
    """

    name: str
    rules: tuple[str, ...]
    sentence: str
    program: Program
