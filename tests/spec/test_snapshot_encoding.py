"""Snapshots as bytes come back equal, or are refused with an error that says why."""

import json
import math
import pickle
import struct
import zlib
from enum import IntEnum
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from asyncwait.spec import Barrier, InvalidConfig, Record, Snapshot, Watermark, WatermarkStatus
from asyncwait.spec.snapshots import (
    NotPortable,
    SnapshotCorrupt,
    SnapshotVersionUnsupported,
    decode_snapshot,
    encode_snapshot,
)

HEADER = 14

WHOLE = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
STORED = st.one_of(
    st.builds(Record, JSON, st.none() | WHOLE, JSON),
    st.builds(Watermark, WHOLE),
    st.builds(WatermarkStatus, st.booleans()),
)
UPSTREAM: st.SearchStrategy[Snapshot] = st.deferred(lambda: SNAPSHOTS)
SNAPSHOTS: st.SearchStrategy[Snapshot] = st.builds(
    Snapshot,
    WHOLE,
    st.lists(STORED, max_size=4).map(tuple),
    st.none() | st.integers(0, 2**63 - 1),
    st.none() | UPSTREAM,
)

SAMPLE = Snapshot(
    7,
    (Record({"k": [1, "x", None]}, 12, "key"), Watermark(12), WatermarkStatus(True), Record(2.5)),
    read=9,
    upstream=Snapshot(7, (Record("a"),)),
)


@given(SNAPSHOTS)
def test_a_snapshot_comes_back_equal(snapshot: Snapshot) -> None:
    back = decode_snapshot(encode_snapshot(snapshot))

    assert back == snapshot
    assert repr(back) == repr(snapshot)


def test_a_snapshot_of_another_length_is_corrupt() -> None:
    data = encode_snapshot(SAMPLE) + b"\0"

    for size in (*range(len(data) - 1), len(data)):
        with pytest.raises(SnapshotCorrupt, match=rf"got {size - HEADER * (size >= HEADER)}\b"):
            decode_snapshot(data[:size])


def test_any_flipped_bit_is_noticed() -> None:
    data = encode_snapshot(SAMPLE)

    for bit in range(8 * len(data)):
        altered = bytearray(data)
        altered[bit // 8] ^= 1 << bit % 8
        version = 4 <= bit // 8 < 6 and bytes(altered[4:6]) != b"\0\0"
        with pytest.raises(SnapshotVersionUnsupported if version else SnapshotCorrupt):
            decode_snapshot(bytes(altered))


def framed(payload: bytes, version: int = 1, magic: bytes = b"AWSN") -> bytes:
    return struct.pack(">4sHII", magic, version, len(payload), zlib.crc32(payload)) + payload


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (framed(b"", magic=b"PK\3\4"), r"b'AWSN', got b'PK\\x03\\x04'"),
        (framed(b"", version=0), "from 1, got 0"),
        (framed(b"").replace(b"\0\0\0\0", b"\0\0\0\1"), "expected 1 bytes .* got 0"),
        (framed(b"payload")[:-1] + b"!", "checksum"),
        (framed(b""), "^the payload "),
    ],
)
def test_what_is_no_snapshot_says_why(data: bytes, told: str) -> None:
    with pytest.raises(SnapshotCorrupt, match=told):
        decode_snapshot(data)


@pytest.mark.parametrize(
    "payload",
    [
        [1, [], None],
        [1, [], None, None, None],
        ["1", [], None, None],
        [1, [["x", 1]], None, None],
        [1, [["r", b"1", None, b"{"]], None, None],
        [1, [["r", b"\xff\xff", None, b"1"]], None, None],
        [1, [["r", b"[" * 10**6, None, b"1"]], None, None],
        [1, [["r", b"1", 2**64 - 1, b"1"]], None, None],
        [1, [["w", 2**64 - 1]], None, None],
        [2**64 - 1, [], None, None],
    ],
)
def test_a_payload_of_another_shape_is_corrupt(payload: list[Any]) -> None:
    with pytest.raises(SnapshotCorrupt, match=r"^the payload can't be read: ") as caught:
        decode_snapshot(framed(msgspec.msgpack.encode(payload)))

    assert str(caught.value).endswith(str(caught.value.__cause__))


@given(st.binary(max_size=40).map(framed) | st.binary(max_size=40))
def test_arbitrary_bytes_are_corrupt(data: bytes) -> None:
    with pytest.raises(SnapshotCorrupt):
        decode_snapshot(data)


