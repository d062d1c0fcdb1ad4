"""A streaming query that plays legs: each lane is one, and its rows come in some micro-batches."""

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec.structs import replace
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as sql

from asyncwait.backends.spark.carry._client import HostClient
from asyncwait.backends.spark.carry._host import CarryWork
from asyncwait.backends.spark.carry._plan import PROVIDER, ROCKSDB
from asyncwait.backends.spark.carry._processor import CarryProcessor, client
from asyncwait.backends.spark.carry._records import (
    PACKED,
    PARTITIONS,
    VISITED,
    Unpacking,
    key_bytes,
    packed,
)
from asyncwait.backends.spark.conformance._jobs import by_leg, input_rows, places, read_legs
from asyncwait.backends.spark.conformance._player import FramePath
from asyncwait.backends.spark.conformance._stream_leg import (
    HOSTED,
    LANES,
    LegsWork,
    PlannedRecord,
    parts_of,
)
from asyncwait.backends.spark.frame._plan import mapped
from asyncwait.backends.streams import Lane
from asyncwait.spec import Element, Mode, Record
from asyncwait.spec.carry import Finished, LaneState, Row, VisitFailed
from asyncwait.spec.scenario import Ending, Leg, LegStart, SinkTook

_BATCHES = 3
"""Largest number of micro-batches for the rows of a leg."""

_PATIENCE = 120.0
"""Seconds without the end of any leg, after which the query counts as hanging."""

_SETTINGS = {PROVIDER: ROCKSDB, PARTITIONS: "2"}


class LegsProcessor(CarryProcessor):
    """Plays the visits of legs, each by a work of its own; a leg that fails ends only its lane."""

    _needs_rows = False  # A leg may have none.
    _legs: LegsWork | None = None

    def _lane_of(self, name: Any) -> Lane:
        self._lane = int(name)
        _, self._work = self._all().leg(str(name))
        return super()._lane_of(name)

    def _all(self) -> LegsWork:
        if self._legs is None:
            legs: LegsWork = cloudpickle.loads(self._job)
            self._legs = legs
        return self._legs

    def _failed(
        self, lane: Lane, state: LaneState, now: int, error: VisitFailed
    ) -> tuple[tuple[Finished, ...], LaneState]:
        del error  # The leg has noted the error.
        return lane.emits(state, now), LaneState(now)

    def _host(self) -> HostClient:
        return client(self._all().host_of(self._lane), HOSTED, self._job)


Play: TypeAlias = Callable[[Sequence[LegStart], Sequence[CarryWork], sql.StructType], list[Leg]]
"""Plays legs in one query, each by its plan of the public function, with some columns of output."""


@contextmanager
def settings(session: SparkSession) -> Generator[None]:
    """Give a session the settings of carried streams with two lanes, and put back its own."""
    with ExitStack() as ends:
        for name, value in _SETTINGS.items():
            old = session.conf.get(name, None)
            put_back = partial(session.conf.set, name, old)
            ends.callback(partial(session.conf.unset, name) if old is None else put_back)
            session.conf.set(name, value)
        yield


@contextmanager
def stage(session: SparkSession) -> Generator[Play]:
    """Yield a player of legs with two call hosts, which end behind it."""
    with ExitStack() as ends:
        ends.enter_context(settings(session))
        folder = tempfile.TemporaryDirectory(prefix="asyncwait-", ignore_cleanup_errors=True)
        legs = LegsWork(ends.enter_context(folder))
        ends.callback(legs.end_hosts)
        queries = count()

        def play(starts: Sequence[LegStart], works: Sequence[CarryWork], out: Any) -> list[Leg]:
            query = _Query(session, legs, next(queries), starts, works)
            query.run(out)
            return query.legs(len(starts))

        yield play


