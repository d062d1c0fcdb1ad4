"""Sound operators that were each written from the contract alone, in plain asyncio or plain trio.

They share the contract's own helpers, and a shell: their arguments, their door, how a call is
awaited. What an operator is made of differs in each: tasks of a group on asyncio, a parking lot on
trio. No rule may convict any of them.
"""

from odd.sound._parking import ParksEachRecord
from odd.sound._task_per_record import GivesEachRecordATask

__all__ = ["GivesEachRecordATask", "ParksEachRecord"]
