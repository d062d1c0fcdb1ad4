"""Calls that stay in flight from one micro-batch to the next, on a real stream."""

import asyncio
import re
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame
from pyspark.sql.functions import window
from streams import PROVIDER, SLOW, Started, Stream, feed, until

from asyncwait.backends.spark import (
    Carry,
    EmbeddedSpark,
    Share,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry
from asyncwait.spec.limits import Limit


def calls(notes: Path) -> list[int]:
    return [int(line) for line in notes.read_text().split()] if notes.exists() else []


def slow_until(goes: Path, notes: Path) -> Any:
    """Return a function that notes its calls; that of one row ends when a file is there."""

    async def fn(row: Any) -> dict[str, int]:
        with notes.open("a") as file:
            file.write(f"{row.id}\n")
        while row.id in SLOW and not goes.exists():  # noqa: ASYNC240 - it stands in for a service
            await asyncio.sleep(0.05)
        return {"twice": 2 * row.id}

    return fn


@pytest.mark.timeout(700)
def test_a_slow_call_holds_nobody_up_and_outlives_its_query(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    stream = Stream(streams, tmp_path)
    feed(stream.source, 0, range(6))
    expected = [(each, f"n{each}", 2 * each) for each in range(12)]
    query = stream.start()
    try:
        until(lambda: len(stream.found()) == 4, query)
        assert stream.found() == [each for each in expected[:6] if each[0] not in SLOW]
    finally:
        query.stop()
    feed(stream.source, 1, range(6, 12))
    stream.goes.touch()
    query = stream.start()
    try:
        until(lambda: len(stream.found()) == 12, query)
    finally:
        query.stop()

    assert stream.found() == expected
    assert sorted(calls(stream.notes)) == [*range(12)]


@pytest.mark.timeout(400)
def test_listeners_get_the_figures_of_call_hosts(streams: EmbeddedSpark, tmp_path: Path) -> None:
    goes = tmp_path / "goes"
    slow = slow_until(goes, tmp_path / "calls")

    async def fn(row: Any) -> dict[str, int]:
        return await slow(row) if row.id else {"twice": 1 // 0}

    (tmp_path / "in").mkdir()
    feed(tmp_path / "in", 0, range(4))
    rows = streams.session.readStream.schema("id long").json(str(tmp_path / "in"))
    carry, retry = Carry(name="doubles", pause=0.1, budget=0.1), Retry(max_attempts=2)
    out = unordered_wait(rows, fn, "twice long", carry=carry, on_error="skip", retry=retry)
    query = Started(out.writeStream.format("noop").trigger(processingTime="100 milliseconds"))

    def found(**wanted: float) -> bool:
        told = (each["observedMetrics"].get("asyncwait doubles") for each in query.recentProgress)
        return any({**each.asDict(), **wanted} == each.asDict() for each in told if each)

    try:
        until(lambda: found(in_flight=1, calls=5, retries=1, errors=1), query)
        goes.touch()
        until(lambda: found(in_flight=0, calls=5, oldest=0, waiting_for_permits=0), query)
    finally:
        query.stop()


@pytest.mark.timeout(400)
def test_a_cache_is_that_of_all_micro_batches(streams: EmbeddedSpark, tmp_path: Path) -> None:
    source, notes = tmp_path / "in", tmp_path / "calls"
    source.mkdir()
    rows = streams.session.readStream.schema("id long").json(str(source))
    fn, carry = slow_until(notes, notes), Carry(pause=0.2)
    out = unordered_wait(rows, fn, "twice long", carry=carry, cache=Cache(9, 600))
    writer = out.writeStream.format("memory").queryName("shared")
    feed(source, 0, [0, 1, 0])
    query = Started(writer.trigger(processingTime="100 milliseconds"))

    def found() -> list[tuple[int, int]]:
        return sorted((row.id, row.twice) for row in streams.session.table("shared").collect())

    try:
        until(lambda: len(found()) == 3, query)
        feed(source, 1, [1, 2])
        until(lambda: len(found()) == 5, query)
    finally:
        query.stop()

    assert found() == [(0, 0), (0, 0), (1, 2), (1, 2), (2, 4)]
    assert sorted(calls(notes)) == [0, 1, 2]


@pytest.mark.timeout(400)
@pytest.mark.parametrize("skew", [None, 60])
def test_a_watermark_behind_finds_late_what_lags_by_more_than_the_skew(
    streams: EmbeddedSpark, tmp_path: Path, skew: int | None
) -> None:
    (tmp_path / "in").mkdir()
    notes, goes = tmp_path / "calls", tmp_path / "goes"

    fn = slow_until(goes, notes)

    rows = streams.session.readStream.schema("id long, time timestamp").json(str(tmp_path / "in"))
    carry = Carry(lanes=1, pause=0.2, budget=0.1, skew=skew, event_time=skew and "time")
    out = unordered_wait(rows, fn, "twice long", carry=carry).withWatermark("time", "1 minute")
    counted = out.groupBy(window("time", "1 minute")).count().select("count")
    times = ['{"id": 3, "time": "2026-01-01T00:00:00Z"}}']
    times.append('{"id": 4, "time": "2026-01-01T00:10:00Z"}')
    (tmp_path / "in" / "0.json").write_text("\n".join(times))
    writer = counted.writeStream.format("memory").queryName(f"counted_{skew}")
    query = Started(writer.trigger(processingTime="100 milliseconds"))

    def is_past() -> bool:
        told = [each.get("eventTime", {}) for each in query.recentProgress]
        return any("2026" in each.get("watermark", "") for each in told)

    def late() -> int:
        operators = [each for p in query.recentProgress for each in p["stateOperators"]]
        return sum(each["numRowsDroppedByWatermark"] for each in operators)

    try:
        until(lambda: len(calls(notes)) == 2 and (is_past() or skew is not None), query)
        goes.touch()
        until(lambda: late() == 1 or streams.session.table(f"counted_{skew}").count() == 1, query)
        assert late() == (skew is None)
    finally:
        query.stop()


@pytest.mark.timeout(400)
def test_two_operators_that_need_a_name_each_fail_their_query(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    async def never(_row: Any) -> Any:
        await asyncio.sleep(3600)

    def enriched(name: str) -> DataFrame:
        (tmp_path / name).mkdir()
        feed(tmp_path / name, 0, range(ord(name[0]), ord(name[0]) + 4))
        rows = streams.session.readStream.schema("id long").json(str(tmp_path / name))
        return unordered_wait(rows, never, "twice long", carry=Carry(pause=0.1, budget=0))

    writer = enriched("a").union(enriched("k")).writeStream.format("noop")
    query = Started(writer.option("checkpointLocation", str(tmp_path / "checkpoint")))
    try:
        with pytest.raises(AssertionError, match=r"give each a name: Carry\(name="):
            until(lambda: False, query)
    finally:
        query.stop()


async def echo(row: Any) -> dict[str, int]:
    return {"twice": row.id}


LANES = Carry(lane_by="id", order_by="id")
PAIRS = {"batch": Batch(max_size=50)}
WRONG: list[tuple[Any, dict[str, Any], str, str]] = [
    (ordered_wait, {"carry": Carry()}, "order_by", "None"),
    (key_ordered_wait, {"carry": Carry(), "key": "id"}, "order_by", "None"),
    (unordered_wait, {"carry": Carry(lanes=3)}, "lanes", "3"),
    (unordered_wait, {"carry": Carry(order_by="x")}, "order_by", "'x'"),
    (unordered_wait, {"carry": Carry(lane_by=["y"])}, "lane_by", "'y'"),
    (unordered_wait, {"carry": Carry(order_by="more")}, "order_by", "'more'"),
    (key_ordered_wait, {"carry": LANES, "key": "more"}, "lane_by", "'id'"),
    (unordered_wait, {"carry": Carry(), "max_in_flight": 5, **PAIRS}, "batch.max_size", "50"),
    (unordered_wait, {"carry": Carry(event_time="x", skew=1)}, "event_time", "'x'"),
    (unordered_wait, {"carry": Carry(event_time="id", skew=1)}, "event_time", "'id'"),
    (unordered_wait, {"carry": ["id"]}, "carry", "['id']"),
    (unordered_wait, {"carry": Carry(), "max_held": 5}, "max_held", "5"),
    (
        unordered_wait,
        {"carry": Carry(), "on_error": "skip", "fail_after": Share(0.1)},
        "fail_after",
        "Share(",
    ),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_does_not_fit_is_refused_by_name(
    streams: EmbeddedSpark, tmp_path: Path, case: int
) -> None:
    waits, options, name, value = WRONG[case]
    rows = streams.session.readStream.schema("id long, more array<int>").json(str(tmp_path))

    with pytest.raises(InvalidConfig, match=f"^{name} must be .* got {re.escape(value)}"):
        waits(rows, echo, "twice long", **options)


OTHERS: list[dict[str, Any]] = [
    {"on_error": "skip"},
    {"timeout": 5},
    {"retry": Retry(on_error=ValueError)},
    {"calls_per_second": 5},
    {"max_in_flight": 5},
    {"carry": Carry(lane_by="id")},
    {"columns": "id"},
    {"limits": [Limit(calls=5, per=1, by=str)]},
    {"cache": Cache(9, 60)},
    {"cache": Cache(9, 61)},
    {"cache": Cache(9, 60, key=str)},
    {"cache": Cache(9, 60, key=itemgetter(0)), "carry": Carry(version="1")},
    {"carry": Carry(name="other")},
]


def test_another_call_is_made_by_another_host(streams: EmbeddedSpark, tmp_path: Path) -> None:
    rows = streams.session.readStream.schema("id long").json(str(tmp_path))

    def host(**options: Any) -> str:
        given = {"carry": Carry()} | options
        job = unordered_wait.plan(rows, echo, "twice long", **given).job  # type: ignore[attr-defined]
        return repr((job.operator, job.about))

    def by_parity() -> list[Limit]:
        return [Limit(calls=5, per=1, by=lambda row: row.id % 2)]

    assert host() == host()
    assert host(limits=by_parity()) == host(limits=by_parity())
    assert len({host(), *(host(**options) for options in OTHERS)}) == len(OTHERS) + 1


def test_a_column_that_does_not_travel_is_named_with_those_that_do(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    rows = streams.session.readStream.schema("id long, at long").json(str(tmp_path))
    told = r"^order_by must be a column of what is given, kept, or a key, which has id, got 'at'"

    with pytest.raises(InvalidConfig, match=told):
        ordered_wait(
            rows, echo, "twice long", columns="id", keep=["id"], carry=Carry(order_by="at")
        )


def test_a_table_and_another_state_store_are_refused(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    with pytest.raises(InvalidConfig, match="is not a stream"):
        unordered_wait(streams.session.range(3), echo, "twice long", carry=Carry())
    rows = streams.session.readStream.schema("id long").json(str(tmp_path))
    streams.session.conf.set(PROVIDER, "other")
    with pytest.raises(InvalidConfig, match=f"set {PROVIDER} to"):
        unordered_wait(rows, echo, "twice long", carry=Carry())


@pytest.mark.parametrize(
    "wrong", [{"budget": -1}, {"pause": 0}, {"lease": 0.1}, {"patience": 0}, {"version": ""}]
)
def test_a_carry_out_of_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig, match=f"^{next(iter(wrong))} must be"):
        Carry(**wrong)
