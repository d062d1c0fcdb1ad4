"""Which keys are the same: those of an order as in a dict, those of a cache as in a database.

To a dict 1, 1.0, True and Decimal(1) are one key. So in a cache each key has a *stand-in*, which is
equal to another one only if both keys are equal and of one type, which no two are that can't be
compared. Most keys are their own: to find that out costs one look at their type.
"""

from datetime import datetime, time
from typing import Any, Generic, TypeVar

from asyncwait.spec import InvalidKey, Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit._kinds import settled

V = TypeVar("V")


class ByKey(Generic[V]):
    """Values by their keys, which may be any objects, those that can't be hashed included (KEY-8).

    As in a dict, two keys are the same if they are one object or equal: 1, 1.0 and True are one
    key, and None is a key like any other. A key that can't be hashed is the same as another such
    key under the same condition; to look it up takes a step for each of those that are there.

    What a key raises when it is hashed or compared passes, but for a TypeError that says that it
    has no hash.
    """

    def __init__(self) -> None:
        self._hashed: dict[Any, V] = {}
        self._others: list[tuple[Any, V]] = []

    def __len__(self) -> int:
        return len(self._hashed) + len(self._others)

    def get(self, key: Any) -> V | None:
        """Return what belongs to `key`; None for nothing."""
        if _has_hash(key):
            return self._hashed.get(key)
        place = self._place(key)
        return None if place is None else self._others[place][1]

    def put(self, key: Any, value: V) -> None:
        """Have `value` belong to `key`, in the place of what did."""
        if _has_hash(key):
            self._hashed[key] = value
        elif (place := self._place(key)) is None:
            self._others.append((key, value))
        else:
            self._others[place] = key, value

    def remove(self, key: Any, value: V) -> None:
        """Forget `value`, and the key that it belongs to.

        Args:
            key: which was put with it. It may have changed since, and not be found any more: then
                all keys are gone through.
            value: the very object.

        Raises:
            KeyError: it is not there.
        """
        if _has_hash(key) and self._hashed.get(key) is value:
            del self._hashed[key]
            return
        before = len(self)
        self._others[:] = [each for each in self._others if each[1] is not value]
        if len(self) == before:
            self._hashed = {k: each for k, each in self._hashed.items() if each is not value}
        if len(self) == before:
            raise KeyError(key)

    def clear(self) -> None:
        """Forget all keys."""
        self._hashed.clear()
        self._others.clear()

    def _place(self, key: Any) -> int | None:
        both = enumerate(self._others)
        return next((n for n, (each, _) in both if each is key or each == key), None)


def _has_hash(key: Any) -> bool:
    try:
        hash(key)
    except TypeError:
        return False
    return True


def invalid_key(record: Record, error: Exception) -> InvalidKey:
    """Return what the operator fails with because looking the key of `record` up raised `error`."""
    reason = f"its key can't be compared with others, as in a dict: {shown(error)}"
    failure = InvalidKey(record, reason)
    failure.__cause__ = error
    return failure


PLAIN_KEYS = frozenset({int, str, bytes})
"""Types whose values are equal to no value of another of these types."""

_NUMBERS = frozenset({bool, float})

_EQ: Any = tuple.__eq__
_HASH: Any = tuple.__hash__

NULL_KEY = object()
"""The stand-in of all keys that no row can have: null, in whole or in part, and NaN."""


def stand_in(key: Any) -> Any:
    """Return what stands for `key` in a dict.

    Raises:
        Exception: `key` can't be hashed, or compared with itself.
    """
    kind: Any = type(key)
    if kind in PLAIN_KEYS or (kind is tuple and PLAIN_KEYS.issuperset(map(type, key))):
        return key
    if key is None:
        return NULL_KEY
    if isinstance(key, tuple) and kind.__eq__ is _EQ and kind.__hash__ is _HASH:
        parts = tuple(map(stand_in, key))
        return NULL_KEY if any(part is NULL_KEY for part in parts) else (kind, parts)
    settled("`key` or `by`", key)
    if key != key:  # noqa: PLR0124 - which is how one knows NaN
        return NULL_KEY
    hash(key)
    if isinstance(key, datetime | time):  # Where clocks are set back, Python takes two for equal.
        return kind, key, key.fold
    return (kind, key) if kind in _NUMBERS else _Apart((kind, key))


class _Apart(tuple[Any, ...]):
    """Stands for a key that may raise when it is compared: that is another key, then."""

    __slots__ = ()
    __hash__ = tuple.__hash__
    __ne__ = object.__ne__

    def __eq__(self, other: object) -> bool:
        try:
            return _EQ(self, other)  # type: ignore[no-any-return]
        except Exception:
            return False
