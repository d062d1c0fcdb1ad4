"""How a task reports: again and again, to its end, and never in the way of its work."""

import pickle
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import Any

import pytest
from progress_reports import FIRST, NEVER, SOON, Played, connected, message, wait
from remains import wait_until

from asyncwait.backends.spark.progress import (
    Endpoint,
    Progress,
    TaskFigures,
    TaskName,
    _progress,
    _reporting,
    reporting,
)
from asyncwait.spec import InvalidConfig, MissingExtra


def test_the_figures_of_all_tasks_arrive() -> None:
    one = Played(rows_in=30, rows_out=10, in_flight=20, held=5, calls=40, retries=10)
    two = Played(rows_in=7, rows_out=7, calls=8, timeouts=1, errors=1, failures_handled=2)

    with Progress() as progress, reporting(progress.endpoint, FIRST, one, every=NEVER):
        with reporting(progress.endpoint, TaskName(1, 1, 0), two, every=NEVER):
            both = wait(progress, lambda figures: figures.calls == 48)
        ended = wait(progress, lambda figures: figures.tasks_done == 1)
        one.figures = TaskFigures(rows_in=50, rows_out=50, calls=60, retries=10, abandoned=3)

    assert (both.tasks_running, both.tasks_done, both.in_flight) == (2, 0, 20)
    assert (both.rows_in, both.rows_done, both.rows_out) == (37, 22, 17)
    assert (both.retries, both.timeouts, both.errors, both.failures_handled) == (10, 1, 1, 2)
    assert (ended.tasks_running, ended.tasks_done) == (1, 1)
    last = progress.figures()
    assert (last.calls, last.rows_done, last.in_flight, last.abandoned) == (68, 57, 0, 3)
    assert (last.tasks_running, last.tasks_done, last.attempts_failed) == (0, 2, 0)


@pytest.mark.parametrize(
    ("error", "ended", "failed"), [(None, 1, 0), (GeneratorExit, 1, 0), (LookupError, 0, 1)]
)
def test_how_an_attempt_ended_is_told(
    error: type[BaseException] | None, ended: int, failed: int
) -> None:
    with Progress() as progress, ExitStack() as expecting:
        if error is not None:
            expecting.enter_context(pytest.raises(error))
        with reporting(progress.endpoint, FIRST, Played(calls=1), every=NEVER):
            if error is not None:
                raise error

    last = progress.figures()
    assert (last.tasks_done, last.attempts_failed) == (ended, failed)


