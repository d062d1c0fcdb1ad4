"""Rows of a partition through the work of a task, without Spark."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from asyncwait.backends.spark.frame._rows import Shape
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.backends.spark.frame._work import Options


def work_of(
    fn: Any,
    results: Mapping[str, pa.DataType] | pa.Schema,
    *,
    given: Any = "id",
    carried: Sequence[str] = (),
    key: Sequence[str] = (),
    identity: bytes = b"",
    **options: Any,
) -> Enrichment:
    """Return the work of a task; `options` are fields of `Options`."""
    asked = {"capacity": 1, **options}
    if (journal := options.get("journal")) is not None:
        journal.prepare()
    schema = results if isinstance(results, pa.Schema) else pa.schema(list(results.items()))
    shape = Shape(given, tuple(carried), schema, tuple(key))
    return Enrichment(fn, shape, "UTC", Options(**asked), identity=identity)


def rows_of(work: Enrichment, table: pa.Table, batch_size: int = 4) -> list[tuple[Any, ...]]:
    batches = iter(table.to_batches(batch_size))
    return [tuple(row.values()) for batch in work.run(batches) for row in batch.to_pylist()]


class Service:
    """A service that notes its calls.

    Args:
        fails: returns True for the values for which it fails.
    """

    def __init__(self, fails: Callable[[int], bool] = lambda _: False) -> None:
        self.fails = fails
        self.calls: list[int] = []

    async def __call__(self, value: int) -> tuple[int]:
        self.calls.append(value)
        if self.fails(value):
            raise LookupError(f"no {value}")
        return (2 * value,)
