"""What is kept of what calls have given, and until when. Nothing here awaits."""

from collections.abc import MutableMapping
from math import inf
from typing import Any

from msgspec import Struct

from asyncwait.spec import Cache, MissingExtra


class Kept(Struct, eq=False):
    """The results of a key; of a lookup, its rows.

    Args:
        results: as they were collected.
        good_until: when they are no longer given, in seconds of the loop's clock.
        refresh_from: when their next use has a load begin in the background.
        stale_until: until when they may be given where a load fails.
    """

    results: tuple[Any, ...]
    good_until: float
    refresh_from: float
    stale_until: float


class Store:
    """What is kept, by stand-in of its key, and no more of it than there may be.

    Args:
        settings: None for keeping nothing.

    Raises:
        MissingExtra: cachetools is not installed, and something is to be kept.
    """

    def __init__(self, settings: Cache | None) -> None:
        self._settings = settings
        self.evictions = 0
        """Keys that had to go."""
        self.entries: MutableMapping[Any, Kept] = {}
        """Each access makes one the most recently used."""
        self._look: Any = dict.__getitem__  # without that
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
        """Note that what is kept for a key, which is there, is loaded again: once in its life."""
        self.entries[key].refresh_from = inf

    def put(self, key: Any, results: tuple[Any, ...], asked_at: float, now: float) -> None:
        """Keep what a load gave for a key, or forget the older if this is not to be kept.

        Args:
            key: as its stand-in.
            results: empty where there is nothing.
            asked_at: when the load began, in seconds of the loop's clock.
            now: the same.
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
                except KeyError:  # One whose hash has changed since can never go: begin anew.
                    entries.__init__(settings.max_keys)  # type: ignore[misc]
                    entries[key] = kept
                return
        self.entries.pop(key, None)

    def stale(self, key: Any, now: float) -> tuple[Any, ...] | None:
        """Return the results of a key that may be given although its load fails.

        That is no use of it, by which another one would have to go.
        """
        kept = self._look(self.entries, key) if key in self.entries else None
        return kept.results if kept is not None and now < kept.stale_until else None
