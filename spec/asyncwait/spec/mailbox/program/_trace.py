"""What was seen while a program was played, as data."""

from typing import Literal, TypeAlias

from msgspec import Struct

from asyncwait.spec.mailbox.program._program import OWNER, Step

EventKind: TypeAlias = Literal[
    "begin", "end", "run", "ran", "action", "acted", "described", "waits", "stirs", "turn"
]
"""What happened: a step began or ended; a mail was run, and over; so was the default action.

"described": a mail's description was worked out though nobody had asked. "waits": the step waits,
and nobody else has anything to do. "stirs": time passed while it waited, and all the same turns of
the loop were taken. "turn": another task of the loop had its turn.
"""

Value: TypeAlias = bool | int | str | None


class Seen(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One event. Its place in the trace says when: events are in one order, that of their time.

    Args:
        kind: see `EventKind`.
        of: number of the step's execution, for "begin", "end", "waits" and "stirs"; of the run of
            the default action, for "action" and "acted".
        by: in whose thread and task.
        step: what begins.
        mail: which is run, or was described.
        value: what the step gave; how many turns, for "stirs".
        mails: what was taken or given back, by description.
        error: what the step, mail or action raised: "closed" for a mailbox that is not open,
            "refused" for any other RuntimeError, "raised NAME" for the error of a mail, "raised
            action" for that of the default action, else class and text.
    """

    kind: EventKind
    of: int = 0
    by: str = OWNER
    step: Step | None = None
    mail: str = ""
    value: Value = None
    mails: tuple[str, ...] = ()
    error: str = ""


class FutureSeen(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A future in the end.

    Args:
        mail: whose.
        state: "pending", "cancelled", "returned VALUE", or what was raised, as in `Seen`.
    """

    mail: str
    state: str


class MailboxTrace(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What was seen.

    Args:
        events: in the order of their time.
        futures: in the end, when the mailbox was closed.
        ending: "whole"; "spins" if it went on and on; else "broken: " and why it could not be
            played to its end.
    """

    events: tuple[Seen, ...] = ()
    futures: tuple[FutureSeen, ...] = ()
    ending: str = "whole"
