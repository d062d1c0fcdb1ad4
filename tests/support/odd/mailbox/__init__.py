"""A sound mailbox that is built differently: no rule may convict it."""

from odd.mailbox._inbox import SortsItsInbox

SOUND_MAILBOXES: tuple[type, ...] = (SortsItsInbox,)
"""All of them."""

__all__ = ["SOUND_MAILBOXES", "SortsItsInbox"]