@pytest.mark.parametrize(
    ("act", "given"),
    [(decode_snapshot, "AWSN"), (encode_snapshot, Barrier(1))],
    ids=["text", "barrier"],
)
def test_another_kind_of_argument_is_refused(act: Any, given: Any) -> None:
    with pytest.raises(InvalidConfig, match=f"got .* [(]{type(given).__name__}[)]$"):
        act(given)


class Colour(IntEnum):
    RED = 1


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
EMPTY = Snapshot(1)
HUGE = 2**63


@pytest.mark.parametrize(
    ("wrong", "named", "told"),
    [
        (Record((1, 2), 5), "Record (1, 2) @ 5", "value is (1, 2) (tuple)"),
        (Record([1, {"k": (2,)}]), "Record ", "value[1]['k'] is (2,) (tuple)"),
        (Record([[0], [Colour.RED]]), "Record ", "value[1][0] is <Colour.RED: 1> (Colour)"),
        (Record({1: "x"}), "Record ", "value has keys [1] but came back with ['1']"),
        (Record({"k": {None: 0}}), "Record ", "value['k'] has keys [None]"),
        (Record(b"x"), "Record b'x'", "value is not portable: "),
        (Record(math.nan), "Record nan", "value is not portable: "),
        (Record([-math.inf]), "Record [-inf]", "value is not portable: "),
        (Record("v", None, ("a", 1)), "Record 'v' (key ('a', 1))", "key is ('a', 1) (tuple)"),
        (Record(CIRCLE), "Record [[...]]", "value is not portable: "),
        (Record(nested(100_000)), "Record ", "value is not portable: "),
        (Record("a", HUGE), f"Record 'a' @ {HUGE}", f"timestamp is {HUGE}"),
        (Record("a", 1.5), "Record 'a' @ 1.5", "timestamp is 1.5 (float)"),  # type: ignore[arg-type]
        (Record("a", True), "Record 'a' @ True", "timestamp is True (bool)"),
        (Watermark("5"), "Watermark(timestamp='5')", "timestamp is '5' (str)"),  # type: ignore[arg-type]
        (WatermarkStatus(1), "WatermarkStatus(idle=1)", "idle is 1"),  # type: ignore[arg-type]
        (Barrier(3), "Barrier(checkpoint_id=3)", "can't be in a snapshot"),
        (replace(EMPTY, checkpoint_id="1"), "Snapshot '1'", "checkpoint_id is '1' (str)"),
        (replace(EMPTY, read=2 * HUGE), "Snapshot 1", f"read is {2 * HUGE} (int)"),
    ],
)
def test_what_would_not_come_back_is_refused(wrong: Any, named: str, told: str) -> None:
    snapshot = wrong if isinstance(wrong, Snapshot) else Snapshot(1, (Record("fine"), wrong))
    with pytest.raises(NotPortable) as caught:
        encode_snapshot(snapshot)

    assert str(caught.value).startswith(named)
    assert told in str(caught.value)


class TupleCodec:
    def encode(self, value: Any) -> bytes:
        if value == "unknown":
            raise KeyError(value)
        return json.dumps(["t", *value] if isinstance(value, tuple) else value).encode()

    def decode(self, data: bytes) -> Any:
        value = json.loads(data)
        return tuple(value[1:]) if isinstance(value, list) else value


def test_another_codec_carries_what_json_cannot() -> None:
    snapshot = Snapshot(1, (Record((1, 2), None, ("k",)),))

    data = encode_snapshot(snapshot, TupleCodec())

    assert decode_snapshot(data, TupleCodec()) == snapshot


def test_any_error_of_a_codec_makes_the_value_not_portable() -> None:
    with pytest.raises(NotPortable, match="Record 'unknown': value is not portable: "):
        encode_snapshot(Snapshot(1, (Record("unknown"),)), TupleCodec())


@pytest.mark.parametrize("depth", [3_000, 300_000])
def test_snapshots_in_snapshots_without_end_are_corrupt(depth: int) -> None:
    payload = b"\x94\x01\x90\xc0" * depth + b"\xc0"
    head = struct.pack(">4sHII", b"AWSN", 1, len(payload), zlib.crc32(payload))

    with pytest.raises(SnapshotCorrupt, match="the payload can't be read"):
        decode_snapshot(head + payload)


def test_decoding_executes_nothing() -> None:
    hostile = pickle.dumps(print).decode("latin-1")
    snapshot = Snapshot(1, (Record(hostile),))

    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot
