"""What is in flight on a stream, read and moved outside of it."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from carried import KINDS
from click.testing import CliRunner
from streams import SLOW, Stream, feed, two_lanes

from asyncwait.backends.pool import open_operator
from asyncwait.backends.spark import Carry, EmbeddedSpark, unordered_wait
from asyncwait.backends.spark.carry._commands import _print as print_checkpoint
from asyncwait.backends.spark.carry._commands import snapshot as command
from asyncwait.backends.spark.carry._reading import (
    CheckpointRead,
    CheckpointUnreadable,
    column_names,
    lanes_of,
)
from asyncwait.backends.spark.carry._records import OutcomeCodec, RowCodec, key_bytes
from asyncwait.backends.spark.carry._restoring import restored
from asyncwait.backends.spark.frame._columns import columns_text
from asyncwait.backends.spark.frame._journal import ENCODER
from asyncwait.spec import Barrier, InvalidConfig, OperatorConfig, Record, Snapshot
from asyncwait.spec.carry import Finished, Identity, InFlight, LaneState, encode_lane
from asyncwait.spec.snapshots import decode_snapshot, encode_snapshot

IDS, NEW = range(8), range(10, 14)


def row(number: int) -> dict[str, Any]:
    return {"id": number, "name": f"n{number}"}


def said(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(command, [*map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


async def on_pool(values: list[Any], restore: Snapshot | None = None) -> list[Any]:
    async def fn(value: Any) -> list[Any]:
        if value["id"] in SLOW and restore is None:
            await asyncio.sleep(3_600)
        return [(value["id"], value["name"], 2 * value["id"])]

    async def elements() -> Any:
        for value in values:
            yield Record(value)
        if values:
            yield Barrier(1)

    config = OperatorConfig("unordered", 100)
    found = []
    async with open_operator(config, fn, elements(), restore) as results:
        async for each in results:
            if isinstance(each, Snapshot):
                return [*found, each]
            found.append(each.value)
    return found


@pytest.fixture(scope="module")
def moved() -> tuple[list[Any], Snapshot]:
    """Return what has come out of the pool, and its snapshot."""
    *done, held = asyncio.run(on_pool([row(each) for each in IDS]))
    assert len(done) + len(held.in_flight) == len(IDS)
    return done, held


@pytest.fixture(scope="module")
def stopped(
    moved: tuple[list[Any], Snapshot],
    spark: EmbeddedSpark,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stream]:
    """Yield a stopped stream that began with the snapshot, and has the slow rows in flight."""
    _, held = moved
    home = tmp_path_factory.mktemp("stopped")
    (home / "file").write_bytes(encode_snapshot(held))
    with two_lanes(spark):
        stream = Stream(spark, home / "stream", str(home / "file"))
        feed(stream.source, 0, NEW)
        stream.run_until(len(held.in_flight) - len(SLOW) + len(NEW))
        yield stream


@pytest.mark.timeout(700)
def test_what_is_in_flight_goes_on_in_a_stream_and_in_the_pool_again(
    moved: tuple[list[Any], Snapshot], stopped: Stream, tmp_path: Path
) -> None:
    done, held = moved
    *lanes, total = map(json.loads, said("show", stopped.kept, "--json").splitlines())
    file = tmp_path / "snapshot"
    told = said("export", stopped.kept, file)

    shown = [each["value"] for lane in lanes for each in lane["records"]]
    assert sorted(each["id"] for each in shown) == sorted(SLOW)
    assert {tuple(each) for each in shown} == {("id", "name")}
    assert (total["in_flight"], total["finished"], total["begun"]) == (len(SLOW), 0, None)
    assert total["batch"] == stopped.committed()
    assert f"2 in flight after micro-batch {total['batch']}; 0 of them were finished" in told
    assert "2 in flight, 0 finished" in said("show", stopped.kept)
    taken = asyncio.run(on_pool([], decode_snapshot(file.read_bytes())))
    expected = [(each, f"n{each}", 2 * each) for each in (*IDS, *NEW)]
    assert sorted([*done, *stopped.found(), *taken]) == expected
    begun = {each.value["id"] for each in held.in_flight if isinstance(each, Record)}
    assert stopped.calls() == [*sorted(begun), *NEW]


def broken(stopped: Stream, folder: Path, how: str) -> Path:
    path = folder / how.replace(" ", "-")  # Spark reads no state at a path with spaces.
    if how == "nowhere":
        return path
    shutil.copytree(stopped.kept, path)
    if how == "torn":
        for each in (path / "state").rglob("*.zip"):
            each.unlink()
    if how == "begun":
        latest = path / "offsets" / str(stopped.begun())
        shutil.copy(latest, latest.with_name(str(stopped.begun() + 1)))
        latest.with_name("\u00b2").touch()  # a digit, and no number
    return path


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("how", "options", "says"),
    [
        ("nowhere", (), "expected the checkpoint of a stream"),
        ("torn", (), "can't be read"),
        ("begun", (), "has begun and is not committed: start the stream again and stop it"),
        ("other batch", ("--batch", 10_000), "has micro-batches up to"),
        ("other operator", ("--operator", 1), r"those that carry calls are \[0\]"),
    ],
)
def test_what_cannot_be_moved_is_told_in_a_line(
    stopped: Stream, tmp_path: Path, how: str, options: tuple[Any, ...], says: str
) -> None:
    path, file = broken(stopped, tmp_path, how), tmp_path / "file"
    before = sorted(path.rglob("*"))
    told = said("export", path, file, *options, code=2)

    assert re.match(f"error: .*{says}", told)
    assert told.count("\n") == 1
    assert not file.exists()
    assert sorted(path.rglob("*")) == before


def held(value: Any, place: int, **more: Any) -> InFlight:
    return InFlight(Identity(b"", place, 0), ENCODER.encode(value), **more)


def state(columns: pa.Schema, found: LaneState, version: bytes = b"\x01") -> bytes:
    words = f"{columns_text(columns, nulls=False)} -> told string"
    return ENCODER.encode((words, version + encode_lane(found)[1:]))


def taken(*states: bytes) -> Snapshot:
    lanes = lanes_of("here", enumerate(states))
    return decode_snapshot(encode_snapshot(CheckpointRead("here", 0, 7, None, lanes).snapshot()))


@pytest.mark.parametrize(("kind", "value"), KINDS, ids=lambda given: str(given)[:20])
def test_a_value_of_each_type_goes_there_and_back(
    kind: pa.DataType, value: Any, tmp_path: Path
) -> None:
    for names in (["a"], ["a", "b, `c` -> d"]):
        schema = pa.schema([pa.field(name, kind) for name in names])
        rows = pa.RecordBatch.from_arrays(
            [pa.array([value, None], kind) for _ in names], schema=schema
        )
        records = [InFlight(Identity(b"", 1, 0), each) for each in RowCodec(schema).encode(rows)]
        file = tmp_path / "file"
        file.write_bytes(encode_snapshot(taken(state(schema, LaneState(1, tuple(records))))))

        assert restored(str(file), schema).equals(rows)


PAIR = pa.schema([pa.field("id", pa.int32()), pa.field("at", pa.timestamp("us", tz="UTC"))])


def test_a_snapshot_has_the_records_of_all_lanes_by_their_micro_batches() -> None:
    results = OutcomeCodec.encode(ENCODER.encode((1, None)), [("x",), (None,)])
    done = Finished(Identity(b"", 1, 0), results, key_bytes((1,)))
    one = LaneState(5, (held((2, None), 1, key=key_bytes((1,))), held((3, None), 3)), (done,))
    other = LaneState(5, (held((4, None), 2, key=key_bytes(("a", 0.0))),))
    found = taken(state(PAIR, one), state(PAIR, other))

    assert found.checkpoint_id == 7
    assert [
        (each.value["id"], each.key) for each in found.in_flight if isinstance(each, Record)
    ] == [
        (1, 1),
        (2, 1),
        (4, ["a", 0.0]),
        (3, None),
    ]
    (lane,) = lanes_of("here", [(0, state(PAIR, one))])
    assert [each.results for each in lane.finished] == [[{"told": "x"}, {"told": None}]]


def test_the_records_of_a_lane_keep_their_order() -> None:
    one = LaneState(9, (held((1, None), 9), held((2, None), 4)))
    other = LaneState(9, (held((3, None), 5), held((4, None), 6)))
    found = taken(state(PAIR, one), state(PAIR, other)).in_flight

    assert [each.value["id"] for each in found if isinstance(each, Record)] == [3, 4, 1, 2]


def test_json_says_which_numbers_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    columns = pa.schema([pa.field("low", pa.float64()), pa.field("list", pa.list_(pa.float64()))])
    rows = [(nan, [inf, 1.5]), (-inf, None)]
    lanes = lanes_of("here", [(0, state(columns, LaneState(1, tuple(held(r, 1) for r in rows))))])
    found = CheckpointRead("/x", 0, 7, None, lanes)
    print_checkpoint(found, is_json=True)
    lane, total = map(json.loads, capsys.readouterr().out.splitlines())
    print_checkpoint(found, is_json=False)

    values = [{"low": "NaN", "list": ["Infinity", 1.5]}, {"low": "-Infinity", "list": None}]
    assert [each["value"] for each in lane["records"]] == values
    assert total["path"] == "/x"
    assert 'in flight: {"low":"NaN","list":["Infinity",1.5]}' in capsys.readouterr().out


def test_the_state_of_another_version_is_refused() -> None:
    for wrong in (state(PAIR, LaneState(1), b"\x02"), b"x", state(PAIR, LaneState(1))[:-1]):
        with pytest.raises(CheckpointUnreadable, match=r"^'here' can't be read: "):
            lanes_of("here", [(0, wrong)])


def test_columns_are_named_whatever_their_types_are() -> None:
    inner = pa.struct([pa.field("x -> y, z", pa.int64()), pa.field("w", pa.decimal128(9, 2))])
    rows = pa.schema([pa.field("a`, b", pa.map_(pa.string(), inner)), pa.field("\u00e4", inner)])
    words = f"{columns_text(rows, nulls=False)} -> {columns_text(PAIR, nulls=True)}"

    assert column_names(words) == (["a`, b", "\u00e4"], ["id", "at"])


STRUCT = pa.schema([pa.field("s", pa.struct([pa.field("x", pa.int64())]))])
FLAGS = pa.schema([pa.field("id", pa.int32(), nullable=False), pa.field("low", pa.float32())])
AT = "2026-01-01T00:00:00"
REQUIRED = pa.field("x", pa.int64(), nullable=False)
BERLIN = pa.timestamp("us", tz="Europe/Berlin")
NEW_YORK = pa.timestamp("us", tz="America/New_York")


def one(kind: pa.DataType, name: str = "a") -> pa.Schema:
    return pa.schema([pa.field(name, kind)])


@pytest.mark.parametrize(
    ("columns", "value", "says"),
    [
        (PAIR, {"id": 1}, "record 0 of .* a value for each of id, at"),
        (PAIR, {"id": 1, "at": None, "more": 1}, "record 0 of .* a value for each of id, at"),
        (PAIR, 1, "record 0 of .* a value for each of id, at"),
        (PAIR, {"id": "1", "at": None}, "column id of record 0 of .* is '1', and "),
        (PAIR, {"id": 2**31, "at": None}, "column id of record 0 of .* is 2147483648, and "),
        (PAIR, {"id": 1, "at": AT}, "column at of record 0 .* a timestamp"),
        (STRUCT, {"x": 1, "y": 2}, "column s of record 0 .* it would become"),
        (FLAGS, {"id": None, "low": None}, "column id of record 0 .* it would become None"),
        (FLAGS, {"id": 1, "low": 0.1}, "column low of record 0 .* it would become 0.1000"),
        (PAIR, {"id": 1, "at": f"{AT}.1234567Z"}, "column at of record 0 .* it would become"),
        (one(pa.duration("us")), "PT1.0000001S", "column a of record 0 .* it would become"),
        (one(pa.list_(REQUIRED)), [None], "column a of record 0 .* it would become"),
        (one(pa.struct([REQUIRED])), {"x": None}, "column a of record 0 .* it would become"),
        (one(NEW_YORK), "0001-01-01T00:00:00Z", "column a of record 0 of .*, and "),
        (one(pa.int64(), "a\nb"), "1", r"column a\\nb of record 0 of .* is '1', and "),
    ],
)
def test_a_record_that_does_not_fit_is_refused_by_name(
    columns: pa.Schema, value: Any, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_bytes(encode_snapshot(Snapshot(1, (Record(value),))))

    with pytest.raises(InvalidConfig, match=f"^restore: {says}"):
        restored(str(file), columns)


@pytest.mark.parametrize("hour", [0, 1])
def test_an_instant_is_restored_in_a_zone_that_has_its_hour_twice(
    hour: int, tmp_path: Path
) -> None:
    text, instant = f"2026-10-25T0{hour}:30:00Z", datetime(2026, 10, 25, hour, 30, tzinfo=UTC)
    kinds = (BERLIN, pa.list_(BERLIN), pa.map_(BERLIN, pa.int64()))
    columns = pa.schema([pa.field(f"c{place}", kind) for place, kind in enumerate(kinds)])
    values: tuple[Any, ...] = (text, [text], [[text, 1]])
    expected: tuple[Any, ...] = (instant, [instant], [(instant, 1)])
    file = tmp_path / "file"
    record = Record(dict(zip(columns.names, values, strict=True)))
    file.write_bytes(encode_snapshot(Snapshot(1, (record,))))

    found = restored(str(file), columns)
    for column, kind, each in zip(found.columns, kinds, expected, strict=True):
        assert column.equals(pa.array([each], kind))


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_path_that_no_file_has_is_told(path: str) -> None:
    with pytest.raises(InvalidConfig, match=r"^restore '.*' can't be read: "):
        restored(path, PAIR)


def test_a_stream_that_has_a_column_lane_is_restored(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    async def fn(row: Any) -> dict[str, int]:
        return {"twice": 2 * row.id}

    file, source = tmp_path / "file", tmp_path / "in"
    source.mkdir()
    file.write_bytes(encode_snapshot(Snapshot(1, (Record({"id": 1, "lane": 7}),))))
    rows = streams.session.readStream.schema("id long, lane long").json(str(source))
    out = unordered_wait(rows, fn, "twice long", carry=Carry(restore=str(file)))

    assert out.columns == ["id", "lane", "twice"]


def test_no_query_starts_with_what_cannot_be_restored(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    async def fn(row: Any) -> dict[str, int]:
        return {"twice": row.id}

    rows, file = streams.session.readStream.schema("id long").json(str(tmp_path)), tmp_path / "file"
    whole = encode_snapshot(Snapshot(1, (Record({"id": 1}),)))
    chain = encode_snapshot(Snapshot(1, (), None, Snapshot(1)))
    for data, says in (
        (None, "can't be read: "),
        (whole[:-1], "can't be read: expected"),
        (chain, "must be the snapshot of one operator"),
        (whole, "column id of record 0"),
    ):
        if data is not None:
            file.write_bytes(data)
        with pytest.raises(InvalidConfig, match=f"^restore.*{says}"):
            unordered_wait(rows, fn, "twice long", carry=Carry(restore=str(file)))
