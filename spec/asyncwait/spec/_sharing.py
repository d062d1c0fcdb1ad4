"""How records share calls of the function, and what calls have given."""

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
    """Has the function called for several records at a time, with a list of their values.

    The function returns a list of answers in the same order, or a mapping from values to answers.
    An exception among them fails its record alone; one that the call raises, all of them.

    A batch goes when it is full, when its first record has waited long enough, and at once when no
    other record can join it: none can be read or admitted, and none may be called again.

    Args:
        max_size: records in one call at most; no more than the capacity.
        max_wait: seconds that a record waits for others at most, while a call may begin at all; 0
            to wait for nobody but records that are there already.
        in_flight: calls that records wait for at a time, at most; a capacity of `max_size` times
            that has room for all of them, as the defaults have. As many that were cancelled may
            run on besides, until they have cleaned up; more of them fail the operator.
        split: how poisonous records are found: where a whole call has raised or taken too long, its
            records are called again in batches of half its size at most. In its last attempt each
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
    """Keeps the results of the keys that were used last, and has records with one key share calls.

    Each attempt of each record asks for its key, at once. It is given what is kept; or it waits
    for the call of that key which runs, a *load*; or it begins one, with the value of its record.
    Errors are never kept. A snapshot holds nothing of it: whoever goes on begins with nothing kept.

    A record leaves a load by its own deadline, or its attempt's own limit, without the others. A
    load that nobody waits for is cancelled, and whoever asks for its key then begins another.

    Args:
        max_keys: keys at most, at every moment; the least recently used one goes first.
        ttl: seconds for which results are good, from the moment at which their load began.
        missing_ttl: the same for results that are empty; None for not keeping these at all.
        refresh_ahead: the share of `ttl`, above 0 and below 1, after which the first use of a key
            has a load begin in the background, for nobody; None for never.
        stale_if_error: seconds for which results that are no longer good may still be given: where
            a load fails, at once, before any retry. None for never. A lookup also gives them where
            a load takes too long.
        key: a plain function of a record's value that gives its key; None for the value itself.
            It sees the context variables that handlers see.
            Keys are the same if they are equal and of one type, as 1 and 1.0 are not. One that is
            None or NaN, or a tuple with such a part, is *null*: its records share and keep nothing.
            Where no key can be had, because this raises or it can't be hashed, the attempt fails.
            A lookup has keys of its own, and refuses this.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
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
