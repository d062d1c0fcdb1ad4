"""Files that are not as they were written: a find gives the very payload, or nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pytest
from journals import entries, fill, find_all, found
from mutations import OF_BYTES, Mutation

from asyncwait.backends.journal import (
    Journal,
    JournalCorrupt,
    JournalMismatch,
    JournalTooNew,
    _files,
    compact,
    key_of,
    summary,
)
from asyncwait.backends.journal._format import ENTRIES, Header, decode_header, digest_of

Files: TypeAlias = dict[str, bytes]
Damage: TypeAlias = Callable[[Random, bytes, list[bytes]], bytes]


@pytest.fixture
def parts(on_disk: Journal, tmp_path: Path) -> tuple[Files, Files, Files]:
    fill(on_disk, entries(*range(12)), name="old")
    compact(on_disk.path)
    fill(on_disk, entries(*range(8, 20)), name="sealed")
    fill(on_disk, entries(*range(18, 30)), name="killed", is_closed=False)
    twin = Journal(f"{tmp_path}/twin", "job", "1")
    foreign = Journal(f"{tmp_path}/foreign", "other job", "1")
    # The same keys with other payloads: whoever takes these for his own gives wrong ones.
    others = {key: payload[::-1] for key, payload in entries(*range(30)).items()}
    for journal in (twin, foreign):
        journal.prepare()
        fill(journal, others, name="part")
        fill(journal, others, name="killed", is_closed=False)
    return files_of(on_disk), files_of(twin), files_of(foreign)


def files_of(journal: Journal) -> Files:
    folder = Path(journal.path)
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*-*"))}


def lay_out(journal: Journal, files: Files) -> None:
    for file in Path(journal.path).glob("*-*"):
        file.unlink()
    for name, data in files.items():
        Path(journal.path, name).write_bytes(data)


SETTINGS = (("zone", "UTC"),)
DIGEST = digest_of(SETTINGS).hex()
REFUSALS = (JournalCorrupt, JournalMismatch, JournalTooNew)


def swap(chance: Random, data: bytes, _: list[bytes]) -> bytes:
    first, second = sorted(chance.sample(range(len(data)), 2))
    size = chance.randint(1, second - first)
    blocks = data[first : first + size], data[second : second + size]
    middle, rest = data[first + size : second], data[second + size :]
    return data[:first] + blocks[1] + middle + blocks[0] + rest


def blank(chance: Random, data: bytes, _: list[bytes]) -> bytes:
    """A block is all zeros, as after a power failure."""
    begin, end = sorted(chance.choices(range(len(data) + 1), k=2))
    return data[:begin] + bytes(end - begin) + data[end:]


def garbage(chance: Random, data: bytes, _: list[bytes]) -> bytes:
    return chance.randbytes(chance.choice((0, 3, 40, len(data))))


def graft(chance: Random, data: bytes, strangers: list[bytes]) -> bytes:
    """A block of another file has got into it; mostly behind its end, or over what is there."""
    other = chance.choice(strangers)
    begin, end = sorted(chance.choices(range(len(other) + 1), k=2))
    at = chance.choice((len(data), chance.randrange(len(data) + 1)))
    return data[:at] + other[begin:end] + data[at + chance.choice((0, end - begin)) :]


def head(chance: Random, data: bytes, strangers: list[bytes]) -> bytes:
    other = chance.choice(strangers)
    header = decode_header(ENTRIES, other)
    assert isinstance(header, Header)
    # Its last 32 bytes are an id of chance and the salt. Eight of that id stay where they are: one
    # alone is that of a twin in one of 256 cases, and the result then the twin's whole, right file.
    at = header.size - chance.choice((0, chance.randrange(24)))
    return chance.choice((other[:at] + data[at:], data[:at] + other[at:]))


DAMAGE: tuple[Damage | Mutation, ...] = (*OF_BYTES, swap, blank, garbage, graft, head)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mutate", DAMAGE, ids=lambda each: each.__name__.strip("_"))
def test_no_damage_makes_a_wrong_payload(
    on_disk: Journal,
    parts: tuple[Files, Files, Files],
    monkeypatch: pytest.MonkeyPatch,
    mutate: Any,
) -> None:
    """Each find gives what was added or nothing, or the journal is refused by name; 2,000 times."""
    files, twin, foreign = parts
    strangers = [*twin.values(), *foreign.values()]
    # A whole file of a twin would be right; its payloads are others only to be told apart.
    kind = mutate.__name__.strip("_")
    chance = Random(kind)
    seen = {"refused": 0, "found all": 0, "found less": 0}
    for round_ in range(200):
        monkeypatch.setattr(_files, "_WORTH", chance.choice((1, 1000)))  # searched in place, or not
        name = chance.choice(list(files))
        changed = mutate(chance, files[name], *([] if mutate in OF_BYTES else [strangers]))
        lay_out(on_disk, files | {name: changed})
        seen[outcome(on_disk, entries(*range(30)))] += 1
        if round_ % 5 == 0:
            with suppress(*REFUSALS):
                compact(on_disk.path)
            outcome(on_disk, entries(*range(30)))

    assert sum(seen.values()) == 200
    assert seen["found less"] > 0
    assert kind not in {"repeat", "insert"} or seen["found all"] > 0


def outcome(journal: Journal, right: dict[bytes, bytes]) -> str:
    before = summary(journal.path)
    try:
        attempt = journal.attempt("reader")
    except REFUSALS:
        assert before.corrupt == 1
        return "refused"
    assert before.corrupt == 0
    with attempt:
        found = find_all(attempt, right)
        missing = [key for key in right if key not in found]
        assert found.items() <= right.items()
        for key in missing:
            attempt.add(key, right[key])
        assert find_all(attempt, right) == right
    return "found less" if missing else "found all"


def cuts(data: bytes) -> Iterator[bytes]:
    """A file, cut at every byte; in the end the whole."""
    return (data[:end] for end in range(len(data) + 1))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["old", "sealed", "killed"])
def test_a_file_may_end_at_any_byte(
    on_disk: Journal, parts: tuple[Files, Files, Files], kind: str
) -> None:
    files = parts[0]
    name = next(name for name in files if name.startswith("all" if kind == "old" else kind))
    right = entries(*range(30))
    last = 0
    for data in cuts(files[name]):
        lay_out(on_disk, {name: data})
        there = found(on_disk, right)
        assert there.items() <= right.items()
        assert len(there) >= last
        last = len(there)
        with on_disk.attempt("reader") as attempt:
            assert attempt.redone in {0, 1}
            assert summary(on_disk.path).torn == attempt.redone
    assert last == 12


def test_what_stands_behind_a_damaged_entry_is_dropped(
    on_disk: Journal, parts: tuple[Files, Files, Files]
) -> None:
    files = parts[0]
    right = entries(*range(30))
    killed, sealed = (next(n for n in files if n.startswith(k)) for k in ("killed", "sealed"))
    for name, left in ((killed, 5), (sealed, 11)):
        at = files[name].index(right[key_of(int(files[name] is files[killed]) * 10 + 13)])
        changed = bytearray(files[name])
        changed[at] ^= 1
        lay_out(on_disk, {name: bytes(changed)})
        with on_disk.attempt("reader") as attempt:
            assert sum(attempt.find(key) is not None for key in right) == left
            assert attempt.redone == 1
        told = summary(on_disk.path)
        assert (told.entries, told.keys, told.torn) == (left, left, 1)


def test_a_merged_file_with_a_damaged_index_loses_nothing(on_disk: Journal) -> None:
    some = entries(*range(50))
    fill(on_disk, some)
    compact(on_disk.path)
    ((name, data),) = files_of(on_disk).items()
    for at in (-1, -9, -30, -60):
        changed = bytearray(data)
        changed[at] ^= 1
        lay_out(on_disk, {name: bytes(changed)})

        assert found(on_disk, some) == some
        assert summary(on_disk.path).torn == 0
    compact(on_disk.path)
    assert summary(on_disk.path).merged[0].name != name


def test_a_file_without_a_header_is_refused_by_name(on_disk: Journal) -> None:
    fill(on_disk, entries(1, 2, 3))
    ((name, data),) = files_of(on_disk).items()
    lay_out(on_disk, {name: b"X" + data[1:]})

    for use in (lambda: on_disk.attempt("part"), lambda: compact(on_disk.path)):
        with pytest.raises(JournalCorrupt) as caught:
            use()
        assert str(caught.value).startswith(f"{on_disk.path}/{name} ")


def test_a_file_that_ends_in_its_header_is_passed_over(on_disk: Journal) -> None:
    some = entries(1, 2, 3)
    fill(on_disk, some)
    ((name, data),) = files_of(on_disk).items()
    lay_out(on_disk, {name: data, f"x-{name}": data[:30], f"y-{name}": b""})

    with on_disk.attempt("part") as attempt:
        assert attempt.redone == 2
    assert found(on_disk, some) == some
    assert summary(on_disk.path).torn == 2
    assert (compact(on_disk.path).files, summary(on_disk.path).torn) == (1, 0)


def test_a_file_of_another_version_is_refused_by_name(on_disk: Journal, tmp_path: Path) -> None:
    for number, (other, differs) in enumerate(
        [
            (Journal(f"{tmp_path}/other", "job", "2"), {"version": ("2", "1")}),
            (
                Journal(f"{tmp_path}/set", "job", "1", settings=SETTINGS),
                {"settings": (DIGEST, None)},
            ),
        ]
    ):
        other.prepare()
        fill(other, entries(number))
        ((name, data),) = files_of(other).items()
        lay_out(on_disk, {name: data})

        with pytest.raises(JournalMismatch) as caught:
            on_disk.attempt("part")
        assert name in str(caught.value)
        assert caught.value.differs == differs


def test_other_files_in_the_folder_are_left_alone(on_disk: Journal) -> None:
    some = entries(1, 2, 3)
    fill(on_disk, some)
    others = (".DS_Store", "_SUCCESS", "notes.txt", "notes.tmp", "a.loose.tmp")
    for name in others:
        Path(on_disk.path, name).write_bytes(os.urandom(50))
    Path(on_disk.path, "folder.loose").mkdir()

    compact(on_disk.path)

    assert found(on_disk, some) == some
    assert all(Path(on_disk.path, name).exists() for name in others)
