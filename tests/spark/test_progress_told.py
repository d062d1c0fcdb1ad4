"""What is told of a job, where, and to where its tasks are asked to report."""

import gc
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from progress_reports import connected, message, wait
from remains import wait_until
from rich.console import Console

from asyncwait.backends.spark.progress import (
    JobFigures,
    Progress,
    TaskFigures,
    _tally,
)
from asyncwait.backends.spark.progress._reach import Reach, reach_of
from asyncwait.backends.spark.progress._words import last_line, line, summary

NEVER = 1e6


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No thread and no socket outlives a test: a socket that is forgotten warns, and fails it."""
    before = set(threading.enumerate())
    yield
    wait_until(lambda: set(threading.enumerate()) <= before)
    gc.collect()


@pytest.fixture
def log() -> Console:
    """What is no terminal."""
    return Console(file=io.StringIO(), force_terminal=False, width=120)


@pytest.fixture
def terminal() -> Console:
    """A terminal without colours."""
    return Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[float], None]]:
    """Time as the tally reads it, which the test sets."""
    now = [0.0]
    monkeypatch.setattr(_tally, "monotonic", lambda: now[0])

    def set_to(seconds: float) -> None:
        now[0] = seconds

    return set_to


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


# Where workers find the driver


class Context:
    """Stands for a SparkContext."""

    def __init__(self, master: str, **conf: str) -> None:
        self.master = master
        self._conf = {f"spark.driver.{name}": value for name, value in conf.items()}

    def getConf(self) -> dict[str, str]:  # noqa: N802 - as Spark has it
        """Return what it was started with."""
        return self._conf


class Session:
    """Stands for a SparkSession."""

    def __init__(self, context: Context) -> None:
        self.sparkContext = context


class Client:
    """Stands for what a session of Connect calls its server with."""

    def __init__(self, host: str) -> None:
        self.host = host


class RemoteSession:
    """Stands for one of Spark Connect."""

    __module__ = "pyspark.sql.connect.session"

    def __init__(self, host: str) -> None:
        self.client = Client(host)


@pytest.mark.parametrize(
    ("session", "reach"),
    [
        (Session(Context("local[2]", host="10.0.0.5")), Reach()),
        (Session(Context("spark://m:7077", host="10.0.0.5")), Reach("10.0.0.5", "10.0.0.5")),
        (
            Session(Context("k8s://m", host="driver.svc", bindAddress="0.0.0.0")),  # noqa: S104
            Reach("0.0.0.0", "driver.svc"),  # noqa: S104
        ),
        (Session(Context("spark://m:7077", host="[2001:db8::5]")), Reach(*2 * ("2001:db8::5",))),
        (RemoteSession("127.0.0.1"), Reach(is_certain=False)),
        (RemoteSession("no.such.host.invalid"), Reach(is_certain=False)),
    ],
    ids=["local", "cluster", "behind-a-service", "ipv6", "connect", "unknown-server"],
)
def test_workers_are_told_what_spark_tells_them(session: Any, reach: Reach) -> None:
    """The host of the driver; a local master's workers are here."""
    assert reach_of(session) == reach


