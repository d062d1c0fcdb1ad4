"""The driver's side: a server for the reports of tasks, and a bar while they run."""

import secrets
import socket
import sys
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from hmac import compare_digest
from threading import Event, Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from asyncwait.backends.spark.progress._figures import JobFigures, summary, words
from asyncwait.backends.spark.progress._tally import Tally
from asyncwait.backends.spark.progress._wire import SECRET, Endpoint, Link, Report, Server
from asyncwait.backends.watching._figures import Shown
from asyncwait.backends.watching._metrics import export_of
from asyncwait.backends.watching._progress import bar_of
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.texts import shown

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from pyspark.sql import SparkSession
    from rich.console import Console

    from asyncwait.backends.watching._bar import Bar
    from asyncwait.backends.watching._instruments import Export

LOOPBACK = "127.0.0.1"


class Reach(Struct, frozen=True):
    """The addresses at which workers reach this process.

    Args:
        is_certain: workers reach it; Spark itself relies on the address.
    """

    bind: str = LOOPBACK
    host: str = LOOPBACK
    is_certain: bool = True


def reach_of(session: Any) -> Reach:
    """Return the addresses at which the workers of a session can reach this process.

    Args:
        session: of Spark; None for the active session, if there is one.
    """
    if session is None and (session := _active_session()) is None:
        return Reach()
    if type(session).__module__.startswith("pyspark.sql.connect"):
        return _on_the_way_to(session)
    if (context := getattr(session, "sparkContext", None)) is None:
        expected = "a SparkSession, or None for the active one"
        raise InvalidConfig.of("session", session, expected)
    if context.master.startswith("local"):
        return Reach()
    conf = context.getConf()
    host = conf.get("spark.driver.host", LOOPBACK)
    bind = conf.get("spark.driver.bindAddress", host)
    return Reach(bind.strip("[]"), host.strip("[]"))  # Spark writes IPv6 as URLs have it


def _active_session() -> Any:
    """Return the active session, or an object with its context, without importing Spark."""
    spark, connect = map(sys.modules.get, ("pyspark", "pyspark.sql.connect.session"))
    context = getattr(getattr(spark, "SparkContext", None), "_active_spark_context", None)
    if context is not None:
        return SimpleNamespace(sparkContext=context)
    return None if connect is None else connect.SparkSession.getActiveSession()


