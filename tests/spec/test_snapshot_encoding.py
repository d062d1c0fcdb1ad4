"""Snapshots as bytes come back equal, or are refused with an error that says why."""

import json
import math
import pickle
import re
import struct
import sys
import zlib
from ast import literal_eval
from enum import IntEnum
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asyncwait.spec import (
    Barrier,
    InvalidConfig,
    Record,
    Snapshot,
    Stored,
    Watermark,
    WatermarkStatus,
)
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
    """Elements, their order and multiplicity, `read` and the whole chain survive."""
    back = decode_snapshot(encode_snapshot(snapshot))

    assert back == snapshot
    assert repr(back) == repr(snapshot)


def test_equal_snapshots_are_equal_bytes() -> None:
    """What is compared or addressed by content can be."""
    assert encode_snapshot(SAMPLE) == encode_snapshot(decode_snapshot(encode_snapshot(SAMPLE)))


def test_other_kinds_of_bytes_are_read_too() -> None:
    """A snapshot may come from a buffer."""
    data = encode_snapshot(SAMPLE)

    assert decode_snapshot(bytearray(data)) == SAMPLE  # type: ignore[arg-type]
    assert decode_snapshot(memoryview(data)) == SAMPLE  # type: ignore[arg-type]
    apart = memoryview(bytes(byte for each in data for byte in (each, 0)))[::2]
    assert decode_snapshot(apart) == SAMPLE  # type: ignore[arg-type]


def test_a_snapshot_cut_short_anywhere_is_corrupt() -> None:
    """No number of missing bytes goes unnoticed."""
    data = encode_snapshot(SAMPLE)

    for size in range(len(data)):
        with pytest.raises(SnapshotCorrupt) as caught:
            decode_snapshot(data[:size])
        assert str(caught.value) == (
            f"a snapshot has at least {HEADER} bytes, got {size}; was it cut short?"
            if size < HEADER
            else f"expected {len(data) - HEADER} bytes of payload, got {size - HEADER}"
        )


def test_a_snapshot_with_something_behind_it_is_corrupt() -> None:
    """Two snapshots glued together are no snapshot."""
    data = encode_snapshot(SAMPLE)
    payload = len(data) - HEADER

    with pytest.raises(SnapshotCorrupt) as caught:
        decode_snapshot(data + b"\0")

    assert str(caught.value) == f"expected {payload} bytes of payload, got {payload + 1}"


def test_any_flipped_bit_is_noticed() -> None:
    """An altered version reads as another version; everything else is corrupt."""
    data = encode_snapshot(SAMPLE)

    for bit in range(8 * len(data)):
        altered = bytearray(data)
        altered[bit // 8] ^= 1 << bit % 8
        version = 4 <= bit // 8 < 6 and bytes(altered[4:6]) != b"\0\0"
        with pytest.raises(SnapshotVersionUnsupported if version else SnapshotCorrupt):
            decode_snapshot(bytes(altered))


def framed(payload: bytes, version: int = 1, magic: bytes = b"AWSN") -> bytes:
    """Put a sound header in front of `payload`."""
    return struct.pack(">4sHII", magic, version, len(payload), zlib.crc32(payload)) + payload


def test_a_newer_format_is_told_from_a_corrupt_one() -> None:
    """The remedy is another one."""
    with pytest.raises(SnapshotVersionUnsupported) as caught:
        decode_snapshot(framed(b"whatever comes then", version=2))

    assert str(caught.value) == "snapshot format 2 is newer than 1; update asyncwait to read it"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a snapshot has at least 14 bytes, got 0; was it cut short?"),
        (framed(b"", magic=b"PK\3\4"), r"a snapshot begins with b'AWSN', got b'PK\x03\x04'"),
        (framed(b"", version=0), "snapshot formats are numbered from 1, got 0"),
        (framed(b"").replace(b"\0\0\0\0", b"\0\0\0\1"), "expected 1 bytes of payload, got 0"),
        (framed(b"payload")[:-1] + b"!", "the checksum does not match: the snapshot was altered"),
        (framed(b""), "the payload can't be read: Input data was truncated"),
    ],
)
def test_what_is_no_snapshot_says_why(data: bytes, message: str) -> None:
    """One clear sentence for each way to be wrong."""
    with pytest.raises(SnapshotCorrupt) as caught:
        decode_snapshot(data)

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ([1, [], None], "Expected `array` of at least length 4, got 3"),
        ([1, [], None, None, None], "Expected `array` of at most length 4, got 5"),
        (["1", [], None, None], "Expected `int`, got `str` - at `$[0]`"),
        ([1, [["x", 1]], None, None], "Invalid value 'x' - at `$[1][0][0]`"),
        ([1, [["r", b"1", None, b"{"]], None, None], "Expecting property name enclosed in double"),
        ([1, [["r", b"\xff\xff", None, b"1"]], None, None], "'utf-"),
        ([1, [["r", b"[" * 10**6, None, b"1"]], None, None], "maximum recursion depth exceeded"),
    ],
)
def test_a_payload_of_another_shape_is_corrupt(payload: list[Any], message: str) -> None:
    """A sound checksum is no proof that a snapshot is behind it."""
    with pytest.raises(SnapshotCorrupt) as caught:
        decode_snapshot(framed(msgspec.msgpack.encode(payload)))

    assert str(caught.value).startswith(f"the payload can't be read: {message}")


