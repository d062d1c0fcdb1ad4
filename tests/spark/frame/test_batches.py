"""Rows that share calls, and a journal that keeps each by itself, without Spark."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from frames import rows_of, work_of

from asyncwait.backends.journal import Journal
from asyncwait.backends.services import Cost, Limit
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.spec import Batch

TWICE = {"twice": pa.int64()}

BATCH = Batch(max_size=4, max_wait=10)


def run(fn: Any, values: Any = range(6), **options: Any) -> list[Any]:
    asked = {"carried": ("id",), "batch": BATCH, "capacity": 8, **options}
    table = pa.table({"id": pa.array(values, pa.int64())})
    return rows_of(work_of(fn, TWICE, **asked), table, 2)


class Service:
    """Notes which values it is given together.

    Args:
        poison: a value for which a whole call fails.
    """

    def __init__(self, poison: int | None = None) -> None:
        self.calls: list[list[int]] = []
        self.poison = poison

    async def __call__(self, values: Sequence[int]) -> Any:
        self.calls.append([*values])
        if self.poison in values:
            raise LookupError(self.poison)
        return [(2 * value,) for value in values]


@pytest.mark.parametrize("limited", [True, False])
def test_a_batch_may_tell_what_it_has_cost(*, limited: bool) -> None:
    service = Service()

    async def told(values: Sequence[int]) -> Cost[Any]:
        return Cost(await service(values), {"USD": len(values)})

    limits = (Limit(cost=lambda _: 1, up_to=9, per=60, unit="USD"),) if limited else ()
    kept = Kept(limits)
    assert run(told, kept=kept) == [(each, 2 * each) for each in range(6)]


class ByValue(Service):
    async def __call__(self, values: Sequence[int]) -> Any:
        return dict(zip(values, await super().__call__(values), strict=True))


class Blocking(Service):
    def __call__(self, values: Sequence[int]) -> Any:
        assert threading.current_thread() is not threading.main_thread()
        return asyncio.run(super().__call__(values))


def test_what_is_wrong_with_one_answer_is_of_its_row_alone() -> None:
    async def answer(values: Any) -> Any:
        wrong: dict[int, Any] = {1: ValueError("odd"), 2: ("text",), 3: None}
        return [wrong.get(value, (2 * value,)) for value in values]

    told = run(answer, on_error="column", error_column="error")
    assert [twice for _, twice, _ in told] == [0, None, None, None, 8, 10]
    types = [error and error["type"] for _, _, error in told]
    assert types == [None, "ValueError", "SchemaMismatch", "SchemaMismatch", None, None]


@pytest.mark.parametrize("service_class", [ByValue, Blocking])
def test_rows_of_the_journal_are_in_no_list(service_class: type[Service], journal: Journal) -> None:
    first, failing, last = service_class(), service_class(poison=2), service_class()
    run(first, [1, 3, 5], journal=journal)
    assert first.calls == [[1, 3, 5]]

    assert run(failing, range(4), journal=journal, on_error="skip") == [(1, 2), (3, 6)]
    assert failing.calls == [[0, 2]]

    assert run(last, journal=journal) == [(number, 2 * number) for number in range(6)]
    assert sorted(value for call in last.calls for value in call) == [0, 2, 4]


def test_a_row_that_is_found_has_no_deadline(journal: Journal) -> None:
    run(Service(), [1], journal=journal)

    async def sleep(_: Any) -> Any:
        await asyncio.sleep(60)

    found = run(sleep, [1, 2], journal=journal, timeout=0.02, on_error="skip")
    assert found == [(1, 2)]
