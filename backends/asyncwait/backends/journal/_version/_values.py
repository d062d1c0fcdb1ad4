"""Plain values as bytes: those of different types are different, and so are 0.0 and -0.0."""

import struct
from collections.abc import Callable
from hashlib import blake2b
from types import NoneType
from typing import Any

_EXACT: dict[type, Callable[[Any], bytes]] = {
    str: lambda each: each.encode("utf-8", "surrogatepass"),
    int: lambda each: b"%x" % each,  # decimal digits have a limit
    float: lambda each: struct.pack(">d", each),
    complex: lambda each: struct.pack(">dd", each.real, each.imag),
    bool: lambda each: b"%d" % each,
    bytes: bytes,
    NoneType: lambda _: b"",
    type(Ellipsis): lambda _: b"",
    type(NotImplemented): lambda _: b"",
}


def plain(thing: Any) -> bytes | None:
    """Return the bytes of a value that consists of nothing else; None for any other thing."""
    of_kind = _EXACT.get(type(thing))
    return None if of_kind is None else framed(type(thing).__name__, of_kind(thing))


def constant(thing: Any) -> bytes:
    """Return the bytes of a constant in code: what is plain, and tuples, sets and slices of it."""
    if (data := plain(thing)) is not None:
        return data
    if isinstance(thing, slice):
        thing = (thing.start, thing.stop, thing.step, slice.__name__)
    parts = [constant(each) for each in thing]
    if isinstance(thing, frozenset):
        parts.sort()
    return framed(type(thing).__name__, b"".join(parts))


def framed(kind: str, data: bytes) -> bytes:
    """Return data with its kind and its length before it."""
    return b"%s %d " % (kind.encode(), len(data)) + data


def digest() -> Any:
    """Return what bytes are added to."""
    return blake2b(digest_size=16, person=b"asyncwait code 2")
