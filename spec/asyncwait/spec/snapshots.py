"""Snapshots as bytes: portable between backends, and checked when they are read.

Layout: magic (4), version (2), payload length (4), CRC-32 of the payload (4), payload. The payload
is MessagePack; the codec encodes each value and key in it as bytes. Decoding executes no code.
"""

import json
import struct
import zlib
from collections import deque
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import Meta, Struct

from asyncwait.spec._elements import (
    HIGHEST,
    LOWEST,
    Record,
    Snapshot,
    Stored,
    Watermark,
    WatermarkStatus,
)
from asyncwait.spec._errors import AsyncWaitError, InvalidConfig
from asyncwait.spec.checks import require_whole
from asyncwait.spec.texts import one_line, shown

_MAGIC = b"AWSN"
_VERSION = 1
_HEADER = struct.Struct(">4sHII")


class SnapshotError(AsyncWaitError):
    """A snapshot can't be written or read."""


class NotPortable(SnapshotError, TypeError):
    """The codec does not return a value equal and of the same type."""


class SnapshotCorrupt(SnapshotError, ValueError):
    """The bytes are not a whole, unaltered snapshot."""


class SnapshotVersionUnsupported(SnapshotError, ValueError):
    """The snapshot was written in a format that this version does not know."""


class Codec(Protocol):
    """Conversion of values and keys to bytes and back."""

    def encode(self, value: Any) -> bytes:
        """Return `value` as bytes, or raise."""
        ...

    def decode(self, data: bytes) -> Any:
        """Return the value that `data` encodes, or raise."""
        ...


class JsonCodec:
    """The default codec. It refuses values that JSON can't express, when it writes and reads."""

    def encode(self, value: Any) -> bytes:
        """Return `value` as UTF-8 JSON."""
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()

    def decode(self, data: bytes) -> Any:
        """Return the value of the JSON text `data`."""
        return json.loads(data, parse_float=_finite, parse_constant=_finite)


def _finite(text: str) -> float:
    """Return a number of JSON, which has finite numbers only."""
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{one_line(text)} is no number that JSON has")
    return number


_Int = Annotated[int, Meta(ge=LOWEST, le=HIGHEST)]


class _Record(Struct, frozen=True, tag="r", array_like=True, forbid_unknown_fields=True):
    value: bytes
    timestamp: _Int | None
    key: bytes


class _Watermark(Struct, frozen=True, tag="w", array_like=True, forbid_unknown_fields=True):
    timestamp: _Int


class _Status(Struct, frozen=True, tag="s", array_like=True, forbid_unknown_fields=True):
    idle: bool


