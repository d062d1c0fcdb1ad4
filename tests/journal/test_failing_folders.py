"""Disks that are full, folders that are gone, processes that fork: what is there stays readable."""

import math
import os
import shutil
import subprocess
import sys
from textwrap import dedent
from typing import Any

import pytest
from journals import add_all, entries, found

from asyncwait.backends.journal import Journal, JournalError, _local, _local_writer, key_of, summary


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
            patch.setattr(_local_writer, "os", stand_in)
            with pytest.raises(OSError, match=os.strerror(28)):
                attempt.add(key_of("lost"), b"lost")
        add_all(attempt, others)

    assert found(on_disk, [*some, *others, key_of("lost")]) == some | others
    assert (summary(on_disk.path).files, summary(on_disk.path).torn) == (2, 1)


def test_a_file_that_is_taken_for_a_dead_ones_is_begun_again(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = []

    def begin(path: str) -> int:
        file = _local.begin_file(path)
        begun.append(path)
        if len(begun) == 1:
            os.unlink(path)  # noqa: PTH108 - as whoever merges does
        return file

    monkeypatch.setattr(_local_writer, "begin_file", begin)
    with on_disk.attempt("part") as attempt:
        attempt.add(key_of(1), b"one")

    assert len(begun) == 2
    assert found(on_disk, [key_of(1)]) == {key_of(1): b"one"}


def test_a_folder_that_is_gone_is_an_error_at_the_next_write(on_disk: Journal) -> None:
    journal = Journal(on_disk.path, "job", "1", max_bytes=10_000)
    attempt, other = journal.attempt("part"), journal.attempt("other")
    attempt.add(key_of(1), b"one")
    shutil.rmtree(journal.path)

    with pytest.raises(FileNotFoundError):
        other.add(key_of(1), b"one")
    with pytest.raises(JournalError, match="was deleted"):
        attempt.add(key_of(2), b"two")
    assert attempt.find(key_of(1)) == b"one"
    attempt.close()
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


def test_a_folder_that_is_gone_before_closing_is_an_error_there(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_local_writer, "_SOON", math.inf)
    attempt = on_disk.attempt("part")
    attempt.add(key_of(1), b"one")
    shutil.rmtree(on_disk.path)

    with pytest.raises(JournalError, match="was deleted"):
        attempt.close()
    attempt.close()
    with pytest.raises(JournalError, match="the attempt is closed"):
        attempt.find(key_of(1))
