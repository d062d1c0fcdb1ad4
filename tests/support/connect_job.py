"""A job on a Connect server: python connect_job.py FOLDER; it prints what came of it."""

import os
import subprocess
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from standalone import await_daemon, end, free_port, is_open

from asyncwait.backends.java import find_java

_OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)


@contextmanager
def server(folder: Path) -> Generator[str]:
    home = Path(pyspark.__file__).parent
    port = free_port()
    settings = {
        "spark.master": "local[2]",
        "spark.app.name": "connect",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    command = [
        str(find_java("Spark", "spark").executable),
        "-Xmx1g",
        "-XX:+IgnoreUnrecognizedVMOptions",  # older ones do not know all of these
        "-Dio.netty.tryReflectionSetAccessible=true",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        *(f"--add-opens=java.base/{each}=ALL-UNNAMED" for each in _OPENED),
        *(f"-D{name}={value}" for name, value in settings.items()),
        "-cp",
        str(home / "jars" / "*"),
        "org.apache.spark.sql.connect.service.SparkConnectServer",
    ]
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)}
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, process_group=0
        )
    try:
        await_daemon(lambda: is_open(port) or process.poll() is not None, log)
        assert process.poll() is None, log.read_text()
        yield f"sc://127.0.0.1:{port}"
    finally:
        end(process)


def main(folder: Path) -> None:
    from pyspark.sql import Row, SparkSession

    from asyncwait.backends.lookup import FunctionTable
    from asyncwait.backends.spark import Progress, lookup_join, ordered_wait
    from asyncwait.spec import InvalidConfig

    async def fetch(row: Row) -> tuple[int]:
        return (2 * row.id,)

    async def towns(keys: Sequence[int]) -> dict[int, list[tuple[str]]]:
        return {key: [(f"town {key}",)] for key in keys}

    with server(folder) as address:
        session = SparkSession.builder.remote(address).getOrCreate()
        df = session.range(0, 100, 1, 2)
        with Progress(100, session=session, show=False) as progress:
            journal = str(folder / "journal")
            out = ordered_wait(df, fetch, "twice long", journal=journal, progress=progress)
            rows = out.collect()
        print(rows == [Row(id=n, twice=2 * n) for n in range(100)])
        print(progress.summary().splitlines()[:3])
        try:
            ordered_wait(df, fetch, "twice long", max_in_flight=10)
        except InvalidConfig as error:
            print(error)
        limited = ordered_wait(df, fetch, "twice long", max_in_flight=10, max_tasks=2)
        print(limited.count())
        columns, where = "id long, town string", "t.town <> 'town 1'"
        joined = lookup_join(df, FunctionTable(towns), on="id", columns=columns, where=where)
        print([row.town for row in joined.limit(3).collect()])
        session.stop()


if __name__ == "__main__":
    code = 0
    try:
        main(Path(sys.argv[1]))
    except Exception:
        traceback.print_exc()
        code = 1
    # At its exit PySpark would tell the server something, and try again for minutes: it is gone.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
