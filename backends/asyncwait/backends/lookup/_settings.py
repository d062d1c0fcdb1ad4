"""How a lookup keeps a whole table."""

from msgspec import Struct

from asyncwait.spec.checks import require_timeout


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