def _on_the_way_to(session: Any) -> Reach:
    """Return the address with which this machine calls the server; workers may be elsewhere."""
    try:
        server = session.client.host
        family, *_, where = socket.getaddrinfo(server, 15002, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:  # sends nothing
            probe.connect(where)
            address = probe.getsockname()[0]
    except (AttributeError, OSError):
        address = LOOPBACK
    return Reach(address, address, is_certain=False)


_GRACE = 1.0
"""Most seconds for the last reports of a job that is over."""


class Progress:
    """Shows the progress of a job while the body of the context runs, and its figures afterwards.

    The tasks report over TCP, to a port of this process that accepts only reports with a secret of
    this context. A terminal or a notebook shows a bar: rows done, their number per second,
    the time left, rows in flight, retries, timeouts, errors, and tasks. Elsewhere,
    as in the log of a batch job, one line is written at the end. Spark's own progress bar
    interferes, unless `spark.ui.showConsoleProgress` is false.

    If workers can't reach this process, as may happen on Spark Connect, the figures are unknown,
    and the bar says so; the job runs all the same.

    Args:
        total: number of rows of the input; None if unknown.
        show: whether to draw; None to draw if rich is installed.
        console: a Console of rich to draw on; None for standard error, or the notebook.
        session: of Spark, whose workers report; None for the active session on entering.
        meter: of OpenTelemetry, as `get_meter(name)` returns it: the figures of all tasks are
            metrics while the body runs, under the names that
            `asyncwait.backends.watching.export_metrics` uses, except high-water marks, the oldest
            record, refreshes and evictions. None for no metrics.
        attributes: attributes of each metric, for example `{"job": "fetch"}`.

    Raises:
        InvalidConfig: an argument is invalid.
        MissingExtra: rich is not installed, and `show` or `console` requires it; or OpenTelemetry
            is not, and `meter` is set.
        RuntimeError: it is entered again.
    """

    def __init__(
        self,
        total: int | None = None,
        *,
        show: bool | None = None,
        console: "Console | None" = None,
        session: "SparkSession | None" = None,
        meter: "Meter | None" = None,
        attributes: Mapping[str, str | bool | float] | None = None,
    ) -> None:
        if show is not None and not isinstance(show, bool):
            raise InvalidConfig.of("show", show, "True, False, or None")
        self._export = _export_for(self.figures, attributes, meter)
        self._total = total
        self._bar = self._drawn(console, show=show)
        self._session = session
        self._tally = Tally(total)
        self._reach = Reach()
        self._endpoint: Endpoint | None = None
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        if self._endpoint is not None:
            raise RuntimeError("entered before: a job is watched by a new Progress each time")
        self._reach = reach_of(self._session)
        self._tally = Tally(self._total)
        secret = secrets.token_bytes(SECRET)
        with ExitStack() as undo:
            if self._export is not None:
                self._export.begin()
                undo.callback(self._export.end, None)
            server = self._listen(secret)
            undo.callback(self._tally.end)
            undo.callback(server.close)
            self._endpoint = Endpoint(self._reach.host, server.port, secret)
            if self._bar is not None:
                self._bar.begin()
            self._undo = undo.pop_all()
        return self

    def __exit__(self, _: object, exc: BaseException | None, __: object) -> None:
        try:
            if exc is None or isinstance(exc, Exception):
                self._tally.wait_for(lambda figures: not figures.tasks_running, _GRACE)
        finally:
            self._undo.close()
            if self._bar is not None:
                self._bar.end()

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint to which the tasks of one operator report; for `reporting`, in workers.

        Each operator has its own endpoint, so that rows of several operators are not mixed.

        Raises:
            RuntimeError: the context was not entered.
        """
        if self._endpoint is None:
            raise RuntimeError("there is no endpoint yet; enter first: `with Progress() as ...:`")
        return replace(self._endpoint, operator=secrets.token_bytes(8))

    def figures(self) -> JobFigures:
        """Return the present figures; after leaving, the last ones. For any thread."""
        return self._tally.figures()

    def summary(self) -> str:
        """Return the work and the cost of the job as a small table of text."""
        return summary(self.figures(), self._silence())

    def limits_kept(self, by: str) -> None:
        """Store the keeper of the limits of the job; an empty text means no limits."""
        self._tally.limits = by

    def _listen(self, secret: bytes) -> Server:
        """Return a server that workers can reach; a local server if that address is in use."""
        tally = self._tally

        def meet(given: bytes) -> Link | None:
            if not compare_digest(given, secret):
                return None
            link = object()

            def heard(payload: bytes) -> None:
                tally.heard(link, msgspec.msgpack.decode(payload, type=Report))

            return heard, lambda: tally.broken(link)

        try:
            return Server(self._reach.bind, meet, "asyncwait-progress")
        except OSError:
            self._reach = Reach(LOOPBACK, self._reach.host, is_certain=False)
            return Server(LOOPBACK, meet, "asyncwait-progress")

    def _drawn(self, console: "Console | None", *, show: bool | None) -> "Redrawn | None":
        try:
            bar = bar_of(self._shown, self._total, "rows", console)
        except MissingExtra:
            if show or (show is None and console is not None):
                raise
            return None
        return None if show is False else Redrawn(bar)

    def _shown(self) -> Shown:
        figures = self.figures()
        done = figures.rows_done if figures.reported else None
        return Shown(done, figures.seconds, words(figures, self._silence()))

    def _silence(self) -> str:
        if self._reach.is_certain:
            return "none has reported"
        return f"none has reported; workers may not reach {self._reach.host}"


def _export_for(read: Callable[[], JobFigures], attributes: Any, meter: Any) -> "Export | None":
    if meter is not None:
        return export_of(read, attributes, meter, anywhere=True)
    if attributes is not None:
        raise InvalidConfig.of("attributes", attributes, "None without `meter`")
    return None


_EVERY = 0.25
"""Seconds from one drawing to the next."""


class Redrawn:
    """A bar that a thread draws again and again.

    An error in drawing ends the bar, and becomes a warning at the end.
    """

    def __init__(self, bar: "Bar") -> None:
        self._bar = bar
        self._is_over = Event()
        self._trouble: Exception | None = None
        self._thread = Thread(target=self._redraw, name="asyncwait-bar", daemon=True)

    def begin(self) -> None:
        self._bar.begin()
        self._thread.start()

    def end(self) -> None:
        self._is_over.set()
        self._thread.join()
        self._try(self._bar.end, None)
        if self._trouble is not None:
            text = f"the progress bar broke off: {shown(self._trouble)}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _redraw(self) -> None:
        while self._trouble is None and not self._is_over.wait(_EVERY):
            self._try(self._bar.look)

    def _try(self, act: Callable[..., None], *args: None) -> None:
        try:
            act(*args)
        except Exception as error:
            self._trouble = self._trouble or error
