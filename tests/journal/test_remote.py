"""Behind fsspec: parts are written whole, when enough has come, and writing may fail."""

import sys
from typing import Any

import pytest
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from journals import add_all, entries, fill, find_all, found, prepared

from asyncwait.backends.journal import (
    Journal,
    JournalError,
    _remote,
    compact,
    key_of,
    summary,
)
from asyncwait.spec import InvalidConfig, MissingExtra


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    failing = {"writes": 0, "sent": 0}
    for kind in (MemoryFileSystem, LocalFileSystem):
        monkeypatch.setattr(kind, "pipe_file", failing_half_way(kind.pipe_file, failing))
    return failing


def failing_half_way(pipe_file: Any, failing: dict[str, int]) -> Any:
    def write(self: Any, path: str, value: bytes, **options: Any) -> Any:
        failing["sent"] += 1
        if failing["writes"]:
            failing["writes"] -= 1
            pipe_file(self, path, value[: len(value) // 2], **options)
            raise ConnectionResetError("broken off")
        return pipe_file(self, path, value, **options)

    return write


class Going(dict[str, Any]):
    """The files of a memory; the first that is looked at is deleted in that moment."""

    deleted = ""

    def __getitem__(self, path: str) -> Any:
        if not self.deleted:
            self.deleted = path
            del self[path]
        return super().__getitem__(path)


def test_a_file_that_goes_while_its_folder_is_listed_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = _remote.RemoteStore("memory://going")
    for name in ("a.loose", "b.loose"):
        store.put(name, b"three")
    monkeypatch.setattr(MemoryFileSystem, "store", Going(MemoryFileSystem.store))

    assert store.sizes() == {"b.loose": 5}
    with pytest.raises(FileNotFoundError):
        store.open("a.loose")


def test_a_part_is_written_when_enough_has_come(url: str, broken: Any) -> None:
    journal = prepared(url, flush_rows=10)
    sent = broken["sent"]
    with journal.attempt("part") as attempt:
        for number, (key, payload) in enumerate(entries(*range(25)).items(), 1):
            attempt.add(key, payload)
            assert broken["sent"] - sent == number // 10
        attempt.flush()
        attempt.flush()
        assert broken["sent"] - sent == 3
        attempt.add(key_of("last"), b"")

    assert [file.entries for file in summary(url).loose].count(10) == 2
    assert (summary(url).files, summary(url).entries) == (4, 26)


def test_entries_that_were_added_together_are_read_together(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = prepared(url)
    right = entries(*range(1000), size=1000)
    fill(journal, right)
    requests: list[Any] = []
    cat_file = _remote.RemoteStore._fetch

    def fetch(self: Any, *args: Any) -> bytes:
        requests.append(args)
        return cat_file(self, *args)

    monkeypatch.setattr(_remote.RemoteStore, "_fetch", fetch)
    with journal.attempt("part") as attempt:
        assert find_all(attempt, right) == right

    assert len(requests) == 1 + 4 + 1  # the identity, about a megabyte, and its index


def test_long_entries_are_not_kept_for_long(
    url: str, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    monkeypatch.setattr(_remote, "PART_BYTES", 1000)
    journal = prepared(url)
    sent = broken["sent"]
    with journal.attempt("part") as attempt:
        for number in range(10):
            attempt.add(key_of(number), bytes(400))

    assert broken["sent"] - sent == 5


def test_a_key_that_is_added_again_is_written_once(url: str) -> None:
    journal = prepared(url, flush_rows=2)
    with journal.attempt("part") as attempt:
        for payload in (b"one", b"two", b"three"):
            attempt.add(key_of(1), payload)

    assert summary(url).entries == 1
    assert found(journal, [key_of(1)]) == {key_of(1): b"three"}


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_a_write_that_fails_loses_nothing(url: str, broken: Any, failures: int) -> None:
    journal = prepared(url, flush_rows=10)
    right = entries(*range(40))
    raised = 0
    with journal.attempt("part") as attempt:
        for number, (key, payload) in enumerate(right.items()):
            if number == 15:
                broken["writes"] = failures
            try:
                attempt.add(key, payload)
            except ConnectionResetError:
                raised += 1
            seen = dict(list(right.items())[: number + 1])
            assert find_all(attempt, seen) == seen
            assert found(journal, right).items() <= right.items()

    assert raised == failures
    assert found(journal, right) == right
    there = compact(url)
    assert (there.files, there.entries, there.torn) == (1, 40, 0)


def test_an_attempt_that_can_not_be_closed_can_be_closed_again(url: str, broken: Any) -> None:
    journal = prepared(url)
    right = entries(*range(5))
    attempt = journal.attempt("part")
    add_all(attempt, right)
    broken["writes"] = 1

    with pytest.raises(ConnectionResetError, match=r"^broken off$"):
        attempt.close()
    attempt.close()

    assert found(journal, right) == right


def test_a_folder_that_is_deleted_is_an_error_at_the_next_write(url: str) -> None:
    journal = prepared(url, flush_rows=2)
    attempt = journal.attempt("part")
    *some, last = entries(*range(4)).items()
    for key, payload in some:
        attempt.add(key, payload)
    fs, root = url_to_fs(url)
    fs.rm(root, recursive=True)
    with pytest.raises((JournalError, FileNotFoundError)):
        attempt.add(*last)


def test_an_error_of_the_body_is_not_hidden_by_one_in_closing(url: str, broken: Any) -> None:
    journal = prepared(url)
    attempt = journal.attempt("part")
    attempt.add(key_of(1), b"one")
    broken["writes"] = 1
    with pytest.raises(KeyError) as caught, attempt:
        raise KeyError("mine")

    (note,) = caught.value.__notes__
    assert "ConnectionResetError('broken off')" in note


def test_merging_that_can_not_write_changes_nothing(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = prepared(url)
    right = entries(*range(30))
    for begin in (0, 10, 20):
        fill(journal, entries(*range(begin, begin + 10)))

    with monkeypatch.context() as patch:
        for kind in (MemoryFileSystem, LocalFileSystem):
            patch.setattr(kind, "put_file", put_half)
        with pytest.raises(ConnectionResetError):
            compact(url)

    assert found(journal, right) == right
    assert summary(url).torn == url.startswith("memory")  # Elsewhere it has not got its name.
    there = compact(url)
    assert (there.files, there.entries, there.torn) == (1, 30, 0)


def put_half(self: Any, here: str, there: str, **options: Any) -> None:
    with open(here, "rb") as file:  # noqa: PTH123 - it has no path of ours
        data = file.read()
    self.pipe_file(there, data[: len(data) // 2 + 20])
    raise ConnectionResetError("broken off")


def test_a_missing_fsspec_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    journal = Journal("memory://x", "job", "1")

    for use in (journal.prepare, lambda: journal.attempt("part"), lambda: summary("memory://x")):
        with pytest.raises(MissingExtra) as caught:
            use()
        assert (caught.value.needs, caught.value.extra) == ("fsspec", "remote")


def test_a_url_of_no_known_kind_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"^path must be .*, got 'nothing://x'"):
        Journal("nothing://x", "job", "1").prepare()
