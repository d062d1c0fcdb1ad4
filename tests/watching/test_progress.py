"""The progress bar, as rich draws it on a terminal, and what stands in a log."""

import io
import re
import sys
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest
from operators import seconds_now
from rich.console import Console

from asyncwait.backends.watching import show_progress
from asyncwait.spec import CallTimedOut, InvalidConfig, MissingExtra, Retry, Statistics

pytestmark = pytest.mark.anyio


class Played:
    """Stands for an operator; what its figures are, a test says."""

    def __init__(self, **figures: int) -> None:
        self.figures = Statistics(**figures)
        self.trouble: Exception | None = None

    def statistics(self) -> Statistics:
        """Return what the test says."""
        if self.trouble is not None:
            raise self.trouble
        return self.figures


@pytest.fixture
def terminal() -> Console:
    """A terminal without colours."""
    return Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)


@pytest.fixture
def log() -> Console:
    """What is no terminal, and narrow."""
    return Console(file=io.StringIO(), width=20)


def written(console: Console) -> str:
    """What was written, as it was."""
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def drawn(console: Console) -> list[str]:
    """Each picture of the bar, and each line above it: without the bar itself."""
    text = re.sub(r"\x1b\[[?0-9]*[a-zA-Z]", "", written(console))
    lines = (re.sub("[━╸╺ ]+", " ", line).strip() for line in re.split("[\r\n]+", text))
    return [line for line in lines if line]


async def read_all(results: AsyncIterator[Any]) -> None:
    """Read to the end."""
    async for _ in results:
        pass


async def test_the_bar_is_drawn_again_by_itself(open_sleeping: Any, terminal: Console) -> None:
    """At once, every so many seconds, and on leaving; nobody has to take results for it."""
    async with (
        open_sleeping(0.75, 1.25, 2) as results,
        show_progress(results, 3, every=0.5, console=terminal),
    ):
        await anyio.sleep(1.6)
        before = drawn(terminal)
        await read_all(results)

    # To start and to stop draws once more.
    assert list(dict.fromkeys(before)) == [
        "records 0/3 0.0/s, 0 in flight 0:00:00",
        "records 0/3 0.0/s, 3 in flight 0:00:00",
        "records 1/3 1.0/s, 3 in flight, 1 held 0:00:01",
        "records 2/3 1.3/s, 3 in flight, 2 held 0:00:01",
    ]
    assert drawn(terminal)[-1] == "records 3/3 1.5/s, 0 in flight 0:00:02"
    assert written(terminal).endswith("\n\x1b[?25h")


async def test_what_happens_seldom_is_told_when_it_happened(terminal: Console) -> None:
    """Retries, timeouts and handled failures; the total may be unknown."""
    played = Played()
    shown = show_progress(played, description="pages", every=1, console=terminal)

    async with shown:
        played.figures = Statistics(
            in_flight=2_000, held=3, calls=9_000, retries=4, timeouts=5, failures_handled=6
        )
        await anyio.sleep(1.5)

    assert drawn(terminal)[-1] == (
        "pages 6999/? 4,666.0/s, 2,000 in flight, 3 held, 4 retried, 5 timed out, 6 handled 0:00:01"
    )


async def test_what_is_printed_stands_above_the_bar(terminal: Console) -> None:
    """Markup is left to whoever prints."""
    async with show_progress(Played(), 1, console=terminal):
        terminal.print("half-way")

    first, *_, last = drawn(terminal)
    assert (first, last) == 2 * ("records 0/1 0.0/s, 0 in flight 0:00:00",)
    assert "half-way" in drawn(terminal)


async def test_a_log_gets_one_line_at_the_end(open_sleeping: Any, log: Console) -> None:
    """However narrow it is."""
    async with (
        open_sleeping(1, 2) as results,
        show_progress(results, 2, description="[bold]pages[/bold]", console=log),
    ):
        await read_all(results)
        during = written(log)

    assert during == ""
    assert written(log) == "pages: 2 of 2 done in 2.0 s, 1.0/s, 0 in flight\n"


async def test_nothing_is_done_in_no_time(log: Console) -> None:
    """A body that is over at once has no pace."""
    async with show_progress(Played(), console=log):
        pass

    assert written(log) == "records: 0 done in 0.0 s, 0.0/s, 0 in flight\n"


async def test_retries_are_not_taken_for_records(open_sleeping: Any, log: Console) -> None:
    """What was called three times is one record, and not done before the third."""
    retry = Retry(max_attempts=3, initial=1, attempt_timeout=1)

    async with (
        open_sleeping(0.5, 9, retry=retry, on_error="skip") as results,
        show_progress(results, console=log),
    ):
        await read_all(results)

    assert written(log) == "records: 2 done in 6.0 s, 0.3/s, 0 in flight, 2 retried, 1 handled\n"


