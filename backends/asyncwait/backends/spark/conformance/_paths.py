"""Paths through a partition: of elements of every kind, and of the plain rows of a DataFrame."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from asyncwait.backends.spark._partition import Partition, on_elements
from asyncwait.backends.spark._rows import ElementRows
from asyncwait.backends.spark.frame._rows import RowRecord
from asyncwait.backends.spark.frame._task import Enrichment
from asyncwait.spec import Element, OperatorError, Record
from asyncwait.spec.scenario import LegStart
from asyncwait.toolkit import FunctionParts, answers_of, is_collection


class ElementPath:
    """The path of elements: the rows of a leg are elements all the way."""

    def open(
        self, batches: Iterator[pa.RecordBatch], plan: LegStart, fn: Any, **options: Any
    ) -> Partition:
        opens = on_elements(plan.config, fn, plan.restored)
        return Partition(batches, opens, ElementRows(), **options)

    def elements(self, batch: pa.RecordBatch) -> list[Element]:
        """Return the elements that came out in a batch."""
        return list(ElementRows().decode(batch))

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def with_record(self, error: Exception) -> Exception:
        """Return an error that names the record of the scenario."""
        return error


RESULT = "result"
"""The column of the function's result."""


class FramePath(ElementPath):
    """Rows of a DataFrame: the value is the argument of the function, other columns are carried.

    Args:
        work: the plan of `ordered_wait`, for a function that is replaced here.
    """

    def __init__(self, work: Enrichment) -> None:
        self._work = work

    def open(
        self, batches: Iterator[pa.RecordBatch], plan: LegStart, fn: Any, **options: Any
    ) -> Partition:
        assert plan.restored is None
        return replace(self._work, fn=self.of_rows(fn)).partition(batches, 0, **options)

    def of_rows(self, fn: Any) -> "_OfRows":
        return (_OfRows if self._work.options.batch is None else _OfBatches)(fn)

    def elements(self, batch: pa.RecordBatch) -> list[Element]:
        """Return a record for each row: the result, and the carried columns."""
        results = batch.column(RESULT)
        index = batch.schema.get_field_index("value")
        kept = batch.set_column(index, "value", results).drop_columns([RESULT])
        return list(ElementRows().decode(kept))

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return ElementRows().encode(self.elements(batch))

    def with_record(self, error: Exception) -> Exception:
        return _with_record(error)


def _with_record(error: Exception) -> Exception:
    if isinstance(error, OperatorError) and isinstance(error.record, RowRecord):
        row = error.record.value
        timestamp, key = row.cells(("timestamp", "key"))
        error.record = Record(json.loads(row.value), timestamp, key and json.loads(key))
    return error


class _OfRows:
    """The planned function, with texts for values and results."""

    def __init__(self, fn: Any) -> None:
        self._parts = parts = FunctionParts.of(fn)
        for hook in ("open", "close"):
            if (part := getattr(parts, hook)) is not None:
                setattr(self, hook, part)
        for name in ("timeout", "failure"):
            if (part := getattr(parts, name)) is not None:
                setattr(self, name, self._handler(part))

    async def __call__(self, text: Any) -> Any:
        assert self._parts.call is not None
        return _as_rows(await self._parts.call(json.loads(text)))

    def _handler(self, part: Any) -> Any:
        return lambda text, *errors: _as_rows(part(json.loads(text), *map(_with_record, errors)))


class _OfBatches(_OfRows):
    async def __call__(self, text: Any) -> Any:
        assert self._parts.call is not None
        values = [json.loads(each) for each in text]
        answers: Any = await self._parts.call(values)
        if isinstance(answers, Mapping) and answers.keys() <= _hashable(values):
            there = zip(text, values, strict=True)
            return {
                each: _answer_as_rows(answers[value]) for each, value in there if value in answers
            }
        if not isinstance(answers, Mapping) and not is_collection(answers):
            return answers  # The operator reports its fault.
        return [*map(_answer_as_rows, answers_of(values, answers))]


def _hashable(values: list[Any]) -> set[Any]:
    """Return the values as a set; an empty one if some can't be hashed."""
    try:
        return set(values)
    except TypeError:
        return set()


def _answer_as_rows(answer: Any) -> Any:
    return answer if isinstance(answer, BaseException) else _as_rows(answer)


def _as_rows(given: Any) -> Any:
    if not is_collection(given):
        return given
    return ((json.dumps(result),) for result in given)
