"""A Spark cluster of its own on this machine, with workers that can be killed.

As a script, `python standalone.py MASTER FOLDER`, it is a job whose rows and figures go to files.
"""

import asyncio
import contextlib
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from asyncwait.backends.java import find_java

_START_WITHIN = 300.0
_NO_VECTOR = """\
#!/bin/sh
# Trimmed runtimes have no such module, which Spark asks for, and only its machine learning uses.
# What lives for seconds is compiled in a hurry, as in an embedded Spark.
n=$#
while [ "$n" -gt 0 ]; do
    [ "$1" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$1"
    shift
    n=$((n - 1))
done
exec "{java}" -XX:TieredStopAtLevel=1 -XX:+UseSerialGC "$@"
"""


class Cluster:
    def __init__(self, url: str, workers: list[subprocess.Popen[bytes]]) -> None:
        self.url = url
        self._workers = workers

    def kill_worker(self) -> None:
        end(self._workers.pop())


def end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Generator[Cluster]:
    environment = os.environ | {
        "JAVA_HOME": str(_java_home(folder)),
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SCALA_VERSION": "2.13",  # else it looks for folders of its own build
    }
    with ExitStack() as ending:

        def start(name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
            jars = str(Path(pyspark.__file__).parent / "jars" / "*")
            java = str(Path(environment["JAVA_HOME"]) / "bin" / "java")
            command = [java, "-Xmx512m", "-cp", jars, f"org.apache.spark.deploy.{kind}"]
            with (folder / f"{name}.log").open("wb") as log:
                process = subprocess.Popen(
                    [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    process_group=0,
                )
            ending.callback(end, process)
            return process

        port = free_port()
        url = f"spark://127.0.0.1:{port}"
        start("master", "master.Master", "--port", str(port))
        await_daemon(lambda: is_open(port), folder / "master.log")
        given = ("--cores", "1", "--memory", "1g", "--work-dir", str(folder / "work"), url)
        names = [f"worker-{number}" for number in range(workers)]
        running = [start(name, "worker.Worker", *given) for name in names]
        for name in names:
            log = folder / f"{name}.log"
            await_daemon(lambda log=log: b"Successfully registered" in log.read_bytes(), log)  # type: ignore[misc]
        yield Cluster(url, running)


def _java_home(folder: Path) -> Path:
    java = folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(_NO_VECTOR.replace("{java}", str(find_java("Spark", "spark").executable)))
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return java.parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def await_daemon(is_there: Callable[[], bool], log: Path) -> None:
    until = time.monotonic() + _START_WITHIN
    while not is_there():
        assert time.monotonic() < until, log.read_text()
        time.sleep(0.05)  # Daemons of another process tell nobody that they are up.


def job(master: str, folder: Path) -> None:
    from asyncwait.backends.journal import Journal
    from asyncwait.backends.spark import Progress, embedded_spark, ordered_wait

    calls = folder / "calls"

    class Fetch:
        async def __call__(self, value: int) -> tuple[int]:
            await asyncio.sleep(0.02)
            with calls.open("a") as notes:
                notes.write(f"{value}\n")
            return (2 * value,)

    session = embedded_spark(master).session
    df = session.range(0, 1000, 1, 2)
    journal = Journal(str(folder / "journal"), "standalone", "1")
    with Progress(1000, session=session, show=False) as progress:
        out = ordered_wait(
            df, Fetch, "twice long", columns="id", capacity=5, journal=journal, progress=progress
        )
        rows = [(row.id, row.twice) for row in out.collect()]
    (folder / "summary").write_text(progress.summary())
    (folder / "rows").write_text(repr(rows))


if __name__ == "__main__":
    job(sys.argv[1], Path(sys.argv[2]))
