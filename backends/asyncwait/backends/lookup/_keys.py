"""A key as that which an error is about."""

from typing import Any

from asyncwait.spec import Record
from asyncwait.toolkit import call_failed, stand_in


class LookedUp(Record, frozen=True):
    """A key as the record that an error is about; whoever reads of it in an error has keys."""

    def __str__(self) -> str:
        return f"key {super().__str__().removeprefix('Record ')}"


def place_of(key: Any) -> Any:
    """Return the stand-in of a key that somebody looks up.

    Raises:
        CallFailed: `key` can't be hashed, or compared with itself.
    """
    try:
        return stand_in(key)
    except Exception as error:
        raise call_failed(LookedUp(key), error) from error
