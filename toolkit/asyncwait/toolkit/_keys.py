"""Equality of keys, and the store of a cache. Nothing here awaits.

Key-ordered mode compares keys as a dict does, a cache as a database does. To a dict, 1, 1.0, True
and Decimal(1) are one key. Therefore each key of a cache has a *stand-in*: two stand-ins are equal
only if their keys are equal and have one type; keys that cannot be compared differ. Most keys are
their own stand-ins, as their types show.
"""

from collections.abc import MutableMapping
from datetime import datetime, time
from math import inf
from typing import Any, Generic, TypeVar

from msgspec import Struct

from asyncwait.spec import Cache, InvalidKey, MissingExtra, Record
from asyncwait.spec.texts import shown
from asyncwait.toolkit._function import settled

V = TypeVar("V")


class ByKey(Generic[V]):
    """Values by their keys, which may be any objects, also objects without a hash (KEY-8).

    As in a dict, two keys are the same if they are one object or equal: 1, 1.0 and True are one
    key, and None is a key like any other. Keys without a hash follow the same condition; a lookup
    compares such a key with each other key without a hash.

    Errors of hashing or comparing a key pass to the caller, except for the TypeError of a key
    without a hash.
    """

    def __init__(self) -> None:
        self._hashed: dict[Any, V] = {}
        self._others: list[tuple[Any, V]] = []

    def __len__(self) -> int:
        return len(self._hashed) + len(self._others)

    def get(self, key: Any) -> V | None:
        """Return the value of `key`; None without a value."""
        if _has_hash(key):
            return self._hashed.get(key)
        place = self._place(key)
        return None if place is None else self._others[place][1]

    def put(self, key: Any, value: V) -> None:
        """Set the value of `key`."""
        if _has_hash(key):
            self._hashed[key] = value
        elif (place := self._place(key)) is None:
            self._others.append((key, value))
        else:
            self._others[place] = key, value

    def remove(self, key: Any, value: V) -> None:
        """Forget `value` and its key.

        Args:
            key: key of the value. If it has changed since `put`, a lookup may not find it: then
                this method checks all keys.
            value: the very object.

        Raises:
            KeyError: `value` has no key.
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
    """Return the failure of an operator whose lookup of the key of `record` raised `error`."""
    reason = f"its key can't be compared with others, as in a dict: {shown(error)}"
    failure = InvalidKey(record, reason)
    failure.__cause__ = error
    return failure


PLAIN_KEYS = frozenset({int, str, bytes})
"""Types whose values never equal a value of another of these types."""

_NUMBERS = frozenset({bool, float})

_EQ: Any = tuple.__eq__
_HASH: Any = tuple.__hash__

NULL_KEY = object()
"""Stand-in of all null keys, which no row can have: None, NaN, and tuples with a null part."""


def stand_in(key: Any) -> Any:
    """Return the stand-in for `key` in a dict.

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
    if key != key:  # noqa: PLR0124 - only NaN is not equal to itself
        return NULL_KEY
    hash(key)
    if isinstance(key, datetime | time):  # Python ignores `fold`, so two times can be equal.
        return kind, key, key.fold
    return (kind, key) if kind in _NUMBERS else _Apart((kind, key))


class _Apart(tuple[Any, ...]):
    """Stand-in of a key that may raise when it is compared; such keys differ."""

    __slots__ = ()
    __hash__ = tuple.__hash__
    __ne__ = object.__ne__

    def __eq__(self, other: object) -> bool:
        try:
            return _EQ(self, other)  # type: ignore[no-any-return]
        except Exception:
            return False


class Kept(Struct, eq=False):
    """Cached results of a key, or rows of a lookup. Times are seconds of the loop's clock.

    Args:
        results: the collected results.
        good_until: time until which they are fresh.
        refresh_from: time from which their next use begins a load in the background.
        stale_until: time until which they may replace a failed load.
    """

    results: tuple[Any, ...]
    good_until: float
    refresh_from: float
    stale_until: float


class Store:
    """Results by the stand-ins of their keys, up to a number of keys.

    Args:
        settings: bounds of the store; None for a store that keeps nothing.

    Raises:
        MissingExtra: the store has settings, and cachetools is not installed.
    """

    def __init__(self, settings: Cache | None) -> None:
        self._settings = settings
        self.evictions = 0
        """Number of evicted keys."""
        self.entries: MutableMapping[Any, Kept] = {}
        """Results by stand-in; each access makes a key the most recently used."""
        self._look: Any = dict.__getitem__  # without an effect on this order
        if settings is not None:
            self.entries = self._bounded(settings.max_keys)

    def _bounded(self, max_keys: int) -> MutableMapping[Any, Kept]:
        try:
            from cachetools import Cache as Bounded
            from cachetools import LRUCache
        except ImportError as error:
            raise MissingExtra("cachetools", "cache") from error
        self._look = Bounded.__getitem__
        return LRUCache(max_keys)

    def refreshing(self, key: Any) -> None:
        """Note that the cached results of a key are refreshed, once in their life."""
        self.entries[key].refresh_from = inf

    def put(self, key: Any, results: tuple[Any, ...], asked_at: float, now: float) -> None:
        """Cache the results of a load, or forget older results if these are not cached.

        Args:
            key: stand-in of the key.
            results: results, possibly empty.
            asked_at: start of the load, in seconds of the loop's clock.
            now: present time of the same clock.
        """
        settings = self._settings
        if settings is None:
            return
        ttl = settings.ttl if results else settings.missing_ttl
        if ttl is not None:
            good_until = asked_at + ttl
            stale_until = good_until + ((settings.stale_if_error or 0) if results else 0)
            if now < stale_until:
                share = settings.refresh_ahead
                refresh_from = inf if share is None or not results else asked_at + ttl * share
                entries = self.entries
                self.evictions += key not in entries and len(entries) == settings.max_keys
                kept = Kept(results, good_until, refresh_from, stale_until)
                try:
                    entries[key] = kept
                except KeyError:  # A key with a changed hash can't be evicted: empty the cache.
                    entries.__init__(settings.max_keys)  # type: ignore[misc]
                    entries[key] = kept
                return
        self.entries.pop(key, None)

    def stale(self, key: Any, now: float) -> tuple[Any, ...] | None:
        """Return the results of a key that may replace a failed load; None without such results.

        It does not count as a use of the key, which would delay its eviction.
        """
        kept = self._look(self.entries, key) if key in self.entries else None
        return kept.results if kept is not None and now < kept.stale_until else None