class _Snapshot(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    checkpoint_id: _Int
    in_flight: tuple[_Record | _Watermark | _Status, ...]
    read: _Int | None
    upstream: "_Snapshot | None"


def encode_snapshot(snapshot: Snapshot, codec: Codec | None = None) -> bytes:
    """Return `snapshot` as bytes that any backend can restore.

    Args:
        snapshot: snapshot that an operator emitted.
        codec: codec for values and keys; JSON by default.

    Raises:
        InvalidConfig: `snapshot` is not a snapshot.
        NotPortable: the codec does not return a value or key equal and of the same type; the
            message names the record and the path. The operator and its stream are not affected.
    """
    if not isinstance(snapshot, Snapshot):
        raise InvalidConfig.of("snapshot", snapshot, "a Snapshot")
    payload = msgspec.msgpack.encode(_pack(snapshot, codec or JsonCodec()))
    return _HEADER.pack(_MAGIC, _VERSION, len(payload), zlib.crc32(payload)) + payload


def decode_snapshot(data: bytes | bytearray | memoryview, codec: Codec | None = None) -> Snapshot:
    """Return the snapshot that `data` holds.

    Args:
        data: bytes from `encode_snapshot`.
        codec: the codec of the encoder; JSON by default.

    Raises:
        InvalidConfig: `data` is not bytes.
        SnapshotCorrupt: `data` is cut short, altered, or not a snapshot.
        SnapshotVersionUnsupported: `data` was written in a newer format.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InvalidConfig.of("data", data, "the bytes of a snapshot")
    data = data.tobytes() if isinstance(data, memoryview) else data  # its items may lie apart
    if len(data) < _HEADER.size:
        msg = f"a snapshot has at least {_HEADER.size} bytes, got {len(data)}; was it cut short?"
        raise SnapshotCorrupt(msg)
    magic, version, length, checksum = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise SnapshotCorrupt(f"a snapshot begins with {_MAGIC!r}, got {magic!r}")
    if version > _VERSION:
        msg = f"snapshot format {version} is newer than {_VERSION}; update asyncwait to read it"
        raise SnapshotVersionUnsupported(msg)
    if version < 1:
        raise SnapshotCorrupt(f"snapshot formats are numbered from 1, got {version}")
    payload = data[_HEADER.size :]
    if len(payload) != length:
        raise SnapshotCorrupt(f"expected {length} bytes of payload, got {len(payload)}")
    if zlib.crc32(payload) != checksum:
        raise SnapshotCorrupt("the checksum does not match: the snapshot was altered")
    try:
        return _unpack(msgspec.msgpack.decode(payload, type=_Snapshot), codec or JsonCodec())
    except Exception as error:
        raise SnapshotCorrupt(f"the payload can't be read: {error}") from error


def split_snapshot(
    snapshot: Snapshot, parts: int, to: Callable[[Record], int] | None = None
) -> tuple[Snapshot, ...]:
    """Distribute the in-flight elements of `snapshot` to `parts` operators.

    Args:
        snapshot: snapshot of one operator.
        parts: number of operators that continue the stream.
        to: function that returns the part for a record, as a whole number (modulo `parts`), for
            example by its key; round robin by default. Watermarks and statuses go to every part.
            Operators in key-ordered mode need the same part for equal keys.

    Returns:
        The parts, without `read` and `upstream`, which describe the original operator and its
        input.

    Raises:
        InvalidConfig: `parts` is not a whole number >= 1.
    """
    require_whole("parts", parts)
    dealt: tuple[list[Stored], ...] = tuple([] for _ in range(parts))
    turn = 0
    for element in snapshot.in_flight:
        if not isinstance(element, Record):
            for part in dealt:
                part.append(element)
            continue
        dealt[turn % parts if to is None else to(element) % parts].append(element)
        turn += 1
    return tuple(Snapshot(snapshot.checkpoint_id, tuple(part)) for part in dealt)


def merge_snapshots(snapshots: Iterable[Snapshot]) -> Snapshot:
    """Join the in-flight elements of several operators into one snapshot.

    A watermark of the result is the minimum of all parts; a watermark that some part has not
    reached is left out, because a later watermark replaces it. Statuses are left out: the joined
    operator receives its own. `read` and `upstream`, which describe single operators, are left
    out, too.

    Raises:
        InvalidConfig: `snapshots` is empty, or holds different checkpoints.
    """
    parts = list(snapshots)
    ids = {part.checkpoint_id for part in parts}
    if len(ids) != 1:
        raise InvalidConfig.of("snapshots", sorted(ids), "one or more of a single checkpoint")
    queues = [
        deque(element for element in part.in_flight if not isinstance(element, WatermarkStatus))
        for part in parts
    ]
    merged: list[Stored] = []
    while True:
        for queue in queues:
            while queue and isinstance(queue[0], Record):
                merged.append(queue.popleft())
        if not all(queues):
            break
        lowest = min(q[0].timestamp for q in queues if isinstance(q[0], Watermark))
        merged.append(Watermark(lowest))
        for queue in queues:
            if queue[0] == Watermark(lowest):
                queue.popleft()
    merged += [e for queue in queues for e in queue if isinstance(e, Record)]
    return Snapshot(ids.pop(), tuple(merged))


def _pack(snapshot: Snapshot, codec: Codec) -> _Snapshot:
    name = f"Snapshot {snapshot.checkpoint_id!r}"
    if snapshot.read is not None:
        _require_number(name, "read", snapshot.read)
    _require_number(name, "checkpoint_id", snapshot.checkpoint_id)
    return _Snapshot(
        snapshot.checkpoint_id,
        tuple(_pack_element(element, codec) for element in snapshot.in_flight),
        snapshot.read,
        None if snapshot.upstream is None else _pack(snapshot.upstream, codec),
    )


def _pack_element(element: Any, codec: Codec) -> _Record | _Watermark | _Status:
    """Pack an element of a snapshot, which a user may have built from objects of any type."""
    match element:
        case Record():
            value = _portable(element, "value", element.value, codec)
            key = _portable(element, "key", element.key, codec)
            if element.timestamp is not None:
                _require_number(_name(element), "timestamp", element.timestamp)
            return _Record(value, element.timestamp, key)
        case Watermark():
            _require_number(repr(element), "timestamp", element.timestamp)
            return _Watermark(element.timestamp)
        case WatermarkStatus():
            if not isinstance(element.idle, bool):
                raise NotPortable(
                    f"{element}: idle is {shown(element.idle)}, expected True or False"
                )
            return _Status(element.idle)
        case _:
            raise NotPortable(
                f"{shown(element)} can't be in a snapshot, only records and fences can"
            )


def _unpack(packed: _Snapshot, codec: Codec) -> Snapshot:
    return Snapshot(
        packed.checkpoint_id,
        tuple(_unpack_element(element, codec) for element in packed.in_flight),
        packed.read,
        None if packed.upstream is None else _unpack(packed.upstream, codec),
    )


def _unpack_element(element: _Record | _Watermark | _Status, codec: Codec) -> Stored:
    match element:
        case _Record():
            return Record(codec.decode(element.value), element.timestamp, codec.decode(element.key))
        case _Watermark():
            return Watermark(element.timestamp)
        case _Status():
            return WatermarkStatus(element.idle)


def _require_number(owner: str, name: str, value: Any) -> None:
    if type(value) is not int or not LOWEST <= value <= HIGHEST:
        got = f"{shown(value)} ({type(value).__name__})"
        raise NotPortable(f"{one_line(owner)}: {name} is {got}, expected an int of 64 bits")


def _portable(record: Record, name: str, value: Any, codec: Codec) -> bytes:
    try:
        data = codec.encode(value)
        spot = _difference(name, value, codec.decode(data))
    except Exception as error:
        why = one_line(error)
        msg = f"{_name(record)}: {name} is not portable: {why}; give a codec that can carry it"
        raise NotPortable(msg) from error
    if spot is not None:
        came = f"{one_line(spot, 600)} after encoding and decoding"
        raise NotPortable(f"{record}: {came}; give a codec that can carry it")
    return data


def _name(record: Record) -> str:
    """Name a record even if its value is nested too deeply to be shown."""
    try:
        return str(record)
    except RecursionError:
        return f"Record of {object.__repr__(record.value)}"


def _difference(path: str, value: Any, back: Any) -> str | None:
    """Describe the first difference between `value` and `back`; None if they are the same."""
    if type(value) is not type(back):
        return f"{path} is {shown(value)} ({type(value).__name__}) but came back as {shown(back)}"
    if isinstance(value, dict):
        if [(type(key), key) for key in value] != [(type(key), key) for key in back]:
            return f"{path} has keys {shown(list(value))} but came back with {shown(list(back))}"
        pairs = [(f"{path}[{key!r}]", value[key], back[key]) for key in value]
    elif isinstance(value, list | tuple):
        if len(value) != len(back):
            return f"{path} has {len(value)} items but came back with {len(back)}"
        pairs = [(f"{path}[{i}]", a, b) for i, (a, b) in enumerate(zip(value, back, strict=True))]
    else:
        return None if value == back else f"{path} is {shown(value)} but came back as {shown(back)}"
    return next((spot for pair in pairs if (spot := _difference(*pair)) is not None), None)


__all__ = [
    "Codec",
    "JsonCodec",
    "NotPortable",
    "SnapshotCorrupt",
    "SnapshotError",
    "SnapshotVersionUnsupported",
    "Stored",
    "decode_snapshot",
    "encode_snapshot",
    "merge_snapshots",
    "split_snapshot",
]
