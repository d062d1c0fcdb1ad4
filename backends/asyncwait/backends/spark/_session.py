"""A Spark session that starts on any machine: this process, a JVM of its own, two worker slots."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from asyncwait.backends.java import find_java
from asyncwait.backends.spark._gateway import Jvm, SparkNotStarted, start_jvm, tail
from asyncwait.spec import InvalidConfig, MissingExtra
from asyncwait.spec.checks import require_posix
from asyncwait.spec.texts import joined, one_line

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_OLDEST_PYSPARK = (4, 1)  # the first that partitions by a given number
_LONGEST_SOCKET_PATH = 100  # the least that any system allows a unix socket is 104, with its NUL
_SOCKET_NAME = "/.00000000-0000-0000-0000-000000000000.sock"
_PREFIX = "asyncwait-"
_FOLDER_NAME = f"/{_PREFIX}00000000"


class EmbeddedSpark:
    """The one embedded session of this process and its JVM.

    Attributes:
        session: the Spark session.
        master: the master with which it was started, for example `local[2]`.
    """

    def __init__(self, session: "SparkSession", master: str, jvm: Jvm, undo: ExitStack) -> None:
        self.session = session
        self.master = master
        self._jvm = jvm
        self._undo = undo

    def log(self) -> str:
        """Return the end of the output of the JVM and the Python workers so far."""
        return tail(self._jvm.log)

    def stop(self) -> None:
        """Stop the session, end the JVM and remove all their files. May be called again."""
        global _running  # noqa: PLW0603 - PySpark allows one session per process
        atexit.unregister(self.stop)
        if _running is self:
            _running = None
        self._undo.close()


_running: EmbeddedSpark | None = None
_lock = threading.Lock()


def embedded_spark(master: str = "local[2]") -> EmbeddedSpark:
    """Return this process's embedded Spark; the first call starts it (5 to 10 seconds).

    It lives until `stop` or the end of the process. A failed task is not repeated.

    Args:
        master: `local[n]`, where n is the number of concurrent partitions; or the address of a
            cluster on this machine, which reaches this process at 127.0.0.1.

    Raises:
        NeedsPosix: this is Windows; give the operators a session of your own there.
        MissingExtra: pyspark is not installed.
        MissingJava: no Java runtime is usable.
        SparkNotStarted: the JVM did not start, or this process has another Spark session.
    """
    global _running  # noqa: PLW0603 - PySpark allows one session per process
    with _lock:
        if _running is None:
            _running = _start(master)
            atexit.register(_running.stop)
        if _running.master != master:
            raise SparkNotStarted(
                f"the embedded Spark runs as {_running.master}, not {master}; stop it first"
            )
        return _running


def _start(master: str) -> EmbeddedSpark:
    require_posix("the embedded Spark")
    require_pyspark()
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:  # noqa: SLF001 - there is no public way
        raise SparkNotStarted("this process has a Spark session already; stop that first")
    java = find_java("Spark", "spark")
    with ExitStack() as undo:
        folder = _short_folder()
        undo.callback(shutil.rmtree, folder, ignore_errors=True)
        with _environment_of(worker_environment()):
            jvm = start_jvm(java, _configuration(master, folder), folder)
        undo.callback(jvm.stop)
        session = _connect(SparkContext, jvm, undo)
        return EmbeddedSpark(session, master, jvm, undo.pop_all())


def require_pyspark() -> None:
    """Refuse a missing or too old PySpark.

    Raises:
        MissingExtra: PySpark is not installed, or too old.
    """
    try:
        import pyarrow as pa  # noqa: F401 - PySpark alone does not bring it
        import pyspark.sql
    except ImportError as error:
        raise MissingExtra(error.name or "pyspark", "spark") from error
    major, minor = map(int, pyspark.__version__.split(".")[:2])
    if (major, minor) < _OLDEST_PYSPARK:
        raise MissingExtra("pyspark 4.1 or newer", "spark")


def require_workers(session: Any) -> None:
    """Refuse a session of this machine whose workers lack pyarrow: Spark takes a minute for it.

    Args:
        session: any session; workers on other machines are unknown before a task runs.

    Raises:
        InvalidConfig: the workers lack pyarrow.
    """
    context = getattr(session, "sparkContext", None)
    if context is None or not context.master.startswith("local"):
        return
    python: str = context.pythonExec
    if shutil.which(python) != sys.executable and not _has_arrow(python):
        raise InvalidConfig(
            f"df: the workers of its session run {one_line(python)}, which has no pyarrow; before "
            "the session is made: os.environ['PYSPARK_PYTHON'] = sys.executable"
        )


def master_of(session: Any) -> str | None:
    """Return the master of a session; None on Connect to a server that others started."""
    if (context := getattr(session, "sparkContext", None)) is not None:
        return str(context.master)
    is_ours = "SPARK_LOCAL_REMOTE" in os.environ  # PySpark's note that it has started the server
    return session.conf.get("spark.master", None) if is_ours else None


@lru_cache
def _has_arrow(python: str) -> bool:
    with suppress(OSError):
        asked = subprocess.run([python, "-c", "import pyarrow"], capture_output=True, check=False)
        return asked.returncode == 0
    return False


def _short_folder() -> Path:
    """Make a folder for all files of the session, short enough for sockets if possible."""
    room = _LONGEST_SOCKET_PATH - len(_SOCKET_NAME) - len(_FOLDER_NAME)
    usual = tempfile.gettempdir()
    base = "/tmp" if len(os.fsencode(usual)) > room and os.path.isdir("/tmp") else usual  # noqa: PTH112, S108
    return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=base)).resolve()


def _configuration(master: str, folder: Path) -> dict[str, str]:
    sockets = len(os.fsencode(folder)) + len(_SOCKET_NAME) <= _LONGEST_SOCKET_PATH
    return {
        "spark.master": master,
        "spark.app.name": "asyncwait",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # A run ends before a slower, better compiler would save time.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.jars.ivy": str(folder / "ivy"),  # otherwise it requires a home folder
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        # The plan that is written is the plan that runs: nothing merges partitions.
        "spark.sql.adaptive.enabled": "false",
        "spark.speculation": "false",
        "spark.python.worker.reuse": "true",
        # Without: 40 ms per task in delayed acknowledgements, and 10 MB of rows under way.
        "spark.python.unix.domain.socket.enabled": str(sockets).lower(),
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def worker_environment() -> dict[str, str]:
    """Return the variables that let the Python workers import what this process can import."""
    here = {sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    paths = [os.path.abspath(path) for path in sys.path]  # noqa: PTH100 - "" is the current folder
    zipped = f"python{sys.version_info.major}{sys.version_info.minor}.zip"
    wanted = [
        path
        for path in dict.fromkeys(paths)
        if path not in here and not path.endswith(("lib-dynload", zipped))
    ]
    return {"PYTHONPATH": os.pathsep.join(wanted)}


@contextmanager
def _environment_of(changes: dict[str, str]) -> Generator[None]:
    """Set variables of this process for a while, and hide those of another Spark."""
    hidden = {k: v for k, v in os.environ.items() if k.startswith(("SPARK_", "PYSPARK_"))}
    before = hidden | {k: os.environ[k] for k in changes if k in os.environ}
    for name in hidden:
        del os.environ[name]
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in [k for k in os.environ if k.startswith(("SPARK_", "PYSPARK_")) or k in changes]:
            del os.environ[name]
        os.environ.update(before)


def _connect(context_class: "type[SparkContext]", jvm: Jvm, undo: ExitStack) -> "SparkSession":
    from py4j.protocol import Py4JError
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    undo.callback(_forget_gateway, context_class)
    _forget_gateway(context_class)  # an earlier session's variable would replace this one
    undo.callback(sys.path.__setitem__, slice(None), list(sys.path))  # it adds a folder
    undo.callback(_restore_interrupt, signal.getsignal(signal.SIGINT))
    python = {"PYSPARK_PYTHON": sys.executable}  # otherwise the workers run the python3 of PATH
    with _environment_of({**jvm.environment, **python}):
        gateway = launch_gateway()
        undo.callback(gateway.shutdown)
        _log_in(gateway)
        try:
            session = SparkSession(context_class(gateway=gateway))
        except Py4JError as error:
            raise SparkNotStarted(joined([f"Spark did not start: {error}"])) from None
    undo.callback(session.stop)
    return session


def _log_in(gateway: "JavaGateway") -> None:
    """Give Hadoop a user name if the system has none for this process, as in many containers."""
    try:
        import pwd

        pwd.getpwuid(os.getuid())
    except KeyError:
        users = gateway.jvm.org.apache.hadoop.security.UserGroupInformation
        users.setLoginUser(users.createRemoteUser("asyncwait"))


def _forget_gateway(context_class: "type[SparkContext]") -> None:
    context_class._gateway = None  # noqa: SLF001 - PySpark keeps its JVM for ever otherwise
    context_class._jvm = None  # noqa: SLF001 - the same


def _restore_interrupt(handler: object) -> None:
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]
