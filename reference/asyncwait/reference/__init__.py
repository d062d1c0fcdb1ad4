"""draft"""

from asyncwait.reference._operator import Operator, open_operator
from asyncwait.spec import plain_wait

ordered_wait = plain_wait(open_operator, "ordered")
unordered_wait = plain_wait(open_operator, "unordered")

__all__ = ["Operator", "open_operator", "ordered_wait", "unordered_wait"]
