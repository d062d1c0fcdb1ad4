"""Texts that no file can hold: half a character, from a command line or out of an operator."""

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T", bound=Struct)


def size_of(part: Struct) -> int:
    """Return how many bytes of JSON a part of a report has."""
    try:
        return len(msgspec.json.encode(part))
    except UnicodeEncodeError:
        return len(msgspec.json.encode(_readable(msgspec.to_builtins(part))))


def readable(part: T) -> T:
    """Return a part of a report with what no file can hold written out."""
    try:
        msgspec.json.encode(part)
    except UnicodeEncodeError:
        return msgspec.convert(_readable(msgspec.to_builtins(part)), type(part))
    return part


def _readable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_readable(key): _readable(each) for key, each in value.items()}
        case list() | tuple():
            return [_readable(each) for each in value]
        case _:
            return value
