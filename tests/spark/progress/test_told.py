"""What is told of a job, where, and to where its tasks are asked to report."""

import re
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import watched
from progress_reports import connected, message, wait
from remains import wait_until
from rich.console import Console
from watched import OF_OPERATORS, Collected, drawn, written

from asyncwait.backends.spark.progress import Progress, TaskFigures, TaskName, _progress
from asyncwait.backends.spark.progress._progress import Reach, reach_of
from asyncwait.spec import InvalidConfig

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


# What is told


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


def test_what_takes_no_metrics_is_refused() -> None:
    wrong: Any = {"meter": "tests"}
    with pytest.raises(InvalidConfig, match=r"^meter must be what `get_meter"):
        Progress(**wrong)
    with pytest.raises(InvalidConfig, match=r"^attributes must be None without `meter`"):
        Progress(attributes={"job": "fetch"})
    wrong = {"meter": Collected().meter, "attributes": {"job": None}}
    with pytest.raises(InvalidConfig, match=r"^attributes must be a mapping"):
        Progress(**wrong)


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


class Output:
    def __init__(self, shown: list[Any]) -> None:
        self._shown = shown

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def clear_output(self, *, wait: bool) -> None:
        self._shown.clear()


@pytest.mark.parametrize("has_widgets", [False, True])
def test_a_notebook_is_drawn_in(monkeypatch: pytest.MonkeyPatch, *, has_widgets: bool) -> None:
    shown: list[Any] = []
    modules: dict[str, dict[str, Any] | None] = {
        "IPython": {},
        "IPython.display": {"display": shown.append},
        "ipywidgets": {"Output": lambda: Output(shown)} if has_widgets else None,
    }
    for name, content in modules.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(content or {})
        monkeypatch.setitem(sys.modules, name, None if content is None else module)  # type: ignore[arg-type]

    console = Console(force_jupyter=True, width=120)
    with Progress(1, console=console) as progress, connected(progress) as stream:
        stream.sendall(message(state="ended", figures=TaskFigures(rows_in=1)))
        wait(progress, lambda figures: figures.tasks_done == 1)

    texts = [each._repr_mimebundle_((), ())["text/plain"] for each in shown]
    (text,) = [text for text in texts if text]
    assert re.search(r"1( of |/)1.* tasks: 1 done", text)
