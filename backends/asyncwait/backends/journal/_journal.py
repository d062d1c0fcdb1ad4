"""What a journal is, as it travels from the process that plans a job to those that work on it."""

import os
import re
from contextlib import closing
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, force_setattr, replace

from asyncwait.backends.journal._attempt import Attempt
from asyncwait.backends.journal._compact import compact_if_many
from asyncwait.backends.journal._errors import JournalMismatch
from asyncwait.backends.journal._format import (
    Header,
    Owner,
    Settings,
    digest_of,
    encode_identity,
)
from asyncwait.backends.journal._index import Index
from asyncwait.backends.journal._store import (
    IDENTITY_NAME,
    Store,
    entry_files,
    is_remote,
    need_identity,
    read_identity,
)
from asyncwait.backends.journal._writers import open_store
from asyncwait.spec import InvalidConfig

_LONGEST = 200
_OF_FRAMES = {"columns", "schema", "many", "zone"}
"""Settings that DataFrame operators set themselves."""
_SETTINGS_MOST = 200 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,99}")


class Journal(Struct, frozen=True):
    """Where the results of a job are kept. It can be pickled, and holds nothing open.

    A result has at most 64 MiB, encoded; a longer one is refused, see `Attempt.add`.

    A folder needs POSIX. On a network file system without locks it can be used, and its loose files
    are not merged.

    Args:
        path: a folder that all processes see under the same name, or a URL for fsspec, such as
            "s3://bucket/journal". A folder is made absolute: workers may be somewhere else.
        job: whose results they are, at most 200 characters. All runs that are to share them give
            the same.
        version: of the function, at most 200 characters: another one if it gives other results, as
            `version_of` makes it.
        flush_rows: entries that are collected before a part is written, behind fsspec; so many at
            most are called again if the process is killed. On a disk there is no waiting.
        max_bytes: that all files together may have; None for no bound. Attempts that run side by
            side look from time to time what the others have written, so it may be passed a little.
        settings: what else the results depend on, as pairs of a name and a text; with others a run
            is refused, by name, with both. DataFrame operators set their own: the columns that the
            function is given with their types, `schema`, `many`, and where instants are read the
            time zone. At most 200 KiB in all.
        failures: whether calls that have failed for good are kept, too, and not made again: those
            that raised what `Retry.on_error` does not name, or where there is no `Retry`, what
            `asyncwait.backends.services.transient` does not. Never kept is what proves nothing of
            the next call: deadlines, the last of several attempts, an `OSError`, `MemoryError`,
            `EOFError`, bare `RuntimeError` or group, and HTTP statuses such as 401, 402 or 403.
            `drop_failures` has all called again, as it must when another `Retry` is to decide.

    Raises:
        InvalidConfig: an argument is not what it should be.
    """

    path: str
    job: str
    version: str
    flush_rows: int = 1000
    max_bytes: int | None = None
    settings: Settings = ()
    failures: bool = False

    def __post_init__(self) -> None:
        _require_path(self.path)
        _require_token("job", self.job)
        _require_token("version", self.version)
        if not _is_count(self.flush_rows):
            raise InvalidConfig.of("flush_rows", self.flush_rows, "a whole number >= 1")
        if not (self.max_bytes is None or _is_count(self.max_bytes)):
            raise InvalidConfig.of("max_bytes", self.max_bytes, "a whole number >= 1, or None")
        _require_settings(self.settings)
        if not isinstance(self.failures, bool):
            raise InvalidConfig.of("failures", self.failures, "True or False")
        if not is_remote(self.path):
            force_setattr(self, "path", os.path.abspath(self.path))  # noqa: PTH100 - a str

    @property
    def owner(self) -> Owner:
        """Whose results they are."""
        return Owner(self.job, self.version, digest_of(self.settings))

    def prepare(self) -> None:
        """Make the folder, or see that it holds what this journal is for; once, before all work.

        Many loose files are merged, see `compact`: more than 64, or more than 64 MiB in them.
        Without settings of its own it leaves those alone that are there; where none are set and
        nothing is kept yet, its own are set.

        Raises:
            JournalMismatch: it belongs to another job or version, or was kept with other settings.
            JournalTooNew: a later version of asyncwait has written it.
            JournalCorrupt: it does not say whose it is.
            MissingExtra: the path is a URL, and fsspec is not installed.
            InvalidConfig: the path is that of a file, or fsspec knows nothing of that kind.
            OSError: it can't be read or written.
        """
        with closing(open_store(self.path)) as store:
            try:
                store.make()
            except (FileExistsError, NotADirectoryError) as error:
                raise InvalidConfig.of("path", self.path, "a folder, or none yet") from error
            with store.alone():
                held = read_identity(store)
                if held is None:
                    Index(store, self.owner).load()  # Each file says whose it is, too.
                if held is None or self._is_free(store, held):
                    store.put(IDENTITY_NAME, encode_identity(self.job, self.version, self.settings))
                    held = need_identity(store)  # Without locks somebody else may be faster.
            self._require_ours(store, held, self.settings or held.meta.settings)
            compact_if_many(store, held.meta.owner)

    def _is_free(self, store: Store, held: Header) -> bool:
        """Say whether there is nothing that settings would be the wrong ones of."""
        meta = held.meta
        is_ours = (meta.job, meta.version, meta.settings) == (self.job, self.version, ())
        return is_ours and bool(self.settings) and not entry_files(store)

    def _require_ours(self, store: Store, held: Header, settings: Settings) -> None:
        if settings and held.format == 1:
            raise JournalMismatch.older(store.path)
        was = {"job": held.meta.job, "version": held.meta.version, **dict(held.meta.settings)}
        now = {"job": self.job, "version": self.version, **dict(settings)}
        names = [name for name in {**was, **now} if was.get(name) != now.get(name)]
        if names:
            differs = {name: (was.get(name), now.get(name)) for name in names}
            raise JournalMismatch.between(store.path, differs, self._as_it_was(held))

    def _as_it_was(self, held: Header) -> str:
        kept = tuple(pair for pair in held.meta.settings if pair[0] not in _OF_FRAMES)
        now = replace(self, job=held.meta.job, version=held.meta.version, settings=kept)
        said = {field.name: getattr(now, field.name) for field in fields(now)}
        told = [
            f"{field.name}={said[field.name]!r}"
            for field in fields(now)
            if field.required or said[field.name] != field.default
        ]
        return f"Journal({', '.join(told)})"

    def attempt(self, name: str) -> Attempt:
        """Open the journal for one attempt of a task; leave it as a context, or close it.

        Args:
            name: for people who look at the folder, for example "part-7". It need not be unique.

        Raises:
            JournalMismatch: the journal, or a file in it, belongs to another job or version, or was
                kept with other settings.
            JournalTooNew: a later version of asyncwait has written it, or a file in it.
            JournalCorrupt: there is no journal, or a file does not say whose it is.
            InvalidConfig: the name is none for a file.
            MissingExtra: the path is a URL, and fsspec is not installed.
            OSError: it can't be read.
        """
        _require_name(name)
        store = open_store(self.path)
        try:
            self._require_ours(store, need_identity(store), self.settings)
            return Attempt(
                store,
                self.owner,
                name,
                flush_rows=self.flush_rows,
                max_bytes=self.max_bytes,
                failures=self.failures,
            )
        except BaseException:
            store.close()
            raise


