"""The operator for functions that block: plain functions in threads, with a loop or without."""

from asyncwait.backends.threads._blocking import LoopThread, OperatorHost
from asyncwait.backends.threads._operator import open_operator, open_plain
from asyncwait.backends.threads._plain import key_ordered_wait, ordered_wait, unordered_wait
from asyncwait.backends.threads._types import BlockingResults, ThreadsStream
from asyncwait.spec.exports import claim_exports

__all__ = [
    "BlockingResults",
    "LoopThread",
    "OperatorHost",
    "ThreadsStream",
    "key_ordered_wait",
    "open_operator",
    "open_plain",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
