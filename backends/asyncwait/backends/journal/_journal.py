"""Definition of a journal: the planning process makes it, and the workers open it."""

import os
import re
from contextlib import closing
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, force_setattr, replace

from asyncwait.backends.journal._attempt import Attempt
from asyncwait.backends.journal._errors import JournalMismatch
from asyncwait.backends.journal._files import Index
from asyncwait.backends.journal._format import (
    Header,
    Owner,
    Settings,
    digest_of,
    encode_identity,
)
from asyncwait.backends.journal._open import open_store
from asyncwait.backends.journal._store import (
    IDENTITY_NAME,
    Store,
    entry_files,
    is_remote,
    need_identity,
    read_identity,
)
from asyncwait.backends.journal._whole import compact_if_many
from asyncwait.spec import InvalidConfig
from asyncwait.spec.checks import is_whole, require_whole

_LONGEST = 200
_OF_FRAMES = {"columns", "schema", "many", "zone"}
"""Settings of the DataFrame operators."""
_SETTINGS_MOST = 200 * 1024
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=-]{0,99}")


class Journal(Struct, frozen=True):
    """Store of the results of a job. It can be pickled, and holds no open file.

    A result has at most 64 MiB, encoded; see `Attempt.add`.

    A folder needs POSIX. A network file system without locks works, but its loose files are not
    merged.

    Args:
        path: a folder that all processes see under the same name, or a URL for fsspec, such as
            "s3://bucket/journal". A relative path becomes absolute, because workers may have
            another working directory.
        job: name of the job, at most 200 characters, equal in all runs that share results.
        version: of the function, at most 200 characters; another one if the results differ, as from
            `version_of`.
        flush_rows: entries of a part behind fsspec; a killed process repeats so many calls at most.
            On a disk each entry is written at once.
        max_bytes: bound for all files together; None for no bound. Attempts that run side by side
            look at the files of the others from time to time, and may exceed it a little.
        settings: other dependencies of the results, as pairs of a name and a text, at most 200 KiB
            in all; a run with other settings raises an error that names both. DataFrame operators
            set their own: the columns of the function with their types, `schema`, `many`, and the
            time zone if they read instants.
        failures: True to store final failures, too, and not to repeat these calls: errors that
            `Retry.on_error` does not name, or without a `Retry`,
            `asyncwait.backends.services.transient`. A journal never stores an error that the next
            call may not have: deadlines, the last of several attempts, an `OSError`, `MemoryError`,
            `EOFError`, bare `RuntimeError` or group, and HTTP statuses such as 401, 402 or 403.
            After `drop_failures` all are called again, as another `Retry` requires.

    Raises:
        InvalidConfig: an argument is wrong.
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
        require_whole("flush_rows", self.flush_rows)
        if self.max_bytes is not None and not (is_whole(self.max_bytes) and self.max_bytes >= 1):
            raise InvalidConfig.of("max_bytes", self.max_bytes, "a whole number >= 1, or None")
        _require_settings(self.settings)
        if not isinstance(self.failures, bool):
            raise InvalidConfig.of("failures", self.failures, "True or False")
        if not is_remote(self.path):
            force_setattr(self, "path", os.path.abspath(self.path))  # noqa: PTH100 - a str

    @property
    def owner(self) -> Owner:
        """Job, version and settings."""
        return Owner(self.job, self.version, digest_of(self.settings))

    def prepare(self) -> None:
        """Create the folder, or check that it belongs to this journal; once, before all work.

        More than 64 loose files, or 64 MiB in them, are merged; see `compact`. A journal without
        settings accepts the stored ones. Settings are stored as long as the folder has no results.

        Raises:
            JournalMismatch: the folder belongs to another job or version, or to other settings.
            JournalTooNew: a later version of asyncwait has written it.
            JournalCorrupt: its owner is unreadable.
            MissingExtra: the path is a URL, and fsspec is not installed.
            InvalidConfig: the path is a file, or a URL of a kind that fsspec does not know.
            OSError: the folder can't be read or written.
        """
        with closing(open_store(self.path)) as store:
            try:
                store.make()
            except (FileExistsError, NotADirectoryError) as error:
                raise InvalidConfig.of("path", self.path, "a folder, or none yet") from error
            with store.alone():
                held = read_identity(store)
                if held is None:
                    Index(store, self.owner).load()  # Each file names its owner, too.
                if held is None or self._is_free(store, held):
                    store.put(IDENTITY_NAME, encode_identity(self.job, self.version, self.settings))
                    held = need_identity(store)  # Without locks another process may be faster.
            self._require_ours(store, held, self.settings or held.meta.settings)
            compact_if_many(store, held.meta.owner)

    def _is_free(self, store: Store, held: Header) -> bool:
        """Return True if the journal has neither settings nor results."""
        meta = held.meta
        is_ours = (meta.job, meta.version, meta.settings) == (self.job, self.version, ())
        return is_ours and bool(self.settings) and not entry_files(store)

    def _require_ours(self, store: Store, held: Header, settings: Settings) -> None:
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
        """Open the journal for one attempt of a task; exit it as a context, or close it.

        Args:
            name: begin of the file's name, for example "part-7". It need not be unique.

        Raises:
            JournalMismatch: the journal, or a file in it, belongs to another job or version, or to
                other settings.
            JournalTooNew: a later version of asyncwait has written it, or a file in it.
            JournalCorrupt: the folder has no journal, or the owner of a file is unreadable.
            InvalidConfig: the name is unusable for a file.
            MissingExtra: the path is a URL, and fsspec is not installed.
            OSError: the folder can't be read.
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
    if not _is_text(token) or not 1 <= len(token) <= _LONGEST:
        raise InvalidConfig.of(name, token, f"a text of 1 to {_LONGEST} characters")


def _require_settings(settings: Any) -> None:
    expected = "pairs of a name and a text, each name once, none of them job or version"
    is_pairs = isinstance(settings, tuple) and all(
        isinstance(pair, tuple) and [*map(_is_text, pair)] == [True, True] for pair in settings
    )
    names = {"job", "version", *(pair[0] for pair in settings)} if is_pairs else ()
    if not is_pairs or len(names) < len(settings) + 2:
        raise InvalidConfig.of("settings", settings, expected)
    size = sum(len(text.encode()) for pair in settings for text in pair)
    if size > _SETTINGS_MOST:
        raise InvalidConfig(f"settings must be at most {_SETTINGS_MOST:,} bytes, got {size:,}")


def _is_text(token: Any) -> bool:
    return isinstance(token, str) and re.search("[\ud800-\udfff]", token) is None