@pytest.mark.parametrize(
    ("context", "session", "reach"),
    [
        (None, None, Reach()),
        (Context("spark://m:7077", host="10.0.0.5"), None, Reach("10.0.0.5", "10.0.0.5")),
        (None, RemoteSession("127.0.0.1"), Reach(is_certain=False)),
    ],
    ids=["none", "classic", "connect"],
)
def test_the_active_session_is_found(
    context: Any, session: Any, reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If PySpark was imported at all, and there is one."""
    spark_context = SimpleNamespace(_active_spark_context=context)
    spark_session = SimpleNamespace(getActiveSession=lambda: session)
    modules = {
        "pyspark": SimpleNamespace(SparkContext=spark_context),
        "pyspark.sql.connect.session": SimpleNamespace(SparkSession=spark_session),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)  # type: ignore[arg-type]

    assert reach_of(None) == reach
    for name in modules:
        monkeypatch.delitem(sys.modules, name)
    assert reach_of(None) == Reach()


def test_an_address_that_can_t_be_had_is_replaced_by_loopback() -> None:
    """The job runs all the same."""
    session: Any = Session(Context("spark://m:7077", host="192.0.2.1"))
    with Progress(session=session) as progress, connected(progress) as stream:
        stream.sendall(message(progress, state="ended"))

    assert progress.endpoint.host == "192.0.2.1"
    assert progress.figures().reported


# What is told

MUCH = JobFigures(
    rows_in=4_200,
    rows_out=3_900,
    rows_done=4_000,
    found=900,
    in_flight=200,
    calls=5_120,
    calls_in_vain=1_020,
    retries=100,
    timeouts=3,
    failures_handled=2,
    abandoned=1,
    errors=4,
    tasks_running=2,
    tasks_done=5,
    tasks_failed=1,
    attempts_failed=2,
    reported=True,
    total=5_000,
    seconds=62.04,
    rows_per_second=64.5,
    seconds_left=75.5,
)

LITTLE = JobFigures(
    rows_in=1, rows_out=1, rows_done=1, calls=1, errors=1, tasks_done=1, reported=True, seconds=2
)


def test_the_line_tells_what_there_is() -> None:
    """What happens seldom only when it happened; the time left only if it is known."""
    assert line(MUCH, "") == (
        "4,000 of 5,000 rows, 64.5/s, 0:01:16 left, 200 in flight, 900 found in the journal, "
        "100 retried, 3 timed out, 4 errors, tasks: 2 running, 5 done, 1 failed"
    )
    assert line(LITTLE, "") == "1 rows, 0.0/s, 0 in flight, 1 error, tasks: 1 done"
    assert line(JobFigures(), "so far") == "tasks unknown, so far"


def test_the_last_line_tells_how_long_it_took() -> None:
    """There is no time left."""
    assert last_line(MUCH, "") == (
        "rows: 4,000 of 5,000 done in 62.0 s, 64.5/s, 200 in flight, 900 found in the journal, "
        "100 retried, 3 timed out, 4 errors, tasks: 2 running, 5 done, 1 failed"
    )
    assert last_line(JobFigures(), "after all") == "tasks: unknown in 0.0 s, after all"


def test_the_summary_counts_what_has_failed() -> None:
    """It has cost something, too."""
    assert summary(MUCH, "") == (
        "rows    4,000 of 5,000 done, 4,200 in, 3,900 out\n"
        "calls   5,120 calls, of which 1,020 in 2 attempts that failed; "
        "900 rows found in the journal\n"
        "events  100 retries, 3 timeouts, 2 failures handled, 1 call abandoned, 4 errors\n"
        "tasks   2 running, 5 done, 1 failed\n"
        "time    62.0 s, 64.5 rows/s"
    )
    assert summary(LITTLE, "") == (
        "rows    1 done, 1 in, 1 out\n"
        "calls   1 call\n"
        "events  1 error\n"
        "tasks   1 done\n"
        "time    2.0 s, 0.0 rows/s"
    )


def test_a_log_gets_one_line_at_the_end(log: Console, clock: Callable[[float], None]) -> None:
    """If somebody wants it."""
    for show in (None, True):
        with Progress(3, show=show, console=log) as progress, connected(progress) as stream:
            stream.sendall(message(progress, figures=TaskFigures(rows_in=3, in_flight=1)))
            wait(progress, lambda figures: figures.reported)
            clock(4.0)
            stream.sendall(message(progress, number=1, state="ended"))
            assert written(log) == ""
        clock(0.0)

    assert written(log) == "rows: 0 of 3 done in 4.0 s, 0.0/s, 0 in flight, tasks: 1 done\n"


def test_a_bar_is_drawn_again_by_itself(
    terminal: Console, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At once, as time goes by, and on leaving, with the last figures."""
    from asyncwait.backends.spark.progress import _bar

    monkeypatch.setattr(_bar, "_EVERY", 0.001)
    with Progress(200, console=terminal) as progress, connected(progress) as stream:
        figures = TaskFigures(rows_in=50, in_flight=30, held=10, calls=51, retries=1)
        stream.sendall(message(progress, figures=figures))
        wait(progress, lambda figures: figures.reported)
        clock(2.0)
        told = "30 of 200 rows, 15.0/s, 0:00:11 left, 30 in flight, 1 retried, tasks: 1 running"
        wait_until(lambda: any(told in each for each in drawn(terminal)))
        clock(4.0)
        wait_until(lambda: "7.5/s" in written(terminal))
        ended = TaskFigures(rows_in=200, calls=201, retries=1)
        stream.sendall(message(progress, number=1, state="ended", figures=ended))

    assert drawn(terminal)[0] == "tasks unknown, none has reported 0:00:00"
    assert drawn(terminal)[-1] == (
        "200 of 200 rows, 50.0/s, 0 in flight, 1 retried, tasks: 1 done 0:00:04"
    )
    assert written(terminal).endswith("\n\x1b[?25h")


@pytest.mark.usefixtures("clock")
def test_connect_says_that_its_workers_may_not_reach_the_client(terminal: Console) -> None:
    """As long as none has reported."""
    session: Any = RemoteSession("127.0.0.1")
    with Progress(console=terminal, session=session) as progress:
        pass

    said = "unknown, none has reported; workers may not reach 127.0.0.1"
    assert drawn(terminal)[0] == f"tasks {said} 0:00:00"
    assert progress.summary() == f"tasks   {said}\ntime    0.0 s"
    with Progress(session=session) as progress, connected(progress) as stream:
        stream.sendall(message(progress, state="ended"))
    assert progress.summary().startswith("rows    0 done, 0 in, 0 out\ncalls   1 call\n")


def test_a_bar_that_breaks_leaves_the_job_alone(
    terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning tells of it afterwards."""

    def write(_: str) -> int:
        raise OSError("gone")

    def job() -> None:
        with Progress(console=terminal):
            monkeypatch.setattr(terminal.file, "write", write)

    with pytest.warns(RuntimeWarning, match=r"^the progress bar broke off: OSError\('gone'\)$"):
        job()


@contextmanager
def notebook(monkeypatch: pytest.MonkeyPatch, *installed: str) -> Iterator[list[Any]]:
    """Stand in for IPython; what is displayed is collected."""
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    shown: list[Any] = []

    class Output:
        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

        def clear_output(self, *, wait: bool) -> None:
            shown.clear()

    modules: dict[str, dict[str, Any]] = {
        "IPython": {},
        "IPython.display": {"display": shown.append},
        "ipywidgets": {"Output": Output},
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(content)
        absent = name == "ipywidgets" and name not in installed
        monkeypatch.setitem(sys.modules, name, None if absent else module)  # type: ignore[arg-type]
    yield shown


@pytest.mark.parametrize("installed", [(), ("ipywidgets",)], ids=["plain", "widgets"])
def test_a_notebook_is_drawn_in(monkeypatch: pytest.MonkeyPatch, installed: tuple[str]) -> None:
    """In a widget, or as a line at the end where there are none."""
    with notebook(monkeypatch, *installed) as shown:
        console = Console(force_jupyter=True, width=120)
        with Progress(1, console=console) as progress, connected(progress) as stream:
            stream.sendall(message(progress, state="ended", figures=TaskFigures(rows_in=1)))
            wait(progress, lambda figures: figures.tasks_done == 1)

    texts = [each._repr_mimebundle_((), ())["text/plain"] for each in shown]
    (text,) = [text for text in texts if text]
    assert re.search(r"1 of 1 .*tasks: 1 done", text)
