"""The progress of a job, without Spark: reports by threads of this process over a real socket."""

import gc
import pickle
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
import watched
from msgspec.structs import replace
from remains import wait_until
from rich.console import Console
from watched import OF_OPERATORS, Collected, drawn, written

from asyncwait.backends.spark.progress import (
    Endpoint,
    JobFigures,
    Progress,
    TaskFigures,
    TaskName,
    _progress,
    _tally,
    _wire,
    reporting,
)
from asyncwait.backends.spark.progress._progress import Reach, reach_of
from asyncwait.backends.spark.progress._wire import LONGEST, Report, connect, packed
from asyncwait.spec import MissingExtra

SOON = 30.0
"""Seconds; a wait that takes so long has failed."""

NEVER = 1e6
"""Seconds, from one report to the next."""

FIRST = TaskName(1, 0, 0)


def wait(progress: Progress, is_so: Callable[[JobFigures], bool]) -> JobFigures:
    assert progress._tally.wait_for(is_so, SOON), progress.figures()
    return progress.figures()


def connected(progress: Progress) -> socket.socket:
    return connect(replace(progress.endpoint, host="127.0.0.1"), SOON)


def message(**changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "run": b"run",
        "number": 0,
        "state": "running",
        "name": FIRST,
        "figures": TaskFigures(calls=1),
    }
    return packed(Report(**fields | changes))


class Played:
    def __init__(self, **figures: int) -> None:
        self.figures = TaskFigures(**figures)
        self.asked = threading.Event()
        self.times = 0

    def __call__(self) -> TaskFigures:
        self.times += 1
        self.asked.set()
        return self.figures


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)
    gc.collect()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [0.0]
    monkeypatch.setattr(_tally, "monotonic", lambda: now[0])

    def set_to(seconds: float) -> None:
        now[0] = seconds

    return set_to


# Reports


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