@given(st.binary(max_size=40).map(framed) | st.binary(max_size=40))
def test_arbitrary_bytes_are_corrupt(data: bytes) -> None:
    """Whatever is read, no other error comes out."""
    with pytest.raises(SnapshotCorrupt):
        decode_snapshot(data)


def test_what_is_not_bytes_is_a_wrong_argument() -> None:
    """Text read from a file is a likely mistake."""
    with pytest.raises(InvalidConfig) as caught:
        decode_snapshot("AWSN")  # type: ignore[arg-type]

    assert str(caught.value) == "data must be the bytes of a snapshot, got 'AWSN' (str)"


def test_what_is_no_snapshot_cannot_be_encoded() -> None:
    """A barrier has nothing in it."""
    with pytest.raises(InvalidConfig) as caught:
        encode_snapshot(Barrier(1))  # type: ignore[arg-type]

    assert str(caught.value) == (
        "snapshot must be a Snapshot, got Barrier(checkpoint_id=1) (Barrier)"
    )


class Colour(IntEnum):
    """Encodes as its number."""

    RED = 1


GIVE = "; give a codec that can carry it"
AFTER = f" after encoding and decoding{GIVE}"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ((1, 2), f"value is (1, 2) (tuple) but came back as [1, 2]{AFTER}"),
        ([1, {"k": (2,)}], f"value[1]['k'] is (2,) (tuple) but came back as [2]{AFTER}"),
        ([[0], [Colour.RED]], f"value[1][0] is <Colour.RED: 1> (Colour) but came back as 1{AFTER}"),
        ({1: "x"}, f"value has keys [1] but came back with ['1']{AFTER}"),
        ({"k": {None: 0}}, f"value['k'] has keys [None] but came back with ['null']{AFTER}"),
        (b"x", f"value is not portable: Object of type bytes is not JSON serializable{GIVE}"),
    ],
)
def test_a_value_that_does_not_come_back_is_refused(value: Any, problem: str) -> None:
    """The error names the record and the path to the spot."""
    with pytest.raises(NotPortable) as caught:
        encode_snapshot(Snapshot(1, (Record("fine"), Record(value, 5))))

    assert str(caught.value) == f"Record {value!r} @ 5: {problem}"


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf]])
def test_a_float_that_json_does_not_know_is_refused(value: Any) -> None:
    """NaN is not equal to itself, and readers in other languages know no infinity."""
    message = f"Record {value!r}: value is not portable: Out of range float"
    with pytest.raises(NotPortable, match=re.escape(message)):
        encode_snapshot(Snapshot(1, (Record(value),)))


def test_a_key_that_does_not_come_back_is_refused() -> None:
    """Keys go the same way as values."""
    with pytest.raises(NotPortable) as caught:
        encode_snapshot(Snapshot(1, (Record("v", None, ("a", 1)),)))

    assert str(caught.value) == (
        "Record 'v' (key ('a', 1)): key is ('a', 1) (tuple) but came back as ['a', 1]" + AFTER
    )


