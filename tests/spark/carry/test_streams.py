"""Calls that stay in flight from one micro-batch to the next, on a real stream."""

import re
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.functions import window
from streams import SLOW, Started, Stream, feed, until

from asyncwait.backends.spark import (
    Carry,
    EmbeddedSpark,
    Share,
    key_ordered_wait,
    ordered_wait,
    unordered_wait,
)
from asyncwait.backends.spark.carry._plan import PROVIDER
from asyncwait.spec import Batch, Cache, InvalidConfig, Retry
from asyncwait.spec.limits import Limit


@pytest.mark.timeout(700)
def test_a_slow_call_holds_nobody_up_and_outlives_its_query(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    stream = Stream(streams, tmp_path)
    feed(stream.source, 0, range(6))
    expected = [(each, f"n{each}", 2 * each) for each in range(12)]
    with stream.start() as query:

        def found(**wanted: float) -> bool:
            told = (each["observedMetrics"].get("asyncwait twice") for each in query.recentProgress)
            return any({**each.asDict(), **wanted} == each.asDict() for each in told if each)

        until(lambda: found(in_flight=2, calls=6), query)
        until(lambda: len(stream.found()) == 4, query)
        assert stream.found() == [each for each in expected[:6] if each[0] not in SLOW]
    feed(stream.source, 1, range(6, 12))
    stream.goes.touch()
    with stream.start() as query:
        until(lambda: len(stream.found()) == 12, query)
        until(lambda: found(in_flight=0, calls=12, retries=0, errors=0, oldest=0), query)

    assert stream.found() == expected
    assert stream.calls() == [*range(12)]


@pytest.mark.timeout(400)
def test_no_row_is_late_for_a_watermark_behind_within_the_skew(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    stream = Stream(streams, tmp_path)
    rows = streams.session.readStream.schema("id long, time timestamp").json(str(stream.source))
    carry = Carry(lanes=1, pause=0.2, budget=0.1, skew=60, event_time="time")
    out = unordered_wait(rows, stream.fn(), "twice long", carry=carry)
    timed = out.withWatermark("time", "1 minute")
    counted = timed.groupBy(window("time", "1 minute")).count().select("count")
    times = ['{"id": 3, "time": "2026-01-01T00:00:00Z"}}']
    times.append('{"id": 4, "time": "2026-01-01T00:10:00Z"}')
    (stream.source / "0.json").write_text("\n".join(times))
    writer = counted.writeStream.format("memory").queryName("counted")
    with Started(writer.trigger(processingTime="100 milliseconds")) as query:
        until(lambda: len(stream.calls()) == 2, query)
        stream.goes.touch()
        until(lambda: streams.session.table("counted").count() == 1, query)
        operators = [each for p in query.recentProgress for each in p["stateOperators"]]
        assert sum(each["numRowsDroppedByWatermark"] for each in operators) == 0


def test_two_operators_that_need_a_name_each_are_refused(
    streams: EmbeddedSpark, tmp_path: Path
) -> None:
    rows = streams.session.readStream.schema("id long").json(str(tmp_path))

    def enriched(name: str) -> DataFrame:
        return unordered_wait(rows, echo, "twice long", carry=Carry(name=name))

    assert enriched("a").union(enriched("b")).union(enriched("")).isStreaming
    with pytest.raises(AnalysisException, match=r"not unique: .*Carry\(name="):
        enriched("").union(enriched(""))


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
