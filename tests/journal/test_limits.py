"""What is refused: wrong arguments, another owner, and more bytes than there may be."""

import fcntl
import itertools
import os
import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from journals import entries, fill, found, prepared
from msgspec.structs import replace

from asyncwait.backends.journal import (
    Attempt,
    EntryTooLarge,
    Journal,
    JournalCorrupt,
    JournalFull,
    JournalMismatch,
    JournalTooNew,
    _local,
    compact,
    key_of,
    summary,
)
from asyncwait.backends.journal._local import LocalStore
from asyncwait.spec import InvalidConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("path", value) for value in ("", None, "a\0b")),
        *(("job", value) for value in ("", "x" * 201, "\ud800")),
        ("version", 1),
        *(("flush_rows", value) for value in (0, True)),
        *(("max_bytes", value) for value in (0, 1.5)),
        *(("settings", value) for value in ({"a": "b"}, (("a", 1),), (("job", "b"),))),
        ("settings", (("a", "b"), ("a", "c"))),
        ("settings", (("a", "x" * 204_800),)),
    ],
    ids=lambda each: ascii(each)[:40],
)
def test_a_wrong_argument_is_refused(name: str, value: Any) -> None:
    arguments = {"path": "/tmp/x", "job": "job", "version": "1", name: value}  # noqa: S108
    with pytest.raises(InvalidConfig, match=f"^{name} must be "):
        Journal(**arguments)


@pytest.mark.parametrize("name", ["", "a/b", "../a", ".a", "x" * 101, "a b", None, 7])
def test_a_name_that_is_none_for_a_file_is_refused(on_disk: Journal, name: Any) -> None:
    with pytest.raises(InvalidConfig) as caught:
        on_disk.attempt(name)
    assert str(caught.value).startswith("name must be ")
    assert str(caught.value).endswith(f", got {name!r} ({type(name).__name__})")


@pytest.mark.parametrize("key", [b"", b"short", bytes(17), "x" * 16, bytearray(16), None])
def test_what_is_no_key_is_refused(journal: Journal, key: Any) -> None:
    with journal.attempt("part") as attempt:
        for use in (lambda: attempt.find(key), lambda: attempt.add(key, b"")):
            with pytest.raises(InvalidConfig, match=r"^key must be 16 bytes") as caught:
                use()
            assert str(caught.value).endswith(f", got {key!r} ({type(key).__name__})")


def test_what_is_no_payload_is_refused(journal: Journal) -> None:
    wrong: Any = "text"
    with journal.attempt("part") as attempt:
        with pytest.raises(InvalidConfig, match=r"^payload must be bytes, got 'text'"):
            attempt.add(key_of(1), wrong)
        for use in (
            lambda: attempt.add(key_of(1), bytes(64 * 1024 * 1024 + 1)),
            lambda: attempt.find(key_of(1)),
        ):
            with pytest.raises(EntryTooLarge, match="67,108,865"):
                use()
        assert (attempt.added, attempt.find(key_of(2))) == (0, None)
    for documented in (Attempt.add, Journal):
        assert "64 MiB" in (documented.__doc__ or "")


@pytest.mark.parametrize(
    ("job", "version"), [("other", "1"), ("job", "2"), ("job", "source-2:3.11:1")]
)
def test_another_owner_is_refused(journal: Journal, job: str, version: str) -> None:
    other = Journal(journal.path, job, version)
    for use in (other.prepare, lambda: other.attempt("part")):
        with pytest.raises(JournalMismatch) as caught:
            use()
        assert isinstance(caught.value, InvalidConfig)
        both = {"job": ("job", job), "version": ("1", version)}
        differs = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
        assert pickle.loads(pickle.dumps(caught.value)).differs == differs  # noqa: S301 - our own
        for name, (was, now) in differs.items():
            assert f"{name} was {was!r}, now {now!r}" in str(caught.value)
        told_why = 'Journal(..., version="2") overrides it' in str(caught.value)
        assert told_why == version.startswith("source-")
    journal.prepare()


SETTINGS = (("schema", "n bigint"), ("zone", "UTC"))


