"""Folders that never come to rest, and files that go while they are read."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from journals import entries, fill, find_all

from asyncwait.backends.journal import (
    Journal,
    JournalError,
    _compact,
    _index,
    _local,
    _summary,
    compact,
    key_of,
    summary,
)
from asyncwait.backends.journal._format import ENTRIES, Owner, decode_header, encode_header


def gone(*_: Any) -> Any:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


@pytest.mark.parametrize(
    ("module", "use"),
    [
        (_index, lambda journal: journal.attempt("part")),
        (_summary, lambda journal: summary(journal.path)),
        (_compact, lambda journal: compact(journal.path)),
    ],
    ids=["attempt", "summary", "compact"],
)
def test_files_that_always_go_are_an_error(
    on_disk: Journal,
    monkeypatch: pytest.MonkeyPatch,
    *,
    module: Any,
    use: Callable[[Journal], object],
) -> None:
    fill(on_disk, entries(1))
    monkeypatch.setattr(module, "open_file", gone)

    with pytest.raises(JournalError, match="loses files"):
        use(on_disk)


def test_a_folder_that_always_changes_is_an_error(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(range(1000))
    monkeypatch.setattr(_local.LocalStore, "sizes", lambda _: {f"{next(names)}.loose": 1})

    with pytest.raises(JournalError, match="changes faster"):
        on_disk.attempt("part")


def test_a_file_that_was_deleted_on_another_machine_is_looked_for_again(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = entries(*range(10))
    fill(on_disk, right)
    attempt = on_disk.attempt("part")
    compact(on_disk.path)
    pread = _local._pread
    stale = [True]

    def read(*args: Any) -> bytes:
        if stale.pop() if stale else False:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return pread(*args)

    monkeypatch.setattr(_local, "_pread", read)

    assert find_all(attempt, right) == right
    attempt.close()


def test_an_error_in_reading_passes_as_it_is(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(on_disk, entries(1))

    def fail(*_: Any) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    with on_disk.attempt("part") as attempt:
        monkeypatch.setattr(_local, "_pread", fail)
        with pytest.raises(OSError, match="Input/output error"):
            attempt.find(key_of(1))
        monkeypatch.undo()


def test_more_files_are_read_than_may_be_open(on_disk: Journal) -> None:
    right = entries(*range(60))
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0  # noqa: PTH208
    for number in range(60):
        fill(on_disk, entries(number))
    with on_disk.attempt("part") as attempt:
        assert find_all(attempt, right) == right
        if before:
            assert len(os.listdir("/proc/self/fd")) <= before + 34  # noqa: PTH208
    if before:
        assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_a_header_whose_meta_is_none_is_no_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(msgspec.msgpack, "encode", lambda _: b"\x93\x01\x02\x03")

    assert decode_header(ENTRIES, encode_header(Owner("job", "1"))[0]) == "corrupt"
