"""The plain form of the worker pool: the operator on asyncio or trio."""

from asyncwait.backends.pool._operator import (
    PoolResults,
    open_operator,
    ordered_wait,
    unordered_wait,
)

__all__ = ["PoolResults", "open_operator", "ordered_wait", "unordered_wait"]