def left_in_time(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a task ends in time; its last report has a tenth of a second, for busy machines."""
    assert _wire._FAREWELL < 1
    monkeypatch.setattr(_wire, "_FAREWELL", 0.1)
    played = Played()
    began = monotonic()
    with reporting(endpoint, FIRST, played):
        assert played.asked.wait(SOON)
    return monotonic() - began < 1.0


def test_a_driver_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with Progress() as progress:
        endpoint = progress.endpoint
    assert left_in_time(endpoint, monkeypatch)

    before = threading.active_count()
    with reporting(endpoint, FIRST, Played(), every=0.0001):
        wait_until(lambda: threading.active_count() == before)


def test_a_driver_that_reads_nothing_delays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wire, "packed", lambda report: bytes(1 << 26))
    monkeypatch.setattr(_wire, "_PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as driver:
        assert left_in_time(Endpoint("127.0.0.1", driver.getsockname()[1], b""), monkeypatch)
        wait_until(lambda: "asyncwait-reporting" not in {t.name for t in threading.enumerate()})


def test_figures_that_raise_are_told_as_they_were() -> None:
    played = Played(calls=3)

    def figures() -> TaskFigures:
        if played.asked.is_set():
            raise RuntimeError
        return played()

    with Progress() as progress, reporting(progress.endpoint, FIRST, figures, every=NEVER):
        wait(progress, lambda figures: figures.calls == 3)

    assert (progress.figures().tasks_done, progress.figures().calls) == (1, 3)


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


def test_tasks_that_say_nothing_are_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_progress, "_GRACE", 0.01)
    with ExitStack() as streams, Progress() as progress:
        streams.enter_context(connected(progress)).sendall(message())
        wait(progress, lambda figures: figures.tasks_running == 1)

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


# Connections


def hung_up(stream: socket.socket) -> bool:
    with suppress(ConnectionError):
        return stream.recv(1) == b""
    return True


def stranger(progress: Progress) -> socket.socket:
    return socket.create_connection(("127.0.0.1", progress.endpoint.port), SOON)


FOREIGN = [b"GET / HTTP/1.1\r\n\r\n", bytes(16), b"\xff" * 100_000]
WRONG = [bytes(4), b"\0\0\0\1\xc1", b"\0\0\0\5hello", (LONGEST + 1).to_bytes(4, "big")]


def test_what_is_no_report_ends_its_connection_alone() -> None:
    with Progress() as progress:
        sent = [(stranger, data + message()) for data in FOREIGN]
        for opened, data in [*sent, *((connected, data) for data in WRONG)]:
            with opened(progress) as stream:
                with suppress(ConnectionError):
                    stream.sendall(data)
                assert hung_up(stream)
        assert not progress.figures().reported
        with reporting(progress.endpoint, FIRST, Played(calls=1), every=NEVER):
            wait(progress, lambda figures: figures.calls == 1)


def test_silent_clients_don_t_keep_a_progress_open() -> None:
    with ExitStack() as clients:
        with Progress() as progress:
            silent = clients.enter_context(stranger(progress))
            begun = clients.enter_context(connected(progress))
            begun.sendall(message()[:7])
            began = monotonic()
        assert monotonic() - began < 1.0
        assert hung_up(silent)
        assert hung_up(begun)


def test_silence_ends_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wire, "_SILENCE", 0.0)
    with Progress() as progress, stranger(progress) as stream:
        assert hung_up(stream)


# Where workers find the driver


def context_of(master: str, **conf: str) -> Any:
    told = {f"spark.driver.{name}": value for name, value in conf.items()}
    return SimpleNamespace(master=master, getConf=lambda: told)


def session_of(*args: str, **conf: str) -> Any:
    return SimpleNamespace(sparkContext=context_of(*args, **conf))


class RemoteSession:
    __module__ = "pyspark.sql.connect.session"

    def __init__(self, host: str) -> None:
        self.client = SimpleNamespace(host=host)


CLUSTER = "spark://m:7077"


@pytest.mark.parametrize(
    ("session", "reach"),
    [
        (session_of("local[2]", host="10.0.0.5"), Reach()),
        (session_of(CLUSTER, host="10.0.0.5"), Reach("10.0.0.5", "10.0.0.5")),
        (
            session_of("k8s://m", host="driver.svc", bindAddress="0.0.0.0"),  # noqa: S104
            Reach("0.0.0.0", "driver.svc"),  # noqa: S104
        ),
        (session_of(CLUSTER, host="[2001:db8::5]"), Reach(*2 * ("2001:db8::5",))),
        (RemoteSession("127.0.0.1"), Reach(is_certain=False)),
        (RemoteSession("no.such.host.invalid"), Reach(is_certain=False)),
    ],
    ids=["local", "cluster", "behind-a-service", "ipv6", "connect", "unknown-server"],
)
def test_workers_are_told_what_spark_tells_them(session: Any, reach: Reach) -> None:
    assert reach_of(session) == reach


@pytest.mark.parametrize(
    ("context", "session", "reach"),
    [
        (None, None, Reach()),
        (context_of(CLUSTER, host="10.0.0.5"), None, Reach("10.0.0.5", "10.0.0.5")),
        (None, RemoteSession("127.0.0.1"), Reach(is_certain=False)),
    ],
    ids=["none", "classic", "connect"],
)
def test_the_active_session_is_found(
    context: Any, session: Any, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    modules: dict[str, Any] = {
        "pyspark": {"SparkContext": SimpleNamespace(_active_spark_context=context)},
        "pyspark.sql.connect.session": {
            "SparkSession": SimpleNamespace(getActiveSession=lambda: session)
        },
    }
    for name, content in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))  # type: ignore[arg-type]
    assert reach_of(None) == reach

    for name in modules:
        monkeypatch.delitem(sys.modules, name)
    assert reach_of(None) == Reach()


def test_an_address_that_can_t_be_had_is_replaced_by_loopback() -> None:
    session: Any = session_of(CLUSTER, host="192.0.2.1")
    with Progress(session=session) as progress, connected(progress) as stream:
        stream.sendall(message(state="ended"))

    assert progress.endpoint.host == "192.0.2.1"
    assert progress.figures().reported


# Bars, lines and metrics


def test_a_log_gets_one_line_at_the_end(clock: Callable[[float], None]) -> None:
    log = watched.log()
    for show in (False, None):
        with Progress(3, show=show, console=log) as progress, connected(progress) as stream:
            stream.sendall(message(figures=TaskFigures(rows_in=3, in_flight=1)))
            wait(progress, lambda figures: figures.reported)
            clock(4.0)
            stream.sendall(message(number=1, state="ended"))
            assert written(log) == ""
        clock(0.0)

    assert re.fullmatch(r"rows: 0 of 3 done in 4.0 s, .* 1 done\n", written(log))


COUNTED = {"calls.started": 18, "calls.batches": 4, "calls.retries": 6, "cache.hits": 8}
PRESENT = {"records.in_flight": 10, "elements.waiting": 2, "records.held": 4}


def test_figures_are_metrics_while_the_job_runs_and_what_was_counted_stays() -> None:
    collected = Collected()
    attributes = {"job": "fetch"}
    with (
        Progress(show=False, meter=collected.meter, attributes=attributes) as progress,
        connected(progress) as stream,
    ):
        one = TaskFigures(in_flight=5, held=2, waiting=1, calls=9, retries=3, batches=2, hits=4)
        stream.sendall(message(figures=one))
        stream.sendall(message(run=b"2", name=TaskName(1, 1, 0), figures=one))
        wait(progress, lambda figures: figures.tasks_running == 2)
        running = collected.figures(**attributes)
        stream.sendall(message(run=b"2", number=1, state="failed", figures=one))
        wait(progress, lambda figures: figures.hits == 4)
        assert collected.some("cache.hits", **attributes) == [8]
    after = collected.figures(**attributes)
    collected.provider.shutdown()

    for figures, expected in ((running, COUNTED | PRESENT), (after, COUNTED)):
        told = {name.partition(".")[2]: count for name, count in figures.items() if count}
        assert told == expected
    assert after.keys() == running.keys()


def test_each_metric_of_a_job_is_one_of_its_figures() -> None:
    collected = Collected()
    with Progress(show=False, meter=collected.meter):
        names = collected.figures().keys()
    collected.provider.shutdown()
    assert not names - OF_OPERATORS
    lacking = (
        "records.max_in_flight records.max_held records.oldest records.waiting_for_permits "
        "cache.refreshes cache.evictions"
    )
    assert {f"asyncwait.{name}" for name in lacking.split()} == OF_OPERATORS - names


def test_a_bar_is_drawn_again_by_itself(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = watched.terminal()
    monkeypatch.setattr(_progress, "_EVERY", 0.001)
    with Progress(200, console=terminal) as progress, connected(progress) as stream:
        figures = TaskFigures(rows_in=50, in_flight=30, held=10, calls=51, retries=1)
        stream.sendall(message(figures=figures))
        wait(progress, lambda figures: figures.reported)
        clock(2.0)
        for at, pace in ((2.0, "15.0/s"), (4.0, "7.5/s")):
            clock(at)
            wait_until(lambda pace=pace: f"30/200 {pace}" in written(terminal))  # type: ignore[misc]
        ended = TaskFigures(rows_in=200, calls=201, retries=1)
        stream.sendall(message(number=1, state="ended", figures=ended))

    assert drawn(terminal)[0] == "rows 0/200 tasks unknown, none has reported 0:00:00"
    last = "rows 200/200 50.0/s, 0 in flight, 1 retried, tasks: 1 done 0:00:04"
    assert drawn(terminal)[-1] == last
    assert written(terminal).endswith("\n\x1b[?25h")


@pytest.mark.usefixtures("clock")
def test_connect_says_that_its_workers_may_not_reach_the_client() -> None:
    terminal = watched.terminal()
    session: Any = RemoteSession("127.0.0.1")
    with Progress(console=terminal, session=session) as progress:
        pass

    said = "workers may not reach 127.0.0.1"
    assert said in drawn(terminal)[0]
    assert said in progress.summary()
    with Progress(session=session) as progress, connected(progress) as stream:
        stream.sendall(message(state="ended"))
    assert said not in progress.summary()


def test_a_bar_that_breaks_leaves_the_job_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = watched.terminal()

    def write(_: str) -> int:
        raise OSError("gone")

    def job() -> None:
        with Progress(console=terminal):
            monkeypatch.setattr(terminal.file, "write", write)

    with pytest.warns(RuntimeWarning, match=r"broke off: OSError\('gone'\)$"):
        job()


def test_a_notebook_without_widgets_is_written_in(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    for name, content in (("IPython", {}), ("IPython.display", {"display": shown.append})):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "ipywidgets", None)

    console = Console(force_jupyter=True, width=120)
    with Progress(1, console=console) as progress, connected(progress) as stream:
        stream.sendall(message(state="ended", figures=TaskFigures(rows_in=1)))
        wait(progress, lambda figures: figures.tasks_done == 1)

    texts = [each._repr_mimebundle_((), ())["text/plain"] for each in shown]
    (text,) = [text for text in texts if text]
    assert re.search(r"1( of |/)1.* tasks: 1 done", text)


# Arguments


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
