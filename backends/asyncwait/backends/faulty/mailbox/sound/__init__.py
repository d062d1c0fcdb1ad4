"""Sound mailboxes that are built differently: no rule may convict them."""

from asyncwait.backends.faulty.mailbox.sound._heap import KeepsAHeap
from asyncwait.backends.faulty.mailbox.sound._inbox import SortsItsInbox
from asyncwait.backends.faulty.mailbox.sound._one_list import KeepsOneList
from asyncwait.spec.exports import claim_exports

SOUND_MAILBOXES: tuple[type, ...] = (KeepsAHeap, KeepsOneList, SortsItsInbox)
"""All of them."""

__all__ = ["SOUND_MAILBOXES", "KeepsAHeap", "KeepsOneList", "SortsItsInbox"]

claim_exports(__name__)
