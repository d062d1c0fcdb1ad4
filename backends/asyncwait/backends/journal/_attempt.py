"""An open journal of one task."""

import math
import threading
from collections.abc import Sequence
from os import getpid
from typing import Any, Self

from asyncwait.backends.journal._errors import EntryTooLarge, JournalError, JournalFull
from asyncwait.backends.journal._failures import (
    Failure,
    decode_failure,
    encode_failure,
    failure_key,
)
from asyncwait.backends.journal._files import Index, payload_of, read_entry
from asyncwait.backends.journal._format import KEY_BYTES, MOST, Owner
from asyncwait.backends.journal._open import Writer, open_writer
from asyncwait.backends.journal._store import Store, entry_files, undisturbed
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import shown

_STEP = 64 * 1024
"""Least bytes that an attempt writes before it measures the files of other attempts again."""


class Attempt:
    """A journal opened for one attempt of a task, by `Journal.attempt`.

    It finds entries that existed when it was opened, and its own; it does not find what other
    attempts add meanwhile. Any thread may use it. It can't be pickled. A forked process can't
    use it, because the writes of both processes would mix.

    Args:
        store: the files.
        owner: job, version and settings of the journal.
        name: of the attempt.
        flush_rows: see `Journal`.
        max_bytes: see `Journal`.
        failures: see `Journal`.

    Attributes:
        found: number of payloads found.
        added: number of entries added.
        path: of the journal.
        keeps_failures: see `Journal`.
    """

    def __init__(
        self,
        store: Store,
        owner: Owner,
        name: str,
        *,
        flush_rows: int,
        max_bytes: int | None,
        failures: bool = False,
    ) -> None:
        self.found = 0
        self.added = 0
        self.path = store.path
        self.keeps_failures = failures
        self._store = store
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._dropped = 0
        self._refused: dict[bytes, int] = {}
        self._index = Index(store, owner)
        self._index.load()
        self._torn = self._index.torn
        self._writer: Writer = open_writer(store, name, owner, flush_rows)
        self._others = self._index.size
        """Bytes of all files except our own, at the last look."""
        self._look_again = 0
        self._is_closed = False
        self._process = getpid()

    @property
    def redone(self) -> int:
        """Number of places in files where a torn or altered entry was dropped.

        A torn file does not say how many entries followed that place.
        """
        return self._torn + self._dropped

    def find(self, key: bytes) -> bytes | None:
        """Return the last payload that this attempt added for a key, or else any payload, or None.

        Args:
            key: of the call, 16 bytes; see `key_of`.

        Raises:
            JournalError: the attempt is closed, or this is a fork of the process that opened it.
            EntryTooLarge: `add` has refused the payload of this key as too long; another call
                would return it again.
        """
        return self.find_all([key])[0]

    def find_all(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the result of `find` for each of `keys`, with a single wait for the lock.

        Args:
            keys: of the calls, 16 bytes each.

        Raises:
            JournalError: the attempt is closed.
        """
        for key in keys:
            _require_key(key)
            if self._refused and key in self._refused:
                raise EntryTooLarge.of_size(self._refused[key])
        self._require_open()
        with self._lock:
            self._require_open()
            payloads = list(map(self._find, keys))
        self.found += len(keys) - payloads.count(None)
        return payloads

    def knows(self, key: bytes) -> bool:
        """Return True if `outcomes` has a result or a failure; this does not count as found.

        Args:
            key: of a call, 16 bytes.

        Raises:
            JournalError: the attempt is closed.
        """
        _require_key(key)
        keys = [key, failure_key(key)] if self.keeps_failures else [key]
        self._require_open()
        with self._lock:
            self._require_open()
            return any(self._find(each) is not None for each in keys)

    def outcomes(self, keys: Sequence[bytes]) -> list[bytes | Failure | None]:
        """Return the payload of each call, or else its failure, or None.

        Args:
            keys: of the calls, 16 bytes each.

        Raises:
            JournalError: the attempt is closed.
        """
        found: list[bytes | Failure | None] = [*self.find_all(keys)]
        if self.keeps_failures:
            left = [place for place, payload in enumerate(found) if payload is None]
            failed = [failure_key(keys[place]) for place in left]
            for place, key, payload in zip(left, failed, self.find_all(failed), strict=True):
                found[place] = None if payload is None else decode_failure(key, payload)
        return found

    def _find(self, key: bytes) -> bytes | None:
        try:
            return self._look(key)
        except FileNotFoundError:
            return undisturbed(self._store, lambda: self._look(key), self._load)

    def _look(self, key: bytes) -> bytes | None:
        if (payload := self._writer.find(key)) is not None:
            return payload
        while (place := self._index.find(key)) is not None:
            file, at = place
            if (entry := read_entry(self._store, file, at, key)) is not None:
                return payload_of(entry)
            self._dropped += 1
            self._index.drop(key, file)
        return None

    def _load(self) -> None:
        """Read all files again, because another attempt has merged known files."""
        self._index.load(self._writer.own)
        self._torn = max(self._torn, self._index.torn)

    def add(self, key: bytes, payload: bytes) -> None:
        """Store the result of a call.

        On a disk the entry is safe when `add` returns: it outlives this process. Behind fsspec it
        is safe after `flush_rows` entries, `flush` or `close`.

        Args:
            key: of the call, 16 bytes; see `key_of`.
            payload: at most 64 MiB.

        Raises:
            EntryTooLarge: the payload is longer; `find` of this key then raises this error, too.
            JournalFull: the files would exceed `max_bytes`.
            JournalError: the attempt is closed, or its file was deleted.
            InvalidConfig: an argument is wrong.
            OSError: the write failed. On a disk the entry is lost; behind fsspec the next write
                repeats it.
        """
        if type(key) is not bytes or len(key) != KEY_BYTES:
            _require_key(key)
        if type(payload) is not bytes or len(payload) > MOST:
            self._require_payload(key, payload)
        if self._process != getpid():
            self._require_open()
        with self._lock:
            if self._is_closed:
                self._require_open()
            if self._max_bytes is not None:
                self._require_room(self._writer.cost(payload), self._max_bytes)
            self._writer.add(key, payload)
            self.added += 1

    def add_failure(self, failure: Failure) -> None:
        """Store the failure of a call; raise errors as `add` does."""
        self.add(failure_key(failure.key), encode_failure(failure))

    def _require_payload(self, key: bytes, payload: Any) -> None:
        if not isinstance(payload, bytes):
            raise InvalidConfig.of("payload", payload, "bytes")
        if len(payload) > MOST:
            self._refused[key] = len(payload)
            raise EntryTooLarge.of_size(len(payload))

    def _require_room(self, cost: int, most: int) -> None:
        if self._ours() >= self._look_again or self._others + self._ours() + cost > most:
            self._others = self._held() - self._writer.written
            room = most - self._others - self._ours()
            self._look_again = self._ours() + max(_STEP, room // 16)
            if cost > room:
                raise JournalFull.of(self._store.path, most - room, cost, most)

    def _held(self) -> int:
        return sum(entry_files(self._store).values())

    def _room(self) -> float:
        """Return the bytes left for the end of the file."""
        if self._max_bytes is None or self._writer.own is None:
            return math.inf
        try:
            return self._max_bytes - self._held()
        except OSError:  # The folder is gone; the file must be closed all the same.
            return 0

    def _ours(self) -> int:
        return self._writer.written + self._writer.coming

    def flush(self) -> None:
        """Write the entries that are not yet behind fsspec.

        Raises:
            JournalError: the attempt is closed.
            OSError: the write failed; the next write repeats it.
        """
        self._require_open()
        with self._lock:
            self._require_open()
            self._writer.flush()

    def close(self) -> None:
        """Flush, and close the files; do nothing on a second call, or in a forked process.

        Raises:
            JournalError: the files were deleted.
            OSError: the write behind fsspec failed; `close` can be called again.
        """
        if self._process != getpid():
            return
        with self._lock:
            if not self._is_closed:
                try:
                    self._writer.close(self._room())
                except JournalError:  # A second attempt to write is useless.
                    self._end()
                    raise
                self._end()

    def _end(self) -> None:
        self._store.close()
        self._is_closed = True

    def _require_open(self) -> None:
        if self._process != getpid():  # A thread of the other process may hold the lock for ever.
            raise JournalError(
                "the attempt was opened before this process was forked, and belongs to the other "
                "process; open one here: journal.attempt(name)"
            )
        if self._is_closed:
            raise JournalError("the attempt is closed; open another one: journal.attempt(name)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, exc: BaseException | None, __: object) -> None:
        try:
            self.close()
        except Exception as error:
            if exc is None:
                raise
            exc.add_note(f"Closing the journal raised, too: {shown(error)}")


def _require_key(key: Any) -> None:
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        raise InvalidConfig.of("key", key, f"{KEY_BYTES} bytes, as key_of(...) returns them")
