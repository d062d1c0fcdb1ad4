"""Which keys are the same: those that are equal and of one type, as a database has it.

To a dict of Python, 1, 1.0, True and Decimal(1) are one key. So each key has a *stand-in*, which is
equal to another one only if both keys are the same. Most keys are their own: to find that out costs
one look at their type.
"""

from typing import Any

from asyncwait.spec import Record
from asyncwait.toolkit import call_failed

PLAIN = frozenset({int, str, bytes})
"""Types whose values are equal to no value of another of these types."""

NULL = object()
"""The stand-in of all keys that no row can have: null, in whole or in part, and NaN."""


def stand_in(key: Any) -> Any:
    """Return what stands for `key` in a dict.

    Raises:
        Exception: `key` can't be hashed, or compared with itself.
    """
    kind = type(key)
    if kind in PLAIN or (kind is tuple and PLAIN.issuperset(map(type, key))):
        return key
    if key is None:
        return NULL
    if isinstance(key, tuple):
        parts = tuple(map(stand_in, key))
        return NULL if any(part is NULL for part in parts) else (kind, parts)
    if key != key:  # noqa: PLR0124 - which is how one knows NaN
        return NULL
    hash(key)
    return kind, key


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