def _require_path(path: Any) -> None:
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidConfig.of("path", path, "the path of a folder, or a URL for fsspec")


def _require_name(name: Any) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        expected = "1 to 100 letters, digits and . = _ -, the first a letter or digit"
        raise InvalidConfig.of("name", name, expected)


def _require_token(name: str, token: Any) -> None:
    if not isinstance(token, str) or not 1 <= len(token) <= _LONGEST or not _is_text(token):
        raise InvalidConfig.of(name, token, f"a text of 1 to {_LONGEST} characters")


def _require_settings(settings: Any) -> None:
    expected = "pairs of a name and a text, each name once, none of them job or version"
    is_pairs = isinstance(settings, tuple) and all(map(_is_pair, settings))
    names = {"job", "version", *(pair[0] for pair in settings)} if is_pairs else ()
    if not is_pairs or len(names) < len(settings) + 2:
        raise InvalidConfig.of("settings", settings, expected)
    size = sum(len(text.encode()) for pair in settings for text in pair)
    if size > _SETTINGS_MOST:
        raise InvalidConfig(f"settings must be at most {_SETTINGS_MOST:,} bytes, got {size:,}")


def _is_pair(pair: Any) -> bool:
    if not isinstance(pair, tuple) or len(pair) != 2:  # noqa: PLR2004 - a pair
        return False
    return all(isinstance(text, str) and _is_text(text) for text in pair)


def _is_text(token: str) -> bool:
    try:
        token.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
