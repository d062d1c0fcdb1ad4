"""Sound operators, and a mailbox, that are odd: the suite must not fail what is only unusual.

Some are one small change to the mechanism of the reference, some have a mechanism of their own
(`odd.sound`, `odd.mailbox`). No rule may convict any of them.
"""

from odd._variations import ODD

__all__ = ["ODD"]
