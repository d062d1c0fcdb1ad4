"""What was completed is not called again: through a journal, without Spark."""

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pyarrow as pa
import pytest
from carried import KINDS
from frames import Service, rows_of, work_of
from msgspec.structs import replace

from asyncwait.backends.journal import (
    EntryTooLarge,
    Journal,
    JournalFull,
    KeptFailure,
    summary,
)
from asyncwait.backends.services import Limit
from asyncwait.backends.spark import Progress, ordered_wait
from asyncwait.backends.spark.frame._journal import journal_of
from asyncwait.backends.spark.frame._limits import Kept
from asyncwait.spec import CallFailed, InvalidConfig, Retry

INT = pa.int64()
TWICE = pa.schema([("twice", INT)])


def run(
    fn: Any,
    journal: Journal,
    values: Any = range(10),
    kind: pa.DataType = INT,
    *,
    results: pa.Schema = TWICE,
    **options: Any,
) -> list[Any]:
    work = work_of(fn, results, journal=journal, **options)
    return rows_of(work, pa.table({"id": pa.array(values, kind)}))


EXPECTED = [(2 * number,) for number in range(10)]


def test_what_was_completed_before_a_failure_is_found_behind_it(journal: Journal) -> None:
    service = Service(lambda value: value == 6)
    with pytest.raises(CallFailed):
        run(service, journal)
    calls: list[int] = []

    def block(value: int) -> tuple[int]:
        calls.append(value)
        return (2 * value,)

    assert run(block, journal) == EXPECTED
    assert (service.calls, calls) == ([*range(7)], [6, 7, 8, 9])
    assert run(service, journal) == EXPECTED


@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [
        (range(10), range(10), range(10)),
        ([1, 2, 3, 4], [9, 4, 2], [1, 2, 3, 4, 9]),
        ([5, 5, 5], [5, 5, 5, 5], [5] * 4),
    ],
    ids=["the same", "another partition", "equal rows"],
)
def test_a_row_is_found_wherever_it_stands(
    journal: Journal, first: Any, second: Any, calls: Any
) -> None:
    service = Service()
    for values in (first, second):
        assert run(service, journal, values) == [(2 * value,) for value in values]
    assert service.calls == [*calls]


def test_many_results_are_kept_together_and_none_too(journal: Journal) -> None:
    calls: list[int] = []

    async def below(value: int) -> Any:
        calls.append(value)
        return ((each,) for each in range(value))

    expected = [(each,) for value in range(4) for each in range(value)]
    for _ in range(2):
        assert run(below, journal, range(4), many=True) == expected
    assert calls == [0, 1, 2, 3]


def test_a_result_that_is_asked_for_again_is_not_kept(journal: Journal) -> None:
    seen: list[Any] = []
    calls: list[int] = []

    async def fn(value: int) -> tuple[int]:
        calls.append(value)
        return (calls.count(value),)

    def again(result: tuple[int]) -> bool:
        seen.append(result)
        return result[0] < 2

    retry = Retry(initial=0.001, on_result=again)
    assert run(fn, journal, [1, 2], retry=retry) == [(2,), (2,)]
    seen.clear()
    assert run(fn, journal, [1, 2], retry=retry) == [(2,), (2,)]
    assert (len(calls), seen) == (4, [])


def test_a_result_beyond_the_bound_is_not_called_for_again(journal: Journal) -> None:
    calls: list[int] = []

    async def fn(value: int) -> tuple[bytes]:
        calls.append(value)
        return (bytes(64 * 1024 * 1024 if value == 2 else 1),)

    raw: dict[str, Any] = {"results": pa.schema([("raw", pa.binary())])}
    raw["retry"] = Retry(max_attempts=3, initial=0.001)
    for _ in range(2):
        with pytest.raises(CallFailed, match=r"^row 2 of partition 0: ") as raised:
            run(fn, journal, range(5), **raw)
        assert isinstance(raised.value.__cause__, EntryTooLarge)
        assert re.search("67,108,864 bytes.*67,108,87", str(raised.value))
    assert len(run(fn, journal, range(5), on_error="skip", **raw)) == 4
    told = run(fn, journal, range(5), on_error="column", error_column="error", **raw)
    assert [row[1] and row[1]["type"] for row in told] == [None, None, "EntryTooLarge", None, None]
    assert sorted(calls) == list(range(5))
    assert "64 MiB" in (inspect.getdoc(ordered_wait) or "")


def test_a_journal_that_is_full_fails_the_task_and_is_not_tried_again(tmp_path: Path) -> None:
    service = Service()
    small = Journal(str(tmp_path / "small"), "job", "1", max_bytes=600)
    with pytest.raises(CallFailed) as raised:
        run(service, small, range(100), retry=Retry(initial=0.001), on_error="skip")
    assert isinstance(raised.value.__cause__, JournalFull)
    assert len(service.calls) == len(set(service.calls))
    assert summary(small.path).entries == len(service.calls) - 1


RESULTS = pa.schema([(f"c{number}", kind) for number, (kind, _) in enumerate(KINDS)])