async def test_the_bar_never_goes_back(terminal: Console) -> None:
    """Records that wait for their keys are undecided, and were not called."""
    played = Played(calls=3, in_flight=0)

    async with show_progress(played, 9, every=1, console=terminal):
        played.figures = Statistics(calls=4, in_flight=6)
        await anyio.sleep(1.5)

    assert drawn(terminal)[-1] == "records 3/9 2.0/s, 6 in flight 0:00:01"


async def test_by_key_all_are_done_in_the_end(open_sleeping: Any, log: Console) -> None:
    """Then none waits for its key any more."""
    async with (
        open_sleeping(1, 1, 1, mode="key-ordered", key=lambda _: "one") as results,
        show_progress(results, 3, console=log),
    ):
        await read_all(results)

    assert written(log) == "records: 3 of 3 done in 3.0 s, 1.0/s, 0 in flight\n"


async def test_a_failed_operator_leaves_the_figures_of_the_last_refresh(
    open_sleeping: Any, log: Console
) -> None:
    """What was cut off is not taken for done; and the error comes out plainly, in no group."""
    async with open_sleeping(1, 9, 2, mode="unordered", timeout=3) as results:
        with pytest.raises(CallTimedOut, match="value 9"):
            async with show_progress(results, 3, every=0.8, console=log):
                await read_all(results)

    assert written(log) == "records: 2 of 3 done in 3.0 s, 0.7/s, 1 in flight\n"


async def test_leaving_early_takes_no_time(terminal: Console) -> None:
    """Nobody waits for the next refresh; and a cancelled body is a cancelled body."""
    with anyio.move_on_after(0.5) as scope:
        async with show_progress(Played(), every=100, console=terminal):
            await anyio.sleep_forever()

    assert (scope.cancelled_caught, seconds_now()) == (True, 0.5)


async def test_an_error_in_drawing_leaves_the_body_alone(log: Console) -> None:
    """It comes out on leaving, and nobody looks any more."""
    played = Played()
    reached: list[float] = []

    async def body() -> None:
        async with show_progress(played, every=1, console=log):
            played.trouble = ZeroDivisionError("of no account")
            await anyio.sleep(5)
            reached.append(seconds_now())

    with pytest.raises(ZeroDivisionError):
        await body()

    assert reached == [5]


async def test_an_error_in_the_last_drawing_comes_out(terminal: Console) -> None:
    """The cursor is there again."""
    played = Played()

    with pytest.raises(ZeroDivisionError):
        async with show_progress(played, every=1, console=terminal):
            played.trouble = ZeroDivisionError("of no account")

    assert written(terminal).endswith("\x1b[?25h")


async def test_an_error_in_drawing_is_a_note_on_that_of_the_body(terminal: Console) -> None:
    """The one of the body comes first, and the cursor is there again."""
    played = Played()

    async def body() -> None:
        async with show_progress(played, every=1, console=terminal):
            played.trouble = ZeroDivisionError("of no account")
            await anyio.sleep(5)
            raise KeyError("x")

    with pytest.raises(KeyError) as caught:
        await body()

    assert caught.value.__notes__ == [
        "Watching the operator raised, too: ZeroDivisionError('of no account')"
    ]
    assert written(terminal).endswith("\x1b[?25h")


async def test_a_context_is_entered_once(log: Console) -> None:
    """A second entry says what to do instead."""
    shown = show_progress(Played(), console=log)
    async with shown:
        with pytest.raises(RuntimeError, match=r"entered before: an operator is watched by a new"):
            await shown.__aenter__()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"total": -1},
            r"total must be a whole number >= 0, or None .*, got -1 \(int\)",
        ),
        ({"total": True}, "total must be"),
        ({"every": 0}, "every must be a finite number of seconds > 0, got 0"),
        (
            {"console": "stderr"},
            r"console must be a Console of rich, or None, got 'stderr' \(str\)",
        ),
    ],
)
async def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    """At the door, before anything is entered."""
    with pytest.raises(InvalidConfig, match=message):
        show_progress(Played(), **arguments)


async def test_without_rich_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else needs it."""
    monkeypatch.delitem(sys.modules, "asyncwait.backends.watching._bar", raising=False)
    monkeypatch.setitem(sys.modules, "rich.console", None)

    with pytest.raises(MissingExtra, match=r"rich is not installed.*asyncwait\[progress\]"):
        show_progress(Played())


async def test_standard_error_is_where_it_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output is for results."""
    async with show_progress(Played()):
        pass

    assert capsys.readouterr() == ("", "records: 0 done in 0.0 s, 0.0/s, 0 in flight\n")
