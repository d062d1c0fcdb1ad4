"""How long a lookup keeps what it has read."""

from msgspec import Struct

from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_number, require_seconds, require_timeout, require_whole


class Cache(Struct, frozen=True):
    """Keeps the rows of the keys that were used last. Errors are never kept.

    Args:
        max_keys: keys at most, at every moment; the least recently used one goes first.
        ttl: seconds for which rows are good, from the moment at which the table was asked.
        missing_ttl: the same for a key without rows; None for not keeping that at all.
        refresh_ahead: the share of `ttl`, above 0 and below 1, after which the first use of a key
            has it read again in the background; None for never.
        stale_if_error: seconds for which rows that are no longer good may still be given: if the
            table fails, at once, before any retry; or if it does not answer before the deadline.
            None for never.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
    """

    max_keys: int
    ttl: float
    missing_ttl: float | None = None
    refresh_ahead: float | None = None
    stale_if_error: float | None = None

    def __post_init__(self) -> None:
        require_whole("max_keys", self.max_keys)
        require_seconds("ttl", self.ttl)
        require_timeout("missing_ttl", self.missing_ttl)
        share = self.refresh_ahead
        if share is not None and not (is_number(share) and 0 < share < 1):
            raise InvalidConfig.of("refresh_ahead", share, "a number above 0 and below 1, or None")
        require_timeout("stale_if_error", self.stale_if_error)


class Full(Struct, frozen=True):
    """Reads the whole table before the first row, and again and again.

    A copy is swapped for the next one at once. Where reading fails, the old one stays.

    Args:
        reload: seconds from the end of one reading to the begin of the next; None for never.
        max_age: seconds after which a copy that could not be read again is no longer used, from
            the begin of its reading: lookups fail then. None for using it for ever.

    Raises:
        InvalidConfig: an argument is wrong; it is named with its value and type.
    """

    reload: float | None = None
    max_age: float | None = None

    def __post_init__(self) -> None:
        require_timeout("reload", self.reload)
        require_timeout("max_age", self.max_age)
