"""The plain form of the worker pool: the operator on asyncio or trio."""

from asyncwait.backends.pool._callbacks import PoolResultFuture, RunningCall
from asyncwait.backends.pool._operator import (
    PoolResults,
    key_ordered_wait,
    open_operator,
    open_plain,
    ordered_wait,
    unordered_wait,
)
from asyncwait.spec.exports import claim_exports

__all__ = [
    "PoolResultFuture",
    "PoolResults",
    "RunningCall",
    "key_ordered_wait",
    "open_operator",
    "open_plain",
    "ordered_wait",
    "unordered_wait",
]

claim_exports(__name__)
