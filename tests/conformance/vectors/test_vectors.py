"""Vectors: they are what the examples give now, and every sound operator comes to the same."""

import json
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from node import FOLDER, NODE, node
from outside import Folder
from sample import some

from asyncwait.conformance._commands._vectors import made_vectors, run_vectors
from asyncwait.conformance.running import open_backend
from asyncwait.spec.vectors import (
    shipped_vectors,
    vectors_to_json,
)
from asyncwait.spec.vectors._vector import schema_text

DATA = Path(str(files("asyncwait.spec.vectors").joinpath("data")))
COMMAND = "asyncwait vectors write spec/asyncwait/spec/vectors/data"

pytestmark = pytest.mark.timeout(300)


def test_the_files_are_what_the_command_writes() -> None:
    with open_backend("reference-asyncio") as reference:
        made = {name: vectors_to_json(file) for name, file in made_vectors(reference).items()}
    found = {file.name: file.read_bytes() for file in DATA.iterdir()}

    assert made == found, f"the vectors are not up to date; run: {COMMAND}"
    assert sum(map(len, found.values())) < 2_000_000


def test_the_schema_is_what_the_command_prints_and_holds_for_the_files() -> None:
    text = DATA.parent.joinpath("schema.json").read_text(encoding="utf-8")
    schema = Draft202012Validator(json.loads(text))

    assert text == schema_text(), (
        "run: python -m asyncwait.spec.vectors > spec/asyncwait/spec/vectors/schema.json"
    )
    Draft202012Validator.check_schema(schema.schema)
    documents = {file.name: json.loads(file.read_bytes()) for file in DATA.iterdir()}
    assert [name for name, document in documents.items() if not schema.is_valid(document)] == []
    assert not schema.is_valid({**documents["order.json"], "format": 2})


def test_another_sound_operator_comes_to_the_same() -> None:
    every = [vector for file in shipped_vectors().values() for vector in file.vectors]
    with open_backend("pool-trio") as backend:
        found = list(run_vectors(backend, some(every, 5, "vectors")))

    assert [each.vector.name for each in found if each.kind != "pass"] == []
    assert sum(each.vector.outcome is not None for each in found) > len(found) // 2


def test_vectors_are_written_and_run_by_the_command(outside: Folder) -> None:
    watermarks = str(DATA / "watermarks.json")

    sound = outside.here("vectors", "run", "pool-asyncio", watermarks)
    broken = outside.here("vectors", "run", "--exec", node("broken.js"), watermarks)

    count = len(shipped_vectors()["watermarks.json"].vectors)
    assert (sound.code, sound.out) == (0, f"pool-asyncio: {count} vectors: {count} pass\n")
    assert broken.code == 1
    name = f"exec:{node('broken.js')}"
    assert f"{name}: empty-segments: fail: WM-2: Record 'b' (input 2) came out" in broken.out
    assert f"{name}: empty-segments: fail: outcome: segment 0: expected " in broken.out


def test_what_can_not_be_played_is_inconclusive(outside: Folder) -> None:
    few = outside.here(
        "vectors", "run", "--exec", node("main.js"), str(DATA / "snapshots.json"), "--jobs", "1"
    )

    assert few.code == 3
    assert " not applicable\n" in few.out


def test_a_program_plays_vectors_without_the_suite(outside: Folder) -> None:
    order = DATA / "order.json"
    wrong = outside.path / "wrong.json"
    wrong.write_bytes(order.read_bytes().replace(b'"value":"a1"}', b'"value":"a7"}'))
    program = str(FOLDER / "vectors.js")

    right = outside.run(str(NODE), program, *map(str, sorted(DATA.iterdir())))
    other = outside.run(str(NODE), program, str(wrong))

    assert (right.code, right.err) == (0, "")
    assert int(right.out.split()[0]) > 100
    assert other.code == 1
    assert "the-last-finishes-first (ORD-1,ORD-2):\n  expected " in other.out