@pytest.mark.parametrize("values", [tuple(value for _, value in KINDS), (None,) * len(KINDS)])
def test_values_of_all_types_are_found_as_they_were(journal: Journal, values: Any) -> None:
    async def fn(_: int) -> Any:
        return values

    of: dict[str, Any] = {"values": [[(1, "a")]], "kind": pa.map_(pa.int32(), pa.string())}
    first = run(fn, journal, **of, results=RESULTS)
    again = run(no_call, journal, **of, results=RESULTS)
    assert repr(again) == repr(first)


async def no_call(value: int) -> Any:
    raise AssertionError(value)


def asking(model: str) -> Any:
    async def ask(value: int) -> tuple[str]:
        return (f"{model} says {value}",)

    return ask


def below(limit: int) -> Any:
    return lambda result: result[0] < limit


async def fetch(value: int) -> tuple[int]:
    return (value,)


def test_a_path_is_a_journal_of_the_function_as_it_stands(tmp_path: Path) -> None:
    path = str(tmp_path)
    made = [journal_of(path, fn) for fn in (fetch, asking("a"), asking("b"))]
    assert [each and each.job.rpartition(".")[2] for each in made] == ["fetch", "ask", "ask"]
    assert len({each and each.version for each in made}) == 3
    assert journal_of(path, asking("a")) == made[1]
    settings = [
        getattr(journal_of(path, fetch, Retry(on_result=again)), "settings", ())
        for again in (below(2), below(2), below(3))
    ]
    assert settings[0] == settings[1] != settings[2]
    assert dict(settings[0]).keys() == {"on_result"}
    assert journal_of(None, fetch) is None
    assert journal_of(made[0], fetch) is made[0]
    with pytest.raises(InvalidConfig, match=r"^journal must be .*, got 5"):
        journal_of(5, fetch)
    with pytest.raises(InvalidConfig, match=r"partial.*Journal\(path, job, version="):
        journal_of(str(tmp_path), partial(fetch, (each for each in ())))


class Failing(Service):
    async def __call__(self, value: int) -> tuple[int]:
        result = await super().__call__(value)
        errors = {1: ConnectionError(value), 2: LookupError(value), 3: TimeoutError(value)}
        if value in errors:
            raise errors[value]
        return result


@pytest.mark.parametrize(
    ("retry", "again"),
    [
        (None, [1, 3]),
        (Retry(max_attempts=2), [1, 1, 2, 2, 3, 3]),
        (Retry(max_attempts=2, on_error=LookupError), [1, 2, 2, 3]),
    ],
    ids=["no retry", "all", "a class"],
)
def test_a_failure_is_kept_that_nothing_asks_to_repeat(
    journal: Journal, retry: Retry | None, again: list[int]
) -> None:
    keeping, service = replace(journal, failures=True), Failing()
    for _ in range(2):
        service.calls.clear()
        rows = run(service, keeping, on_error="skip", retry=retry)
        assert rows == [(2 * value,) for value in (0, *range(4, 10))]
    assert service.calls == again


@pytest.mark.parametrize("cost", [float, lambda value: 1 / (80 - value)], ids=["dear", "broken"])
def test_what_limits_kept_from_being_called_is_not_kept(
    journal: Journal, cost: Callable[[int], float]
) -> None:
    keeping, service = replace(journal, failures=True), Service()
    for limit, rows in (
        (Limit(cost=cost, up_to=50, per=1), [(20,)]),
        (Limit(calls=9, per=1), [(20,), (160,)]),
    ):
        kept = Kept(limits=(limit,))
        assert run(service, keeping, [10, 80], on_error="skip", kept=kept) == rows
    assert service.calls == [10, 80]


def test_what_becomes_of_a_kept_failure_is_what_became_of_it_at_first(journal: Journal) -> None:
    keeping, service = replace(journal, failures=True), Failing()
    told = partial(run, service, keeping, [2, 4], on_error="column", error_column="error")
    first = told()
    assert first[0][1]["type"] == "LookupError"
    assert told() == first
    assert service.calls == [2, 4]

    def handler(value: int, error: Exception) -> tuple[int]:
        kept = error.__cause__
        assert isinstance(kept, KeptFailure)
        assert (kept.failure.kind, kept.failure.attempts) == ("LookupError", 1)
        return (-value,)

    assert run(service, keeping, [2, 4], on_error=handler) == [(-2,), (8,)]
    with pytest.raises(CallFailed, match=r"the call failed: LookupError\(2\)") as failed:
        run(service, keeping, [2])
    assert failed.value.__notes__[-1].endswith("see `once`, or `asyncwait journal show`")


def test_a_kept_failure_is_counted_as_at_first(journal: Journal) -> None:
    async def refuse(value: int) -> tuple[int]:
        raise HTTPError("http://a.example", 400, f"no {value}", None, None)  # type: ignore[arg-type]

    for _ in range(2):
        with Progress(show=False) as progress:
            told: dict[str, Any] = {"on_error": "skip", "endpoint": progress.endpoint}
            run(refuse, replace(journal, failures=True), [1, 2], **told)
        assert progress.figures().causes == {"HTTPError 400": 2}
    shown = summary(journal.path)
    assert shown.failures == {"HTTPError 400": 2}
    assert shown.reasons["HTTPError 400"].startswith("the call failed: ")