class _Query:
    def __init__(
        self,
        session: SparkSession,
        legs: LegsWork,
        number: int,
        starts: Sequence[LegStart],
        works: Sequence[CarryWork],
    ) -> None:
        self._session = session
        self._legs = legs
        self._number = number
        self._works = works
        self._kept: list[tuple[int, bytes]] = []
        self._folder = Path(legs.folder, str(number))
        self._reports = legs.reports_of(number)
        for folder in (self._folder, self._folder / "input", self._reports):
            folder.mkdir()
        planned = [*zip(starts, works, strict=True)]
        legs.legs_of(number).write_bytes(cloudpickle.dumps(planned))
        self._write(starts)

    def _write(self, starts: Sequence[LegStart]) -> None:
        """Write the micro-batches: for each leg some rows, or a mark that it has none."""
        batches: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
        for number, start in enumerate(starts):
            kept, *parts = rows_of(number, start, self._works[number])
            if kept:
                self._kept.append((self._lane(number), packed(kept)))
            if len(parts) == 1:
                size = -(-len(parts[0]) // (number % _BATCHES + 1)) or 1
                parts = [parts[0][at : at + size] for at in range(0, len(parts[0]), size)]
            for place, rows in enumerate(parts or [[]]):
                batches[place].append((self._lane(number), packed(rows[::-1])))
        for place, batch in batches.items():
            file = self._folder / "input" / f"{place}.parquet"
            pq.write_table(_table(batch), file)
            os.utime(file, (place, place))  # Spark reads the oldest first.

    def _lane(self, number: int) -> int:
        return self._number * LANES + number

    def _frame(self, out: sql.StructType) -> DataFrame:
        stream = self._session.readStream.schema(PACKED).option("maxFilesPerTrigger", 1)
        rows = stream.parquet(str(self._folder / "input"))
        processor = LegsProcessor(cloudpickle.dumps(self._legs))
        visited = rows.groupBy("lane").transformWithState(
            processor, VISITED, "Append", "ProcessingTime", self._restored()
        )
        return mapped(visited, Unpacking(self._works[0].outcomes), "legs", out)

    def _restored(self) -> Any:
        """Return the lanes that begin with a snapshot; None without any."""
        if not self._kept:
            return None
        return self._session.createDataFrame(_table(self._kept)).groupBy("lane")

    def run(self, out: sql.StructType) -> None:
        query = (
            self._frame(out)
            .writeStream.format("parquet")
            .option("checkpointLocation", str(self._folder / "checkpoint"))
            .start(str(self._folder / "output"))
        )
        last, until = None, 0.0
        try:
            while (left := self._left(query)) != (0, 0):
                if left != last:
                    last, until = left, time.monotonic() + _PATIENCE
                elif time.monotonic() > until:
                    break
                query.awaitTermination(0.2)
        finally:
            query.stop()

    def _left(self, query: Any) -> tuple[int, int | None]:
        """Return the number of legs that are not over, and of lanes with records, if known."""
        progress = query.lastProgress
        lanes = None if progress is None else int(progress["stateOperators"][0]["numRowsTotal"])
        return len(self._works) - len([*self._reports.iterdir()]), lanes

    def legs(self, number: int) -> list[Leg]:
        batches = (b for table in sunk(self._folder / "output") for b in table.to_batches())
        came = by_leg(batches, FramePath(self._works[0].task).elements)
        found = read_legs(self._reports)
        missing = Leg(Ending("error", detail="the query ended before the leg"))
        legs = {each: confirmed(leg, came[each]) for each, leg in found.items()}
        return [legs.get(each, missing) for each in range(number)]


def sunk(folder: Path) -> Iterator[pa.Table]:
    """Yield the content of a sink of files, in the order of its own log, which repeats itself."""
    logs = folder.glob("_spark_metadata/[0-9]*")
    ordered = sorted(logs, key=lambda path: int(path.name.split(".")[0]))
    lines = dict.fromkeys(line for each in ordered for line in each.read_text().splitlines()[1:])
    for path in dict.fromkeys(json.loads(line)["path"] for line in lines):
        yield pq.read_table(unquote(urlsplit(path).path))


def rows_of(number: int, start: LegStart, work: CarryWork) -> list[list[Row]]:
    """Return the rows of a leg, part by part, in order; see `parts_of`."""
    parts = parts_of(start)
    numbers = iter(places([each.record for part in parts for each in part]))
    return [[*_rows(number, part, work, numbers)] for part in parts]


def _rows(
    number: int, part: Sequence[PlannedRecord], work: CarryWork, numbers: Iterator[int]
) -> Iterator[Row]:
    if not part:
        return
    placed = [(number, each.number, next(numbers), each.record) for each in part]
    records = work.records.encode(input_rows(placed, work.travelling))
    for record, (_, _, place, _) in zip(records, placed, strict=True):
        yield Row(record, key_bytes([place]))


def _table(lanes: Sequence[tuple[int, bytes]]) -> pa.Table:
    numbers, rows = zip(*lanes, strict=True)
    return pa.table({"lane": pa.array(numbers, pa.int64()), "rows": pa.array(rows, pa.binary())})


def confirmed(leg: Leg, came: list[Element]) -> Leg:
    """Compare the output with the finished records; a failure may hold the last of them back."""
    elements = [event.element for event in leg.events if isinstance(event, SinkTook)]
    taken = [each for each in elements if isinstance(each, Record)]
    finished, out = _by_order(leg.mode, taken), _by_order(leg.mode, came)
    if leg.ending.how != "finished":
        finished = {key: finished.get(key, [])[: len(part)] for key, part in out.items()}
    if out == finished:
        return leg
    detail = f"the host has finished {taken}, out came {came}"
    return replace(leg, ending=Ending("error", detail=detail))


def _by_order(mode: Mode, elements: Sequence[Element]) -> dict[str, list[Element]]:
    """Return elements in groups that keep their order: a micro-batch reorders other elements."""
    groups: dict[str, list[Element]] = defaultdict(list)
    for element in elements:
        key = repr(getattr(element, "key", None)) if mode == "key-ordered" else repr(element)
        groups["" if mode == "ordered" else key].append(element)
    return groups