def nested(depth: int) -> list[Any]:
    """Return a list in a list in a list."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [100, 10_000, 100_000])
def test_a_value_nested_too_deeply_is_refused(depth: int) -> None:
    """It comes back, or is refused: the recursion limit never shows as such."""
    snapshot = Snapshot(1, (Record(nested(depth), 5),))
    message = "^Record .*: value is not portable: maximum recursion depth exceeded"
    if depth < sys.getrecursionlimit() / 3:
        data = encode_snapshot(snapshot)
        assert encode_snapshot(decode_snapshot(data)) == data
    else:
        with pytest.raises(NotPortable, match=message):
            encode_snapshot(snapshot)


def test_a_value_that_holds_itself_is_refused() -> None:
    """A circle has no end to encode."""
    value: list[Any] = []
    value.append(value)

    with pytest.raises(NotPortable) as caught:
        encode_snapshot(Snapshot(1, (Record(value),)))

    assert str(caught.value) == (
        f"Record [[...]]: value is not portable: Circular reference detected{GIVE}"
    )


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (Record("a", 2**63), "Record 'a' @ 9223372036854775808: timestamp is 9223372036854775808"),
        (Record("a", 1.5), "Record 'a' @ 1.5: timestamp is 1.5 (float), expected an int"),  # type: ignore[arg-type]
        (Record("a", True), "Record 'a' @ True: timestamp is True (bool), expected an int"),
        (Watermark("5"), "Watermark(timestamp='5'): timestamp is '5' (str), expected an int"),  # type: ignore[arg-type]
        (WatermarkStatus(1), "WatermarkStatus(idle=1): idle is 1, expected True or False"),  # type: ignore[arg-type]
        (Barrier(3), "Barrier(checkpoint_id=3) can't be in a snapshot, only records and fences"),
    ],
)
def test_an_element_made_wrongly_is_refused(element: Stored, message: str) -> None:
    """It is told when it is written, not when somebody wants to read it."""
    with pytest.raises(NotPortable) as caught:
        encode_snapshot(Snapshot(1, (element,)))

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("snapshot", "message"),
    [
        (Snapshot("1"), "Snapshot '1': checkpoint_id is '1' (str), expected an int of 64 bits"),  # type: ignore[arg-type]
        (Snapshot(1, (), 2**64), f"Snapshot 1: read is {2**64} (int), expected an int of 64 bits"),
    ],
)
def test_a_snapshot_made_wrongly_is_refused(snapshot: Snapshot, message: str) -> None:
    """Its own numbers are checked as well."""
    with pytest.raises(NotPortable) as caught:
        encode_snapshot(snapshot)

    assert str(caught.value) == message


class TupleCodec:
    """Carries tuples, and breaks in its own ways."""

    def encode(self, value: Any) -> bytes:
        """Return the text of a tuple as JSON."""
        if value == "unknown":
            raise KeyError(value)
        return json.dumps(["t", *value] if isinstance(value, tuple) else value).encode()

    def decode(self, data: bytes) -> Any:
        """Return the tuple back."""
        value = json.loads(data)
        return tuple(value[1:]) if isinstance(value, list) else value


def test_another_codec_carries_what_json_cannot() -> None:
    """Values and keys go through it."""
    snapshot = Snapshot(1, (Record((1, 2), None, ("k",)),))

    data = encode_snapshot(snapshot, TupleCodec())

    assert decode_snapshot(data, TupleCodec()) == snapshot


def test_any_error_of_a_codec_makes_the_value_not_portable() -> None:
    """A codec raises what it likes."""
    with pytest.raises(NotPortable, match="Record 'unknown': value is not portable: 'unknown'"):
        encode_snapshot(Snapshot(1, (Record("unknown"),)), TupleCodec())


def test_values_are_read_with_the_codec_that_wrote_them() -> None:
    """Another one says that it can't, as for any payload that can't be read."""
    data = encode_snapshot(Snapshot(1, (Record("a"),)), ReversedCodec())

    with pytest.raises(SnapshotCorrupt, match="the payload can't be read"):
        decode_snapshot(data)


class ReversedCodec:
    """Writes what JSON can't read."""

    def encode(self, value: str) -> bytes:
        """Return the text backwards."""
        return repr(value)[::-1].encode()

    def decode(self, data: bytes) -> Any:
        """Return it forwards."""
        return literal_eval(data.decode()[::-1])


def test_decoding_executes_nothing() -> None:
    """A value that spells a pickle is a value that spells a pickle."""
    hostile = pickle.dumps(print).decode("latin-1")
    snapshot = Snapshot(1, (Record(hostile),))

    assert decode_snapshot(encode_snapshot(snapshot)) == snapshot