def test_other_settings_are_refused_by_name(path: str) -> None:
    journal = prepared(path, settings=SETTINGS)
    right = entries(1, 2)
    fill(journal, right)
    compact(path)
    others: dict[Any, Any] = {
        (): {"schema": ("n bigint", None), "zone": ("UTC", None)},
        SETTINGS[:1]: {"zone": ("UTC", None)},
        (SETTINGS[0], ("zone", "CET")): {"zone": ("UTC", "CET")},
        (*SETTINGS, ("many", "True")): {"many": (None, "True")},
        (("schema", "x" * 10_000), SETTINGS[1]): {"schema": ("n bigint", "x" * 10_000)},
    }
    for settings, differs in others.items():
        other = Journal(path, "job", "1", settings=settings)
        # Who prepares a journal that he hands on may leave its settings to who uses it.
        uses = [partial(other.attempt, "part"), *([other.prepare] if settings else [])]
        for use in uses:
            with pytest.raises(JournalMismatch) as caught:
                use()
            assert caught.value.differs == differs
            assert len(str(caught.value)) < 600 + len(path)
    Journal(path, "job", "1").prepare()
    assert found(Journal(path, "job", "1", settings=SETTINGS[::-1]), right) == right
    assert summary(path).settings == dict(SETTINGS)


def test_settings_are_set_where_nothing_is_kept_yet(path: str) -> None:
    journal = Journal(path, "job", "1", settings=SETTINGS)
    for _ in range(2):
        Journal(path, "job", "1").prepare()
        journal.prepare()
        fill(journal, entries(1))
    bare = prepared(f"{path}-bare")
    fill(bare, entries(1))
    with pytest.raises(JournalMismatch) as caught:
        Journal(bare.path, "job", "1", settings=SETTINGS).prepare()
    assert caught.value.differs == {name: (None, text) for name, text in SETTINGS}


@pytest.mark.parametrize("kind", ["identity", "loose", "merged"])
def test_a_newer_format_is_named_as_such(on_disk: Journal, kind: str) -> None:
    fill(on_disk, entries(1))
    if kind == "merged":
        compact(on_disk.path)
    (file,) = Path(on_disk.path).glob(f"*.{kind}")
    data = file.read_bytes()
    file.write_bytes(data[:7] + b"\x09" + data[8:])
    prepare, opened, shown, merged = uses(on_disk.path)
    refused = [opened, merged]
    if kind == "identity":
        refused += [prepare, shown]
    else:
        there = summary(on_disk.path)
        assert [each.state for each in (*there.loose, *there.merged)] == ["newer"]
    for use in refused:
        with pytest.raises(JournalTooNew, match=f"{file.name} has version 9") as caught:
            use()
        assert "delete nothing" in str(caught.value)


def uses(path: str) -> list[Callable[[], object]]:
    journal = Journal(path, "job", "1")
    opened = partial(journal.attempt, "part")
    return [journal.prepare, opened, partial(summary, path), partial(compact, path)]


def test_where_there_is_no_journal_none_is_opened(path: str) -> None:
    for use in uses(path)[1:]:
        with pytest.raises(JournalCorrupt, match=f"^{path} holds no journal; "):
            use()


def test_a_damaged_identity_is_refused_by_name(on_disk: Journal) -> None:
    file = Path(on_disk.path, "journal.identity")
    data = file.read_bytes()
    for at in range(len(data)):
        file.write_bytes(data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :])
        if at in {7, 8, 9, 10, 11}:  # It seems newer or longer than it is, or too short.
            continue
        for use in (on_disk.prepare, lambda: on_disk.attempt("part")):
            with pytest.raises(JournalCorrupt, match=f"^{file} is damaged; "):
                use()
    file.unlink()
    on_disk.prepare()
    assert summary(on_disk.path).job == "job"


