"""Sound mailboxes that are built differently: no rule may convict them."""

from odd.mailbox._heap import KeepsAHeap
from odd.mailbox._inbox import SortsItsInbox
from odd.mailbox._one_list import KeepsOneList

SOUND_MAILBOXES: tuple[type, ...] = (KeepsAHeap, KeepsOneList, SortsItsInbox)
"""All of them."""

__all__ = ["SOUND_MAILBOXES", "KeepsAHeap", "KeepsOneList", "SortsItsInbox"]
