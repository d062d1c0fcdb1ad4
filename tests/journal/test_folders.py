"""Folders that are full, deleted, changing or shared: entries stay readable."""

import errno
import math
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from textwrap import dedent
from typing import Any

import msgspec
import pytest
from journals import add_all, entries, fill, find_all, found, prepared

from asyncwait.backends.journal import (
    Journal,
    JournalError,
    _files,
    _local,
    _whole,
    compact,
    key_of,
    summary,
)
from asyncwait.backends.journal._format import ENTRIES, Owner, decode_header, encode_header


class NoRoom:
    """Stands for `os`: it writes half of what it is given, and then there is no room."""

    is_full = False
    is_stuck = False

    def ftruncate(self, file: int, length: int) -> None:
        if self.is_stuck:
            raise OSError(5, os.strerror(5))
        os.ftruncate(file, length)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, file: int, data: Any) -> int:
        if not self.is_full:
            return os.write(file, data)
        if len(data) < 5:
            raise OSError(28, os.strerror(28))
        return os.write(file, data[: len(data) // 2])


def test_a_write_that_fails_leaves_what_was_there(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = entries(*range(20))
    full = NoRoom()
    with monkeypatch.context() as patch:
        patch.setattr(_local, "os", full)
        attempt = on_disk.attempt("part")
        for number, (key, payload) in enumerate(some.items()):
            full.is_full = number % 3 == 2
            if full.is_full:
                with pytest.raises(OSError, match=os.strerror(28)):
                    attempt.add(key, payload)
                assert attempt.find(key) is None
                full.is_full = False
            attempt.add(key, payload)
        full.is_full = True
        attempt.close()

    assert attempt.added == 20
    assert found(on_disk, some) == some
    assert summary(on_disk.path).torn == 0


def test_a_file_that_can_not_be_mended_is_left(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    some, others = entries(*range(5)), entries(*range(5, 10))
    with on_disk.attempt("part") as attempt:
        add_all(attempt, some)
        with monkeypatch.context() as patch:
            stand_in = NoRoom()
            stand_in.is_full = stand_in.is_stuck = True
            patch.setattr(_local, "os", stand_in)
            with pytest.raises(OSError, match=os.strerror(28)):
                attempt.add(key_of("lost"), b"lost")
        add_all(attempt, others)

    assert found(on_disk, [*some, *others, key_of("lost")]) == some | others
    assert (summary(on_disk.path).files, summary(on_disk.path).torn) == (2, 1)


def test_a_file_that_is_taken_for_a_dead_ones_is_begun_again(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []
    begin_file = _local.begin_file

    def begin(path: str) -> int:
        file = begin_file(path)
        begun.append(path)
        if len(begun) == 1:
            os.unlink(path)  # noqa: PTH108 - as whoever merges does
        return file

    monkeypatch.setattr(_local, "begin_file", begin)
    with on_disk.attempt("part") as attempt:
        attempt.add(key_of(1), b"one")

    assert len(begun) == 2
    assert found(on_disk, [key_of(1)]) == {key_of(1): b"one"}


@pytest.mark.parametrize("soon", [0, math.inf])
def test_a_folder_that_is_gone_is_an_error_at_once_or_on_closing(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch, soon: float
) -> None:
    monkeypatch.setattr(_local, "_SOON", soon)
    journal = Journal(on_disk.path, "job", "1", max_bytes=10_000)
    attempt, other = journal.attempt("part"), journal.attempt("other")
    attempt.add(key_of(1), b"one")
    shutil.rmtree(journal.path)

    with pytest.raises(FileNotFoundError):
        other.add(key_of(1), b"one")
    with pytest.raises(JournalError, match="was deleted"):
        attempt.close() if soon else attempt.add(key_of(2), b"two")
    if not soon:
        assert attempt.find(key_of(1)) == b"one"
    attempt.close()
    with pytest.raises(JournalError, match="the attempt is closed"):
        attempt.find(key_of(1))
    other.close()


FORKING = dedent(
    """
    import os, sys
    from asyncwait.backends.journal import Journal, JournalError, key_of

    with Journal(sys.argv[1], "job", "1").attempt("part") as attempt:
        attempt.add(key_of(1), b"one")
        if os.fork() == 0:
            for use in (lambda: attempt.find(key_of(1)), lambda: attempt.add(key_of(2), b"other")):
                try:
                    use()
                except JournalError as error:
                    print(error, flush=True)
            raise SystemExit
        os.wait()
        attempt.add(key_of(2), b"two")
    """
)


def test_a_forked_process_is_refused_and_spoils_nothing(on_disk: Journal) -> None:
    run = [sys.executable, "-c", FORKING, on_disk.path]
    told = subprocess.run(run, capture_output=True, text=True, check=True).stdout

    assert told.count("was opened before this process was forked") == 2
    keys = {key_of(1): b"one", key_of(2): b"two"}
    assert found(on_disk, keys) == keys


def gone(*_: Any) -> Any:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


@pytest.mark.parametrize(
    ("module", "use"),
    [
        (_files, lambda journal: journal.attempt("part")),
        (_whole, lambda journal: summary(journal.path)),
        (_whole, lambda journal: compact(journal.path)),
    ],
    ids=["attempt", "summary", "compact"],
)
def test_files_that_always_go_and_a_folder_that_always_changes_are_errors(
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
    monkeypatch.undo()
    names = iter(range(1000))
    monkeypatch.setattr(_local.LocalStore, "sizes", lambda _: {f"{next(names)}.loose": 1})
    with pytest.raises(JournalError, match="changes faster"):
        use(on_disk)


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


def test_many_threads_use_one_attempt(journal: Journal) -> None:
    parts = [entries(*range(begin, begin + 200)) for begin in range(0, 1600, 200)]
    everything = {key: payload for part in parts for key, payload in part.items()}
    wrong: list[object] = []
    barrier = threading.Barrier(len(parts))
    attempt = journal.attempt("part")

    def work(part: dict[bytes, bytes]) -> None:
        barrier.wait()
        for key, payload in part.items():
            attempt.add(key, payload)
            if attempt.find(key) != payload:
                wrong.append(key)

    with ThreadPoolExecutor(len(parts)) as threads:
        list(threads.map(work, parts))
    attempt.close()

    assert wrong == []
    assert (attempt.added, attempt.found) == (1600, 1600)
    assert found(journal, everything) == everything


def test_many_attempts_write_while_files_are_merged(path: str) -> None:
    journal = prepared(path, flush_rows=10)
    parts = [entries(*range(begin, begin + 150)) for begin in range(0, 600, 150)]
    everything = {key: payload for part in parts for key, payload in part.items()}
    writing = threading.Barrier(len(parts) + 1)

    def work(part: dict[bytes, bytes]) -> list[bytes]:
        """Return the keys that an attempt did not find."""
        writing.wait()
        missing = []
        for at in range(0, 150, 30):
            with journal.attempt("part") as attempt:
                for key, payload in list(part.items())[at : at + 30]:
                    attempt.add(key, payload)
                missing += [key for key in list(part)[: at + 30] if not attempt.find(key)]
        return missing

    with ThreadPoolExecutor(len(parts)) as threads:
        works = [threads.submit(work, part) for part in parts]
        writing.wait()
        while not all(each.done() for each in works):
            compact(path)

    assert [key for each in works for key in each.result()] == []
    assert found(journal, everything) == everything
