"""Budgets that an operator keeps to, on the virtual clock, in one run and in several."""

import fcntl
import os
import re
import resource
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import pytest
from counting import Counting, run

from asyncwait.backends import pool
from asyncwait.backends.services import Budget, BudgetSpent, Cost, LedgerLost
from asyncwait.conformance.harness import SpinWatch, run_virtual
from asyncwait.reference import ordered_wait
from asyncwait.spec import CallFailed, InvalidConfig, Retry
from asyncwait.toolkit._limits import _spending
from asyncwait.toolkit._limits._lines import Asker, Permit, arrive

LOOPS = pytest.mark.parametrize("loop", ["asyncio", "trio"])


@LOOPS
@pytest.mark.parametrize("then", ["fail", "stop"])
def test_a_budget_that_is_spent_inside_a_call_is_an_error_of_that_call(
    then: Any, loop: str
) -> None:
    async def asks_others(value: int) -> int:
        async with pool.ordered_wait(range(value), Counting(), limits=[Budget(2)]) as results:
            return sum([1 async for _ in results])

    options: dict[str, Any] = {"limits": [Budget(99, then=then)]}

    def answered(value: int, error: Exception) -> str:
        return f"{value}: {type(error.__cause__).__name__}"

    assert run(asks_others, range(4), loop, on_error=answered, **options) == [
        *(0, 1, 2),
        "3: BudgetSpent",
    ]
    with pytest.raises(CallFailed, match="value 3") as raised:
        run(asks_others, range(4), loop, **options)
    assert isinstance(raised.value.__cause__, BudgetSpent)


def test_two_budgets_of_one_list_have_two_files(tmp_path: Path) -> None:
    path = str(tmp_path / "spent")
    (tmp_path / "other").symlink_to(path)
    twice = [Budget(10, path=path), Budget(5, path=str(tmp_path / "other"))]

    with pytest.raises(InvalidConfig, match=r"Budget\.path must be another file than '.*spent'"):
        run(Counting(), range(3), "asyncio", limits=twice)


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (lambda value: value, r"expected a Cost\(result, used\), got 0: the budget in"),
        (lambda value: Cost(value, "much"), "CostMistold.*expected a number >= 0 as the cost"),
        (lambda value: Cost(value, -1), "CostMistold.*expected a number >= 0 as the cost"),
        (lambda value: Cost(value, {"USD": None}), "CostMistold"),
        (
            lambda value: Cost(value, {"EUR": 1}),
            r"expected a cost in USD from Cost.used, got .*EUR",
        ),
        (lambda value: Cost(value, {}), r"expected a cost in USD from Cost.used, got {}"),
        (
            lambda value: Cost(value, {"USD": 1, "eur": 1}),
            "expected a cost in EUR, got one in 'eur'",
        ),
    ],
    ids=["none", "text", "negative", "null", "another unit", "no unit", "misspelt unit"],
)
def test_a_call_that_tells_no_cost_fails_and_is_not_repeated(gives: Any, said: str) -> None:
    calls = []

    async def fn(value: int) -> Any:
        calls.append(value)
        return gives(value)

    limits = [Budget(9.0, "USD"), Budget(9.0, "EUR", cost=lambda _: 1)]
    with pytest.raises(CallFailed, match=said):
        run(fn, range(1), limits=limits, retry=Retry(initial=0.01))
    assert calls == [0]
    if "eur" not in said:  # The reference ignores a misspelt unit.
        with pytest.raises(CallFailed, match="CostMistold"):
            run(fn, range(1), wait=ordered_wait, limits=limits, retry=Retry(initial=0.01))
        assert calls == [0, 0]


