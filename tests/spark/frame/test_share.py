"""A task ends early when too many of its rows have failed, without Spark."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from frames import rows_of, work_of
from msgspec.structs import replace

from asyncwait.backends.journal import Journal
from asyncwait.backends.spark import Share, TooManyFailed
from asyncwait.spec import Batch, Cache, InvalidConfig


class Service:
    def __init__(self, fails: Callable[[int], bool]) -> None:
        self.fails = fails
        self.calls: list[int] = []

    async def __call__(self, value: int) -> tuple[int]:
        self.calls.append(value)
        if self.fails(value):
            raise LookupError(f"no {value}\n::error::")
        return (value,)


class Batches(Service):
    async def __call__(self, values: list[int]) -> list[Any]:  # type: ignore[override]
        self.calls += values
        return [LookupError(value) if self.fails(value) else (value,) for value in values]


def run(fn: Any, share: float, of: int, rows: int = 1_000, **options: Any) -> list[Any]:
    asked = {"on_error": "skip", "fail_after": Share(share, of=of), **options}
    work = work_of(fn, {"n": pa.int64()}, **asked)
    return [n for (n,) in rows_of(work, pa.table({"id": range(rows)}), 100)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mode": "unordered"},
        {"mode": "key-ordered", "key": ("id",)},
        {"on_error": lambda *_: (0,)},
    ],
    ids=["ordered", "unordered", "keys", "handler"],
)
def test_a_task_ends_with_the_failure_that_is_too_much(options: dict[str, Any]) -> None:
    service = Service(lambda value: value % 10 == 0)
    with pytest.raises(TooManyFailed) as raised:
        run(service, 0.1, 100, **options)
    assert str(raised.value) == (
        "11 of 101 rows of this task have failed, more than fail_after=Share(share=0.1, of=100) "
        "allows: 11 LookupError"
    )
    assert len(service.calls) <= 102  # the next one may have begun


def test_a_task_with_few_rows_is_never_ended() -> None:
    assert run(Service(bool), 0, 100, rows=99, capacity=20) == [0]


def test_what_failed_before_there_were_enough_is_judged_at_the_end() -> None:
    with pytest.raises(TooManyFailed, match=r"^90 of 1,000 rows"):
        run(Service(lambda value: value < 90), 0.05, 100, rows=1_000, capacity=20)


@pytest.mark.usefixtures("nothing_kept")
def test_rows_of_batches_and_of_a_cache_are_judged_one_by_one() -> None:
    with pytest.raises(TooManyFailed, match=r"^11 of 101 rows"):
        run(Batches(lambda value: value % 10 == 0), 0.1, 100, batch=Batch(max_size=5), capacity=10)
    cache = Cache(10, ttl=9, key=lambda value: value % 10)
    with pytest.raises(TooManyFailed, match=r"^11 of 101 rows"):
        run(Service(lambda value: value % 10 == 0), 0.1, 100, cache=cache)


def test_failures_that_a_journal_keeps_count(journal: Journal) -> None:
    service = Service(lambda value: value % 2 == 0)
    for _ in range(2):
        with pytest.raises(TooManyFailed, match=r"^6 of 11 rows .*: 6 LookupError$"):
            run(service, 0.5, 10, journal=replace(journal, failures=True))
    assert len(service.calls) <= 12


@pytest.fixture
def journal(tmp_path: Any) -> Journal:
    return Journal(str(tmp_path / "journal"), "job", "1")


@pytest.mark.parametrize(
    ("share", "of", "named"),
    [
        *((share, 10, "share") for share in (1, -0.1, float("nan"), True, "5%")),
        *((0.1, of, "of") for of in (0, 1.5)),
    ],
)
def test_what_is_no_share_is_refused(share: Any, of: Any, named: str) -> None:
    with pytest.raises(InvalidConfig, match=rf"^{named} must be "):
        Share(share, of=of)
