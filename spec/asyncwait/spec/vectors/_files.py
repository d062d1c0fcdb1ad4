"""Vectors as files of JSON: one for each area of the rules."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._errors import InvalidConfig
from asyncwait.spec.scenario._limits import decoded
from asyncwait.spec.vectors._vector import Vector

FORMAT = 1
"""The version of the files that is written and read here."""


class VectorFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The vectors of one area.

    Args:
        format: version of this form; another one may have other fields.
        spec: version of the specification whose rules they prove.
        area: id of the area, "ORD".
        vectors: in the order in which the area declares them.
    """

    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)]
    spec: str
    area: str
    vectors: tuple[Vector, ...]


def vectors_to_json(file: VectorFile) -> bytes:
    """Return `file` as JSON, each vector on a line of its own."""
    head = {"format": file.format, "spec": file.spec, "area": file.area}
    lines = ",\n".join(msgspec.json.encode(vector).decode() for vector in file.vectors)
    return f'{json.dumps(head)[:-1]}, "vectors": [\n{lines}\n]}}\n'.encode()


class _Written(Struct):
    """The version of a file, whatever else there is in it."""

    format: int = 0


def vectors_from_json(data: bytes) -> VectorFile:
    """Read vectors from JSON.

    Raises:
        InvalidConfig: not JSON, another format, or it breaks the schema or a limit; the message
            says which.
    """
    breaks = "the vectors break their schema"
    written: _Written = decoded(data, _Written, breaks, "the vectors are not JSON")
    if written.format != FORMAT:
        raise InvalidConfig.of("format", written.format, f"{FORMAT}, the one that is read here")
    read: VectorFile = decoded(data, VectorFile, breaks, "the vectors are not JSON")
    return read


def shipped_vectors() -> Mapping[str, VectorFile]:
    """Return the vectors that come with the specification, by the name of their file."""
    return {name: vectors_from_json(data) for name, data in _shipped()}


def _shipped() -> Iterator[tuple[str, bytes]]:
    folder: Any = files("asyncwait.spec.vectors").joinpath("data")
    for file in sorted(folder.iterdir(), key=lambda file: str(file.name)):
        yield file.name, file.read_bytes()