def test_a_file_holds_a_budget_for_several_runs(tmp_path: Path) -> None:
    path = str(tmp_path / "job.budget")
    service = Counting()
    budget = Budget(10, path=path, then="stop")

    async def left(_: SpinWatch) -> None:
        async with pool.ordered_wait(range(9), service, capacity=4, limits=[budget]) as results:
            assert await anext(results) == 0

    run_virtual(left)
    begun = sum(map(int, map(float, Path(path).read_text().splitlines()[1:])))
    assert 4 <= begun <= 6
    assert run(service, range(99), limits=[budget]) == list(range(10 - begun))
    assert run(service, range(99), limits=[budget]) == []


def test_blank_lines_in_the_file_of_a_budget_cost_nothing(tmp_path: Path) -> None:
    budget = Budget(9, path=str(tmp_path / "job.budget"))
    for blank in ("\n", " \n1\n\n"):
        assert run(Counting(), range(2), limits=[budget]) == [0, 1]
        with (tmp_path / "job.budget").open("a") as file:
            file.write(blank)
    with pytest.raises(BudgetSpent, match="9 of a budget of 9 calls"):
        run(Counting(), range(5), limits=[budget])


def test_the_file_of_a_budget_knows_what_the_dearest_call_has_cost(tmp_path: Path) -> None:
    budget = Budget(10, "USD", path=str(tmp_path / "job.budget"))
    calls = 0

    async def fn(value: int) -> Cost[int]:
        nonlocal calls
        calls += 1
        return Cost(value, 3)

    for _ in range(3):
        said = "9 of a budget of 10 USD are spent, as .* has it: the next call, of 3, is not made"
        with pytest.raises(BudgetSpent, match=said):
            run(fn, range(9), limits=[budget])
    assert calls == 3


@pytest.mark.parametrize(
    ("text", "unit", "said"),
    [
        (None, "USD", "a file of a budget in USD, or none yet"),
        ("12\n", "calls", "a file of a budget in calls, or none yet"),
        ("1.0\nnan\n", "calls", "of a number a line, but it holds b'nan'"),
        ("1.0\n2 dollars\n", "calls", "of a number a line, but it holds b'dollars'"),
        ("1.0\n25", "calls", "whose last line is whole"),
    ],
)
def test_a_file_of_another_budget_is_refused(
    tmp_path: Path, text: str | None, unit: str, said: str
) -> None:
    path = tmp_path / "budget"
    run(Counting(), [1], limits=[Budget(10, path=str(path))])
    if text is not None:
        path.write_text(text if text == "12\n" else path.read_text() + text)
    with pytest.raises(InvalidConfig, match=f"^Budget.path must be .*{re.escape(said)}"):
        run(Counting(), [1], limits=[Budget(10, unit, path=str(path))])


@pytest.mark.parametrize("path", ["/nowhere/budget", "/dev/null", "/", "a\0b"])
def test_what_remembers_nothing_is_no_file_of_a_budget(path: str) -> None:
    with pytest.raises(InvalidConfig, match=r"^Budget.path must be a file"):
        run(Counting(), [1], limits=[Budget(10, path=path)])


@pytest.mark.parametrize(
    ("does", "said"),
    [
        (lambda path: os.truncate(path, 0), "was cut"),
        (Path.unlink, "is gone"),
        (lambda path: path.with_name("other").replace(path), "was replaced"),
    ],
)
def test_a_file_that_is_not_as_it_was_left_ends_the_run(
    tmp_path: Path, does: Any, said: str
) -> None:
    path = tmp_path / "budget"
    (tmp_path / "other").write_text("asyncwait budget 'calls'\n")
    calls = []

    async def fn(value: int) -> int:
        calls.append(value)
        if value == 3:
            does(path)
        return value

    limits = [Budget(99, path=str(path))]
    with pytest.raises(LedgerLost, match=f"budget, {path}, {said}: .* go on with what is left"):
        run(fn, range(99), capacity=1, limits=limits, on_error="skip", retry=Retry(initial=1))
    assert calls in ([0, 1, 2, 3], [0, 1, 2, 3, 4])


