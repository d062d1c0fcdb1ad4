"""What is kept of a table, and until when. Nothing here awaits."""

from collections.abc import MutableMapping
from math import inf
from typing import Any

from msgspec import Struct

from asyncwait.spec import Cache, MissingExtra


class Entry(Struct, eq=False):
    """The rows of a key.

    Args:
        rows: as they were read.
        good_until: when they are no longer given, in seconds of the loop's clock.
        refresh_from: when their next use has them read again.
        stale_until: until when they may be given if the table fails.
    """

    rows: tuple[Any, ...]
    good_until: float
    refresh_from: float
    stale_until: float


class Store:
    """Entries by stand-in of their keys, no more of them than there may be.

    Args:
        settings: None for keeping nothing.

    Raises:
        MissingExtra: cachetools is not installed, and something is to be kept.
    """

    def __init__(self, settings: Cache | None) -> None:
        self._settings = settings
        self.evictions = 0
        """Entries that had to go."""
        self.entries: MutableMapping[Any, Entry] = {}
        """Each access makes one the most recently used."""
        if settings is not None:
            self.entries = self._bounded(settings.max_keys)

    def _bounded(self, max_keys: int) -> MutableMapping[Any, Entry]:
        try:
            from cachetools import LRUCache
        except ImportError as error:
            raise MissingExtra("cachetools", "lookup") from error
        return LRUCache(max_keys)

    def refreshing(self, key: Any) -> None:
        """Note that the entry of a key, which is there, is read again: once in its life."""
        self.entries[key].refresh_from = inf

    def put(self, key: Any, rows: tuple[Any, ...], asked_at: float, now: float) -> None:
        """Keep the answer for a key, or forget the older one if this one is not to be kept."""
        settings = self._settings
        if settings is None:
            return
        ttl = settings.ttl if rows else settings.missing_ttl
        if ttl is not None:
            good_until = asked_at + ttl
            stale_until = good_until + ((settings.stale_if_error or 0) if rows else 0)
            if now < stale_until:
                share = settings.refresh_ahead
                refresh_from = inf if share is None or not rows else asked_at + ttl * share
                entries = self.entries
                self.evictions += key not in entries and len(entries) == settings.max_keys
                entries[key] = Entry(rows, good_until, refresh_from, stale_until)
                return
        self.entries.pop(key, None)

    def stale(self, key: Any, now: float) -> tuple[Any, ...] | None:
        """Return the rows of a key that may be given although the table fails."""
        entry = self.entries.get(key)
        return entry.rows if entry is not None and now < entry.stale_until else None
