"""The partition operator on real DataFrames: what comes out, and what the driver is told."""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import PythonException

from asyncwait.backends.spark import EmbeddedSpark
from asyncwait.backends.spark._partition import on_elements, run_partition
from asyncwait.backends.spark._session import pandas_notice_ignored
from asyncwait.spec import CallFailed, Element, OperatorConfig, Record

pytestmark = pytest.mark.timeout(300)  # the first test pays for the start of a JVM

# A worker can't import the tests, so what they define travels whole.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class NumberRows:
    """Plain rows as records and back, as a function over DataFrames will want them."""

    def decode(self, batch: pa.RecordBatch) -> Iterator[Element]:
        """A record for each number."""
        return (Record(number) for number in batch.column("id").to_pylist())

    def encode(self, elements: Sequence[Any]) -> pa.RecordBatch:
        """A row for each answer."""
        return pa.RecordBatch.from_pydict({"answer": [element.value for element in elements]})


def answers_to(number: int) -> list[str]:
    """Nothing to every tenth, and twice the same to every seventh."""
    return [f"{number}!"] * (0 if number % 10 == 0 else 2 if number % 7 == 0 else 1)


async def answer(number: int) -> list[str]:
    """Answer at once or later."""
    await asyncio.sleep(number % 3 / 1000)
    if number == 1_313:
        raise LookupError("there is no such number")
    return answers_to(number)


def answers(spark: EmbeddedSpark, config: OperatorConfig, count: int) -> list[str]:
    """Ask about the numbers below `count`, in three partitions."""

    def in_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return run_partition(batches, on_elements(config, answer), NumberRows())

    with pandas_notice_ignored():
        numbers = spark.session.range(0, count, 1, 3)
        column: list[str] = (
            numbers.mapInArrow(in_worker, "answer string").toArrow().column(0).to_pylist()
        )
        return column


def expected(count: int) -> list[str]:
    """The answers about the numbers below `count`, in order."""
    return [text for n in range(count) for text in answers_to(n)]


def test_ordered_answers_of_every_row(spark: EmbeddedSpark) -> None:
    """Order, several results and none, as the rows lie in their partitions."""
    assert answers(spark, OperatorConfig(capacity=20), 300) == expected(300)


def test_unordered_answers_of_every_row(spark: EmbeddedSpark) -> None:
    """The same answers, in another order."""
    found = answers(spark, OperatorConfig("unordered", capacity=20), 300)
    assert found != expected(300)
    assert sorted(found) == sorted(expected(300))


def test_no_rows(spark: EmbeddedSpark) -> None:
    """Empty partitions give nothing."""
    assert answers(spark, OperatorConfig(), 0) == []


def test_driver_is_told_of_record_and_cause(spark: EmbeddedSpark) -> None:
    """The error of the job shows the record, the cause, and where in the function it was raised."""
    with pytest.raises(PythonException) as raised:
        answers(spark, OperatorConfig(), 1_400)
    text = str(raised.value)
    assert (
        "asyncwait.spec.CallFailed: Record 1313: "
        "the call failed: LookupError('there is no such number')"
    ) in text
    assert 'in answer\n|     raise LookupError("there is no such number")' in text
    assert text.rstrip().endswith("LookupError: there is no such number")


def test_an_error_crosses_from_worker_to_driver_by_its_public_name() -> None:
    """Spark's own pickling finds the class where users import it, and the record comes along."""
    data = cloudpickle.dumps(CallFailed(Record(7, 12, "k"), "no answer"))
    again = cloudpickle.loads(data)

    assert b"_errors" not in data
    assert (type(again), again.record, again.reason) == (
        CallFailed,
        Record(7, 12, "k"),
        "no answer",
    )
