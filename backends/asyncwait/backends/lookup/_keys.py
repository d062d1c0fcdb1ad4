"""A key as that which an error is about."""

from collections.abc import Sequence
from typing import Any

from asyncwait.spec import InvalidConfig, Record
from asyncwait.toolkit import call_failed, is_whole, stand_in


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


def require_keys(keys: Any) -> Sequence[Any]:
    """Refuse a text in place of the keys, each of whose letters would be one.

    Raises:
        InvalidConfig: it is a text, or nothing that has a length and an order.
    """
    if is_whole(keys) or not isinstance(keys, Sequence):
        raise InvalidConfig.of("keys", keys, "a list of keys; [key] for one")
    return keys


def types_of(key: Any) -> Any:
    """Return the type of a key, or the types of its parts."""
    return tuple(map(type, key)) if isinstance(key, tuple) else type(key)
