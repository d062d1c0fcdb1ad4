"""Writes down what happens to a mailbox, from whatever thread."""

import threading
from typing import Any

from asyncwait.conformance.harness import line_of
from asyncwait.spec.mailbox import MailboxClosedError
from asyncwait.spec.mailbox.program import OWNER, Seen

MOST_EVENTS = 20_000
"""Of a trace: a mailbox that makes more of any program goes round in circles."""


class Runaway(BaseException):
    """It goes on and on; no mailbox is to take this for an error of a mail."""


class PlannedError(Exception):
    """What a mail raises by plan."""

    def __init__(self, mail: str) -> None:
        super().__init__(f"raised by {mail}, as planned")
        self.mail = mail


class Recorder:
    """The events of one program, in one order, and who is at work."""

    def __init__(self) -> None:
        self.events: list[Seen] = []
        self.acting = OWNER  # in the owner's thread
        self._lock = threading.Lock()
        self._threads: dict[int, str] = {}
        self._steps = 0

    def enlist(self, name: str) -> None:
        """Have what the present thread does be in the name of a sender."""
        self._threads[threading.get_ident()] = name

    def who(self) -> str:
        """Return in whose name the present thread works."""
        return self._threads.get(threading.get_ident(), self.acting)

    def begin(self, **what: Any) -> int:
        """Note that a step begins; return the number of its execution."""
        with self._lock:
            self._steps += 1
            number = self._steps
        self.note("begin", of=number, **what)
        return number

    def note(self, kind: Any, **what: Any) -> None:
        """Note an event.

        Raises:
            Runaway: there are too many.
        """
        event = Seen(kind, by=self.who(), **what)
        with self._lock:
            if len(self.events) >= MOST_EVENTS:
                raise Runaway
            self.events.append(event)


def said(error: BaseException | None) -> str:
    """Return what a trace says of an error."""
    match error:
        case None:
            return ""
        case PlannedError():
            return f"raised {error.mail}"
        case MailboxClosedError():
            return "closed"
        case RuntimeError():
            return "refused"
        case _:
            return line_of(error)