@pytest.mark.parametrize("left", [0, 10])
def test_where_the_identity_is_lost_the_other_files_say_whose_it_is(
    on_disk: Journal, left: int
) -> None:
    fill(on_disk, entries(1))
    file = Path(on_disk.path, "journal.identity")
    os.truncate(file, left)
    with pytest.raises(JournalMismatch, match="version was '1', now '2'"):
        replace(on_disk, version="2").prepare()

    on_disk.prepare()
    assert found(on_disk, entries(1)) == entries(1)


def test_of_two_that_prepare_at_the_same_time_one_is_refused(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(on_disk.path, "journal.identity").unlink()
    between: list[str] = []
    put = LocalStore.put

    def preparing(version: str) -> str:
        try:
            replace(on_disk, version=version).prepare()
        except JournalMismatch:
            return "refused"
        return "accepted"

    with ThreadPoolExecutor() as threads:

        def put_late(self: LocalStore, name: str, data: bytes) -> None:
            if not between:
                between.append("2")
                other.append(threads.submit(preparing, "2"))
                with suppress(TimeoutError):
                    other[0].result(timeout=0.1)
            put(self, name, data)

        other: list[Future[str]] = []
        monkeypatch.setattr(LocalStore, "put", put_late)
        assert preparing("1") == "accepted"
        assert other[0].result() == "refused"


def test_whoever_locks_the_folder_keeps_nobody_out_for_ever(
    on_disk: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_local, "_PATIENCE", 0.01)
    folder = os.open(on_disk.path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    on_disk.prepare()
    os.close(folder)


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "below"):
        with pytest.raises(InvalidConfig, match=f"^path must be .*, got '{path}'"):
            Journal(str(path), "job", "1").prepare()


@pytest.mark.parametrize("flush_rows", [1, 7, 1000])
def test_a_journal_is_no_longer_than_it_may_be(path: str, flush_rows: int) -> None:
    most = 5000
    journal = prepared(path, flush_rows=flush_rows, max_bytes=most)
    attempt = journal.attempt("part")
    with pytest.raises(JournalFull) as caught:
        add_for_ever(attempt)
    number = attempt.added
    attempt.close()

    there = summary(path)
    assert there.entries == number
    assert most - 400 < there.bytes <= most
    assert str(caught.value).startswith(f"{path} holds {there.bytes:,} bytes, ")
    assert "max_bytes=5,000" in str(caught.value)
    assert len(found(journal, (key_of(n, 0) for n in range(number)))) == number


def add_for_ever(*attempts: Attempt) -> None:
    for number in itertools.count():
        for each in attempts:
            each.add(key_of(number, attempts.index(each)), b"x" * 50)


def test_what_others_write_counts_too(on_disk: Journal) -> None:
    journal = Journal(on_disk.path, "job", "1", max_bytes=300_000)
    first, second = journal.attempt("first"), journal.attempt("second")
    with pytest.raises(JournalFull):
        add_for_ever(first, second)
    first.close()
    second.close()

    assert 290_000 < summary(on_disk.path).bytes < 300_000 + 70_000


def test_room_that_is_made_is_used(on_disk: Journal) -> None:
    journal = Journal(on_disk.path, "job", "1", max_bytes=4000)
    for _ in range(2):
        with on_disk.attempt("same") as attempt:
            attempt.add(key_of(1), bytes(1800))
    with journal.attempt("part") as attempt:
        with pytest.raises(JournalFull):
            attempt.add(key_of(2), bytes(1000))
        compact(on_disk.path)
        attempt.add(key_of(2), bytes(1000))


def test_many_loose_files_are_merged_when_a_job_begins(journal: Journal) -> None:
    right = entries(*range(130))
    for number in range(64):
        fill(journal, entries(number))
    journal.prepare()
    assert len(summary(journal.path).loose) == 64

    fill(journal, entries(64))
    journal.prepare()
    there = summary(journal.path)
    assert (len(there.loose), len(there.merged)) == (0, 1)

    # What is longer than all that is merged now stays as it is.
    fill(journal, {key_of("long"): bytes(100_000)})
    compact(journal.path)
    for number in range(65, 130):
        fill(journal, entries(number))
    journal.prepare()
    there = summary(journal.path)
    assert (len(there.loose), len(there.merged)) == (0, 2)
    assert found(journal, right) == right