# Never in the way of a task


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A last report has a tenth of a second, so that a busy machine has the rest of the second."""
    assert _reporting._FAREWELL < 1
    monkeypatch.setattr(_reporting, "_FAREWELL", 0.1)


def left_in_time(endpoint: Endpoint, played: Played | None = None) -> bool:
    began = monotonic()
    played = played or Played()
    with reporting(endpoint, FIRST, played):
        assert played.asked.wait(SOON)
    return monotonic() - began < 1.0


@pytest.mark.usefixtures("hurried")
def test_a_driver_that_is_gone_is_no_error() -> None:
    with Progress() as progress:
        endpoint = progress.endpoint

    assert left_in_time(endpoint)


def test_a_driver_is_taken_for_gone_after_some_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reporting, "_LONGEST_PAUSE", 0.0)
    played = Played()
    with Progress() as progress:
        endpoint = progress.endpoint

    before = threading.active_count()
    with reporting(endpoint, FIRST, played, every=0.0001):
        wait_until(lambda: threading.active_count() == before)

    assert played.times == 8


@pytest.mark.usefixtures("hurried")
def test_a_driver_that_reads_nothing_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_reporting, "packed", lambda report: bytes(1 << 26))
    monkeypatch.setattr(_reporting, "_PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as driver:
        assert left_in_time(Endpoint("127.0.0.1", driver.getsockname()[1], b""))
        wait_until(lambda: "asyncwait-reporting" not in {t.name for t in threading.enumerate()})


@pytest.mark.usefixtures("hurried")
def test_figures_that_block_delay_nothing() -> None:
    played = Played()
    played.may_answer.clear()
    with Progress() as progress:
        assert left_in_time(progress.endpoint, played)
        played.may_answer.set()


def test_figures_that_raise_are_told_as_they_were() -> None:
    played = Played(calls=3)

    def figures() -> TaskFigures:
        if played.asked.is_set():
            raise RuntimeError
        return played()

    with Progress() as progress, reporting(progress.endpoint, FIRST, figures, every=NEVER):
        wait(progress, lambda figures: figures.calls == 3)

    assert (progress.figures().tasks_done, progress.figures().calls) == (1, 3)


def test_a_process_without_room_for_a_thread_runs_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Progress() as progress, monkeypatch.context() as patched:

        def start(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        patched.setattr(threading.Thread, "start", start)
        with reporting(progress.endpoint, FIRST, Played()):
            pass

    assert not progress.figures().reported


# Leaving


def test_the_last_reports_are_waited_for() -> None:
    played = Played(calls=1)
    released = threading.Event()

    def task() -> None:
        with reporting(progress.endpoint, FIRST, played, every=NEVER):
            released.wait(SOON)
            played.figures = TaskFigures(calls=2)

    with Progress() as progress:
        thread = threading.Thread(target=task)
        thread.start()
        wait(progress, lambda figures: figures.tasks_running == 1)
        released.set()
    thread.join()

    assert (progress.figures().calls, progress.figures().tasks_done) == (2, 1)


@pytest.mark.parametrize(("error", "grace"), [(None, 0.01), (KeyboardInterrupt, NEVER)])
def test_tasks_that_say_nothing_are_not_waited_for_long(
    error: type[BaseException] | None, grace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_progress, "_GRACE", grace)
    with ExitStack() as expecting, ExitStack() as streams:
        if error is not None:
            expecting.enter_context(pytest.raises(error))
        with Progress() as progress:
            streams.enter_context(connected(progress)).sendall(message())
            wait(progress, lambda figures: figures.tasks_running == 1)
            if error is not None:
                raise error

    figures = progress.figures()
    assert (figures.tasks_running, figures.attempts_failed) == (1, 0)


def test_time_stands_still_after_leaving(clock: Callable[[float], None]) -> None:
    with Progress(40) as progress:
        clock(10.0)
        with connected(progress) as stream:
            stream.sendall(message(figures=TaskFigures(rows_in=30)))
            wait(progress, lambda figures: figures.reported)
            clock(15.0)
            figures = progress.figures()
            stream.sendall(message(number=1, state="ended"))
            wait(progress, lambda figures: figures.tasks_done == 1)
    clock(99.0)

    assert (figures.seconds, figures.rows_per_second) == (5.0, 6.0)
    assert (figures.total, figures.seconds_left) == (40, pytest.approx(10 / 6))
    assert progress.figures().seconds == 5.0


# Its arguments


@pytest.mark.parametrize(
    ("name", "value"),
    [("total", -1), ("show", "yes"), ("console", sys.stderr), ("session", object())],
)
def test_wrong_arguments_are_refused_at_the_door(name: str, value: Any) -> None:
    wrong: Any = {name: value}
    with pytest.raises(InvalidConfig, match=rf"^{name} must be "), Progress(**wrong):
        pass


def test_it_is_entered_once() -> None:
    progress = Progress()
    with pytest.raises(RuntimeError, match=r"^there is no endpoint yet"):
        _ = progress.endpoint
    with progress:
        pass
    with pytest.raises(RuntimeError, match=r"^entered before"):
        progress.__enter__()


def test_an_endpoint_travels_and_keeps_its_secret() -> None:
    with Progress() as progress:
        endpoint = progress.endpoint

    assert pickle.loads(pickle.dumps(endpoint)) == endpoint  # noqa: S301 - of our own making
    assert repr(endpoint) == f"Endpoint('127.0.0.1', {endpoint.port})"
    assert len(endpoint.secret) == 16


def test_rich_is_needed_where_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "asyncwait.backends.watching._bar", raising=False)
    monkeypatch.setitem(sys.modules, "rich.console", None)

    with pytest.raises(MissingExtra) as raised:
        Progress(show=True)
    assert (raised.value.needs, raised.value.extra) == ("rich", "progress")
    for show in (None, False):
        with Progress(show=show) as progress:
            pass
        assert progress.summary().startswith("tasks   unknown")
