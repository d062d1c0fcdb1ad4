"""What earlier versions have written is read, and says what it said then."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from archive import CONFIG, FOLDER, FORMATS, VALUES, blocks, goes, lost, read, write
from operators import in_a_row

from asyncwait.backends import emitter, pool, threads
from asyncwait.reference import open_operator
from asyncwait.spec import Element, Record, Snapshot
from asyncwait.spec.snapshots import decode_snapshot

VERSIONS = sorted(folder for folder in FOLDER.iterdir() if (folder / "told.json").exists())
OPERATORS = {
    "emitter": emitter.open_operator,
    "pool": pool.open_operator,
    "reference": open_operator,
    "threads": threads.open_operator,
}


@pytest.fixture(params=VERSIONS, ids=lambda folder: folder.name)
def version(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.param
    return folder


def test_every_file_is_read_and_says_what_it_said(version: Path) -> None:
    told = json.loads((version / "told.json").read_text(encoding="utf-8"))

    found = read(version)

    assert {*told} == {path.name for path in version.iterdir() if path.is_dir()} <= {*FORMATS}
    assert list(lost(told, found)) == []


def test_what_is_lost_is_found_out() -> None:
    told = {"a": [1, {"b": None}], "c": "x"}

    assert list(lost(told, {"a": [1, {"b": None, "new": 1}], "c": "x"})) == []
    assert list(lost(told, {"a": [2, {}], "c": "x"})) == ["/a/0: expected 1, got 2"]
    assert list(lost(told, {"a": [1]})) == [
        "/a: expected [1, {'b': None}], got [1]",
        "/c: expected 'x', got None",
    ]


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_goes_on_from_the_snapshots_of_each(version: Path, name: str) -> None:
    goes.set()
    files = sorted(version.glob("snapshots/*.snapshot"))
    snapshots = {file.stem: decode_snapshot(file.read_bytes()) for file in files}
    both = snapshots.pop("chain")

    assert {*OPERATORS} == {*snapshots}
    for snapshot in snapshots.values():
        assert same(restored(OPERATORS[name], CONFIG, given(name), snapshot), VALUES)
    if name == "threads":
        return  # The second of two hands results on, which is no work for a thread.
    joined = in_a_row(OPERATORS[name], OPERATORS[name])
    assert same(restored(joined, CONFIG, (itself, itself), both), VALUES)


async def itself(value: Any) -> list[Any]:
    return [value]


def given(name: str) -> Any:
    return (lambda value: [*blocks(value), value]) if name == "threads" else itself


def restored(opens: Any, config: Any, fn: Any, snapshot: Snapshot) -> list[Any]:
    async def nothing() -> AsyncIterator[Element]:
        for element in ():
            yield element

    async def scene() -> list[Any]:
        async with opens(config, fn, nothing(), snapshot) as results:
            return [each.value async for each in results if isinstance(each, Record)]

    return asyncio.run(scene())


def same(found: list[Any], values: Any) -> bool:
    return sorted(map(repr, found)) == sorted(map(repr, values))


def test_no_version_is_written_anew(version: Path) -> None:
    with pytest.raises(FileExistsError):
        write(version)
