"""Work whose calls stay in flight, made without Spark; and the visits of a lane."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa

from asyncwait.backends.spark.carry._host import CallHost, CarryWork
from asyncwait.backends.spark.frame._rows import Shape
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.spark.frame._work import Options
from asyncwait.spec.carry import Identity, InFlight, Outcome, Terms, Visit

COLUMNS = pa.schema([pa.field("id", pa.int64()), pa.field("name", pa.string())])
RESULTS = pa.schema([pa.field("told", pa.string())])

KINDS: list[tuple[pa.DataType, Any]] = [
    (pa.bool_(), True),
    (pa.int8(), -128),
    (pa.int64(), 2**63 - 1),
    (pa.float32(), 0.1),
    (pa.float64(), -0.0),
    (pa.decimal128(38, 18), Decimal("1.500000000000000000")),
    (pa.string(), "\u00e4\x00"),
    (pa.binary(), b"\xff\x00"),
    (pa.date32(), date(1, 1, 1)),
    (pa.timestamp("us", tz="UTC"), datetime(2026, 1, 1, 0, 0, 0, 1, UTC)),
    (pa.timestamp("us"), datetime(2026, 1, 1, 0, 0, 0, 1)),  # noqa: DTZ001 - it has none
    (pa.duration("us"), timedelta(days=-1, microseconds=1)),
    (pa.list_(pa.int32()), [1, None, 3]),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]), {"a": 1, "b": None}),
    (pa.struct([("gr\u00f6\u00dfe", pa.int64())]), {"gr\u00f6\u00dfe": 1}),
    (pa.map_(pa.string(), pa.int64()), {"k": 1, "l": None}),
    (pa.map_(pa.int32(), pa.string()), {2: "b", 1: "a"}),
    (pa.map_(pa.date32(), pa.decimal128(5, 1)), {date(2026, 1, 2): Decimal("0.5")}),
    (pa.map_(pa.decimal128(5, 1), pa.map_(pa.binary(), pa.null())), {Decimal("0.5"): {b"": None}}),
    (pa.list_(pa.struct([("a", pa.map_(pa.float64(), pa.bool_()))])), [{"a": {1.5: True}}]),
    (pa.null(), None),
]
"""A value of each type."""


Hosted: TypeAlias = Callable[..., tuple[CarryWork, CallHost]]
"""Makes work of a function and options, as `work` does, and a host that holds its calls."""


class Service:
    def __init__(self) -> None:
        self.asked: list[int] = []
        self.ended: list[int] = []

    async def __call__(self, row: Any) -> dict[str, str]:
        self.asked.append(row.id)
        try:
            await asyncio.sleep(row.id)
        except asyncio.CancelledError:
            self.ended.append(row.id)
            raise
        return {"told": f"{row.id}!"}


def work(
    fn: Any,
    *,
    lease: float = 60.0,
    budget: float = 0.2,
    given: Any = ("id", "name"),
    **options: Any,
) -> CarryWork:
    chosen = Options("unordered", **options)
    shape = Shape(given, ("id",), RESULTS, ("id",))
    task = Enrichment(fn, shape, "UTC", chosen)
    terms = Terms("1", "unordered", 100, budget)
    return CarryWork(task, COLUMNS, (), terms, 1_000, lease, "columns", "operator", {"fn": "1"}, 2)


def wanted(made: CarryWork, *ids: int) -> tuple[InFlight, ...]:
    rows = pa.RecordBatch.from_pylist([{"id": each, "name": "a"} for each in ids], schema=COLUMNS)
    records = made.records.encode(rows)
    names = [Identity(str(each).encode(), 1, 0) for each in ids]
    return tuple(map(InFlight, names, records))


def visit(made: CarryWork, *ids: int, lane: str = "0") -> Visit:
    return Visit(lane, made.terms, wanted(made, *ids))


def told(made: CarryWork, outcomes: Mapping[Identity, Outcome] | Sequence[Any]) -> dict[int, Any]:
    pairs = outcomes.items() if isinstance(outcomes, Mapping) else outcomes
    return {int(who.digest): _shown(made, what) for who, what in pairs}


def _shown(made: CarryWork, what: Outcome) -> Any:
    if not isinstance(what, bytes):
        return what.reason.partition("\n")[0]
    return [row for batch in made.outcomes.batches([what]) for row in batch.to_pylist()]
