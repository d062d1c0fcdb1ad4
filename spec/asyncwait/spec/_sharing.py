"""Configuration of batches and of the cache, by which records share calls and results."""

from collections.abc import Callable, Hashable
from typing import Any

from msgspec import Struct
from msgspec.structs import force_setattr

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.checks import (
    at_most_infinite,
    is_number,
    is_plain_function,
    require_seconds,
    require_timeout,
    require_whole,
)


class Batch(Struct, frozen=True, kw_only=True):
    """Configuration of batches: the operator calls the function with a list of values.

    The function returns a list of answers in the same order, or a mapping from values to answers.
    An exception among the answers fails its record alone; an exception of the call fails them all.

    A batch starts when it is full, when its first record has waited `max_wait`, and at once when no
    other record can join it: none can be read or admitted, and none may be called again.

    Args:
        max_size: largest number of records in one call; no more than the capacity.
        max_wait: longest time in seconds that a record waits for others, while a call may begin at
            all; 0 to take only the records that are ready.
        in_flight: largest number of calls that records wait for at a time; a capacity of `max_size`
            times `in_flight` has room for all of them, as the defaults have. As many cancelled
            calls may still run besides, until they have cleaned up; more fail the operator.
        split: whether to isolate failing records: after a whole call has raised or timed out, its
            records are called again in batches of at most half its size. In its last attempt each
            record is alone. It needs a `retry` of two attempts at least.

    Raises:
        InvalidConfig: an argument is out of its range.
    """

    max_size: int = 25
    max_wait: float = 0.005
    in_flight: int = 4
    split: bool = False

    def __post_init__(self) -> None:
        require_whole("max_size", self.max_size)
        if not is_number(self.max_wait) or not self.max_wait >= 0:
            raise InvalidConfig.of("max_wait", self.max_wait, "a number of seconds >= 0")
        require_whole("in_flight", self.in_flight)
        if not isinstance(self.split, bool):
            raise InvalidConfig.of("split", self.split, "True or False")
        force_setattr(self, "max_wait", at_most_infinite(self.max_wait))


class Cache(Struct, frozen=True):
    """Configuration of the cache: results by key, and calls that records with one key share.

    Each attempt of each record looks its key up at once. The attempt takes the cached results; or
    it waits for the running call of that key, a *load*; or it begins a load with its record's
    value. Errors are never cached. A snapshot holds nothing of the cache, which is empty after a
    restore.

    A record leaves a load at its own deadline, or its attempt's own limit, without the others. When
    the last record has left a load, it is cancelled, and the next lookup of its key begins another.

    Args:
        max_keys: largest number of keys, at every moment; the least recently used key is evicted.
        ttl: seconds for which results are fresh, from the moment at which their load began.
        missing_ttl: the same for empty results; None for not caching them at all.
        refresh_ahead: the share of `ttl`, above 0 and below 1, after which the first use of a key
            begins a load in the background, for which no record waits; None for never.
        stale_if_error: seconds for which results that are no longer fresh may still be used: where
            a load fails, at once, before any retry. None for never. A lookup also uses them where
            a load takes too long.
        key: a plain function of a record's value that returns its key; None for the value itself.
            It sees the context variables that handlers see.
            Keys are the same if they are equal and of one type; 1 and 1.0 are different. A key that
            is None or NaN, or a tuple with such a part, is *null*: its records share no results.
            An attempt fails if this function raises, or if its key can't be hashed.
            A lookup has keys of its own, and refuses this option.

    Raises:
        InvalidConfig: an argument is wrong; the message has its name, value and type.
    """

    max_keys: int
    ttl: float
    missing_ttl: float | None = None
    refresh_ahead: float | None = None
    stale_if_error: float | None = None
    key: Callable[[Any], Hashable] | None = None

    def __post_init__(self) -> None:
        require_whole("max_keys", self.max_keys)
        require_seconds("ttl", self.ttl)
        require_timeout("missing_ttl", self.missing_ttl)
        share = self.refresh_ahead
        if share is not None and not (is_number(share) and 0 < share < 1):
            raise InvalidConfig.of("refresh_ahead", share, "a number above 0 and below 1, or None")
        require_timeout("stale_if_error", self.stale_if_error)
        if self.key is not None and not is_plain_function(self.key, 1):
            raise InvalidConfig.of("key", self.key, "a plain function of a value, or None")
        for name in ("ttl", "missing_ttl", "stale_if_error"):
            if (value := getattr(self, name)) is not None:
                force_setattr(self, name, at_most_infinite(value))