def test_a_cost_that_finds_no_room_is_not_half_written(tmp_path: Path) -> None:
    path = tmp_path / "budget"
    head = b"asyncwait budget 'USD'\n"
    limits = [Budget(99, "USD", cost=lambda _: 1.25, path=str(path))]
    service = Counting()
    path.write_bytes(head)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(head) + 1, before[1]))  # One byte is left.
    try:
        with pytest.raises(LedgerLost, match=f"budget, {path}, can't be written: no room is left"):
            run(service, range(9), limits=limits)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (service.came, path.read_bytes()) == ([], head)


def test_a_file_that_another_process_locks_for_long_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "budget"
    monkeypatch.setattr(_spending, "_PATIENCE", 0.01)
    limits = [Budget(10, path=str(path))]
    with path.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(LedgerLost, match=f"{path}, has been locked by"):
            run(Counting(), [1], limits=limits)


def test_two_who_share_a_file_never_take_the_rest_of_a_budget_both(tmp_path: Path) -> None:
    for number in range(60):
        budget = Budget(20, path=str(tmp_path / f"{number}"))
        start, taken = threading.Barrier(2), list[Any]()

        def take(asker: Asker, start: Any = start, taken: list[Any] = taken) -> None:
            start.wait()
            for _ in range(20):
                permit = Permit(asker.line(None), [1.0], lambda *_: None, (True, arrive()))
                taken.extend(each for each, error in asker.enter(permit) if error is None)

        with ThreadPoolExecutor(2) as workers:
            list(workers.map(take, [Asker([budget], 1, float) for _ in range(2)]))
        assert len(taken) == 20


@pytest.mark.parametrize("loses", [Path.unlink, lambda file: file.write_bytes(b"")])
def test_a_budget_that_must_exist_is_not_begun_anew(loses: Any, tmp_path: Path) -> None:
    file = tmp_path / "spent"

    def go(*, exists: bool) -> Any:
        budget = Budget(9, path=str(file), exists=exists)
        return run(Counting(), range(2), "asyncio", limits=[budget])

    assert go(exists=False) == go(exists=True) == [0, 1]
    loses(file)
    for _ in range(2):
        with pytest.raises(LedgerLost, match=r"spent, is missing or empty.*restore .*exists=False"):
            go(exists=True)
    assert go(exists=False) == [0, 1]


@LOOPS
@pytest.mark.parametrize("then", ["fail", "stop"])
@pytest.mark.parametrize(
    ("on_error", "first", "stopped"),
    [
        (None, [], (0, 5, 6, 7, 8)),
        ("skip", [], (5, 6, 7, 8)),
        (lambda _, error: repr(error.__cause__.__cause__), ["ValueError(0)"], (5, 6, 7, 8)),
    ],
    ids=["fail", "skip", "handler"],
)
def test_a_retry_that_is_not_paid_for_costs_no_other_record_its_result(
    on_error: Any, first: list[str], stopped: tuple[int, ...], then: Any, loop: str
) -> None:
    async def fn(value: int) -> int:
        if value == 0:
            raise ValueError(value)
        await anyio.sleep(1)
        return value

    async def main(_: SpinWatch) -> BudgetSpent | None:
        options: Any = {"retry": Retry(initial=0.01), "on_error": on_error}
        async with pool.ordered_wait(
            range(9), fn, limits=[Budget(5, then=then)], **options
        ) as results:
            expected = [*first, 1, 2, 3, 4]
            assert [await anext(results) for _ in expected] == expected
            with pytest.raises((BudgetSpent, StopAsyncIteration)) as ended:
                await anext(results)
            assert (results.statistics().calls, results.statistics().retries) == (5, 0)
            return ended.value if isinstance(ended.value, BudgetSpent) else None

    spent = run_virtual(main, loop)
    assert (spent is None) is (then == "stop" and on_error is not None)
    if spent is not None:
        assert "5 of a budget of 5 calls are spent" in str(spent)
        assert spent.stopped == stopped
        assert isinstance(spent.__cause__, ValueError) is (on_error is None)
