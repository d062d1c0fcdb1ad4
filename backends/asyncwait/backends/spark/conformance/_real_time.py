"""What is played on the real clock besides short scenarios: some that are about the data path."""

import os
import time
from collections.abc import Iterator

import pyarrow as pa

from asyncwait.spec import Element, Record, Watermark
from asyncwait.spec.scenario import Handler, Plan, Scenario, SinkStep, Step, Timed

MOST = 120
"""Short scenarios that are played at most, the first ones: examples, and some generated ones."""

_FLUSHES = 80_000
"""Bytes beside a row that push the row before it out of every buffer on its way."""

_RUSH = 0.2
"""Seconds after which both workers of a task have surely started."""


def paced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Hand on the rows of a partition, each when the column `at` (ms) says.

    Spark flushes nothing before its buffers are full. So each row gets a `load` that pushes out the
    one before it: all rows arrive one gap late, if the gaps are equal.
    """
    pa.array([b""])  # The first array imports pandas, and that takes longer than a gap.
    rows = [batch.slice(n, 1) for batch in batches for n in range(batch.num_rows)]
    gap = rows[-1].column("at")[0].as_py() / max(1, len(rows) - 1) / 1000
    time.sleep(_RUSH)
    began = time.monotonic()
    for number, row in enumerate(rows, 1):
        load = pa.array([os.urandom(_FLUSHES)], row.schema.field("load").type)
        yield row.set_column(row.schema.get_field_index("load"), "load", load)
        time.sleep(max(0.0, began + number * gap - time.monotonic()))


def _every(gap: int, *elements: Element) -> tuple[Timed, ...]:
    return tuple(Timed(n * gap, element) for n, element in enumerate(elements))


def _replies(value: str, after: int) -> Plan:
    return Plan(value, (Step(after=after, results=(f"{value}1",)),))


OF_THE_DATA_PATH: dict[str, Scenario] = {
    "results come out while the source pauses": Scenario(
        timeout=160,
        inputs=_every(120, Record("a"), Record("b"), Record("c")),
        plans=(_replies("a", 40), _replies("b", 80), _replies("c", 40)),
    ),
    "calls that outlast the pauses of the source": Scenario(
        mode="unordered",
        inputs=_every(80, Record("a"), Record("b"), Watermark(1), Record("c")),
        plans=(_replies("a", 200), _replies("b", 40), _replies("c", 40)),
    ),
    "deadlines are kept while the source pauses": Scenario(
        timeout=80,
        inputs=_every(200, Record("a"), Record("b")),
        plans=(
            Plan("a", (Step("never"),), Handler("reply", ("late",))),
            _replies("b", 40),
        ),
        handled=True,
    ),
    "output that is not read for three timeouts": Scenario(
        capacity=2,
        timeout=80,
        inputs=_every(0, Record("a"), Record("b"), Record("c"), Record("d")),
        plans=tuple(_replies(value, 40) for value in "abcd"),
        sink=(SinkStep("pause", 240),),
    ),
    "output that is not read any more for three timeouts": Scenario(
        mode="unordered",
        capacity=3,
        timeout=80,
        inputs=_every(0, *(Record(value) for value in "abcdabcd")),
        plans=tuple(_replies(value, 40) for value in "abcd"),
        sink=(SinkStep("read", 2), SinkStep("pause", 240), SinkStep("read", 1)),
    ),
    "input left over after a failure": Scenario(
        capacity=2,
        inputs=_every(0, Record("a"), *(Record("b", n) for n in range(40))),
        plans=(_replies("b", 0), Plan("a", (Step("raise", 40, error="ValueError"),))),
    ),
}
"""Scenarios about stalled input, unread output and input left over; inputs at equal gaps."""
