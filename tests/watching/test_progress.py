"""The progress bar, as rich draws it on a terminal, and what stands in a log."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
import watched
from operators import seconds_now
from rich.console import Console
from watched import Played, drawn, written

from asyncwait.backends.lookup import FunctionTable, lookup
from asyncwait.backends.watching import show_progress
from asyncwait.spec import Cache, CallTimedOut, Retry, Statistics

pytestmark = pytest.mark.anyio


@pytest.fixture
def terminal() -> Console:
    return watched.terminal()


@pytest.fixture
def log() -> Console:
    return watched.log(20)


async def read_all(results: AsyncIterator[Any]) -> None:
    async for _ in results:
        pass


async def test_the_bar_is_drawn_again_by_itself(open_sleeping: Any, terminal: Console) -> None:
    async with (
        open_sleeping(0.75, 1.25, 2) as results,
        show_progress(results, 3, every=0.5, console=terminal),
    ):
        await anyio.sleep(1.6)
        terminal.print("half-way")
        before = drawn(terminal)
        await read_all(results)

    # To start and to stop draws once more; what is printed stands above the bar.
    assert [line for line in dict.fromkeys(before) if "0.0/s" not in line] == [
        "records 1/3 1.0/s, 3 in flight, 1 held 0:00:01",
        "records 2/3 1.3/s, 3 in flight, 2 held 0:00:01",
        "half-way",
    ]
    assert before[0] == "records 0/3 0.0/s, 0 in flight 0:00:00"
    assert drawn(terminal)[-1] == "records 3/3 1.5/s, 0 in flight 0:00:02"
    assert written(terminal).endswith("\n\x1b[?25h")


SELDOM = {"retries": 4, "timeouts": 5, "failures_handled": 6}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        # Retries, timeouts and handled failures are told when there were any.
        (
            {},
            {"in_flight": 2_000, "held": 3, "calls": 9_000} | SELDOM,
            "6999/? 4,666.0/s, 2,000 in flight, 3 held, 4 retried, 5 timed out, 6 handled",
        ),
        (
            {},
            {"calls": 9, "hits": 4, "shared": 2, "loads": 2, "stale": 1},
            "9/? 6.0/s, 0 in flight, 4 hits, 2 shared, 2 loads, 1 stale",
        ),
        # The bar never goes back: what waits for its key is undecided, and was not called.
        ({"calls": 3}, {"calls": 4, "in_flight": 6}, "3/? 2.0/s, 6 in flight"),
    ],
)
async def test_the_figures_are_told(
    terminal: Console, before: dict[str, int], after: dict[str, int], told: str
) -> None:
    played = Played(**before)
    async with show_progress(played, description="pages", every=1, console=terminal):
        played.figures = Statistics(**after)  # type: ignore[arg-type]
        await anyio.sleep(1.5)

    assert drawn(terminal)[-1] == f"pages {told} 0:00:01"


async def test_a_lookup_is_told_by_its_own_figures(log: Console) -> None:
    async def get_many(keys: Any) -> dict[Any, Any]:
        await anyio.sleep(2)
        return {key: [key] for key in keys if key != "c"}

    async with (
        lookup([*"aababc"], FunctionTable(get_many), cache=Cache(1, 60), capacity=16) as results,
        show_progress(results, 6, description="orders", console=log),
    ):
        await anyio.sleep(1)
        assert results.statistics().in_flight == 6
        await read_all(results)

    assert written(log) == (
        "orders: 6 of 6 done in 2.0 s, 3.0/s, 0 in flight, 3 shared, 3 loads, 1 misses, "
        "1 evictions, 1.5 keys a request, 2 s p50, 2 s p99\n"
    )


@pytest.mark.parametrize(
    ("values", "settings", "told"),
    [
        ((1, 2), {}, "2 of 3 done in 2.0 s, 1.0/s, 0 in flight"),
        # What was called three times is one record, and not done before the third.
        (
            (0.5, 9),
            {
                "retry": Retry(max_attempts=3, initial=1, jitter=0, attempt_timeout=1),
                "on_error": "skip",
            },
            "2 of 3 done in 6.0 s, 0.3/s, 0 in flight, 2 retried, 1 handled",
        ),
        # Then none waits for its key any more.
        (
            (1, 1, 1),
            {"mode": "key-ordered", "key": lambda _: "one"},
            "3 of 3 done in 3.0 s, 1.0/s, 0 in flight",
        ),
    ],
    ids=["plain", "retries", "by key"],
)
async def test_a_log_gets_one_line_at_the_end(
    open_sleeping: Any, log: Console, values: Any, settings: Any, told: str
) -> None:
    async with (
        open_sleeping(*values, **settings) as results,
        show_progress(results, 3, description="[bold]pages[/bold]", console=log),
    ):
        await read_all(results)
        during = written(log)

    assert (during, written(log)) == ("", f"pages: {told}\n")


async def test_a_failed_operator_leaves_the_figures_of_the_last_refresh(
    open_sleeping: Any, log: Console
) -> None:
    async with open_sleeping(1, 9, 2, mode="unordered", timeout=3) as results:
        with pytest.raises(CallTimedOut, match="value 9"):
            async with show_progress(results, 3, every=0.8, console=log):
                await read_all(results)

    assert written(log) == "records: 2 of 3 done in 2.4 s, 0.8/s, 1 in flight\n"


async def test_leaving_early_takes_no_time(terminal: Console) -> None:
    with anyio.move_on_after(0.5) as scope:
        async with show_progress(Played(), every=100, console=terminal):
            await anyio.sleep_forever()

    assert (scope.cancelled_caught, seconds_now()) == (True, 0.5)


@pytest.mark.parametrize("seconds", [5, 0])
async def test_an_error_in_drawing_leaves_the_body_alone(terminal: Console, seconds: float) -> None:
    played = Played()
    reached: list[float] = []

    async def body() -> None:
        async with show_progress(played, every=1, console=terminal):
            played.trouble = ZeroDivisionError("of no account")
            if seconds:
                await anyio.sleep(seconds)
            reached.append(seconds_now())

    with pytest.raises(ZeroDivisionError):
        await body()

    assert reached == [seconds]
    assert written(terminal).endswith("\x1b[?25h")
