"""Flink's jar, and a Java machine that this process starts once."""

import importlib.util
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from asyncwait.backends.java import find_java
from asyncwait.spec import AsyncWaitError, MissingExtra
from asyncwait.spec.texts import one_line

FLINK = "org.apache.flink."
"""Package of all classes of Flink."""

RELEASE = "2.3.0"
"""The release on which the expected failures of this backend were found."""

_OPTIONS = (
    "-Xmx1g",
    "--enable-native-access=ALL-UNNAMED",
    "-Dslf4j.internal.verbosity=ERROR",  # Flink logs nothing, on purpose
    # All identity hashes are equal: otherwise Flink's sets, of records to be called again and of
    # records in a segment, would have another order in each run.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
)


class FlinkUnavailable(AsyncWaitError, RuntimeError):
    """Flink cannot run here, or its Java machine has ended."""


@cache
def java(name: str) -> Any:
    """Return a class of Java by its name; the Java machine must run."""
    from jpype import JClass

    return JClass(name)


def flink(name: str) -> Any:
    """Return a class of Flink by its name below `org.apache.flink`."""
    return java(FLINK + name)


def find_jar() -> Path:
    """Return Flink's jar: the path in `FLINK_DIST_JAR`, or else the jar of the extra.

    Raises:
        FlinkUnavailable: `FLINK_DIST_JAR` names no file, or another release.
        MissingExtra: `FLINK_DIST_JAR` is not set, and the extra is not installed.
    """
    named = os.environ.get("FLINK_DIST_JAR")
    jar = _installed() if named is None else Path(named)
    if not jar.is_file():
        raise FlinkUnavailable(f"FLINK_DIST_JAR names no file: {named}")
    found = re.fullmatch(r"flink-dist(?:_[\d.]+)?-(.+)\.jar", jar.name)
    if found is not None and found[1] != RELEASE:
        raise FlinkUnavailable(
            f"{jar.name} is Flink {found[1]}, and this backend knows {RELEASE}; "
            "unset FLINK_DIST_JAR, or have it name that release"
        )
    return jar


def _installed() -> Path:
    package = importlib.util.find_spec("pyflink")
    for folder in (package.submodule_search_locations or []) if package else []:
        for jar in sorted(Path(folder, "lib").glob("flink-dist-*.jar")):
            return jar
    raise MissingExtra("apache-flink-libraries", "flink")


def start_java() -> None:
    """Start Java in this process, with Flink in it; do nothing if it runs already.

    Raises:
        FlinkUnavailable: Java does not start, or it runs without Flink.
        MissingExtra: jpype is not installed.
        MissingJava: no Java is installed.
    """
    try:
        import jpype
    except ImportError:
        raise MissingExtra("jpype1", "flink") from None
    if not jpype.isJVMStarted():
        jar, library = find_jar(), _library()
        classpath = [str(jar), *map(str, sorted(jar.parent.glob("flink-table-*.jar")))]
        try:
            jpype.startJVM(library, *_OPTIONS, classpath=classpath, convertStrings=True)
        except (OSError, RuntimeError) as error:
            why = f"Java does not start: {one_line(error)}"
            if "restarted" in str(error):
                ended = "the Java machine of this process has ended"
                why = f"{ended}; only a new process can start another"
            raise FlinkUnavailable(why) from error
    try:
        flink("streaming.api.operators.async.AsyncWaitOperator")
    except TypeError as error:
        raise FlinkUnavailable(
            "the Java machine of this process runs without Flink; start it here first, with "
            "asyncwait.backends.flink.start_java()"
        ) from error


def require_tables() -> None:
    """Refuse a Flink without its tables, which contain the key-ordered operator.

    Raises:
        FlinkUnavailable: the jar of the tables is missing.
    """
    try:
        flink("table.runtime.operators.TableKeyedAsyncWaitOperator")
    except TypeError as error:
        raise FlinkUnavailable(
            f"the key-ordered operator is in flink-table-runtime-{RELEASE}.jar, which lies not "
            f"beside {find_jar()}"
        ) from error


def _library() -> str:
    home = find_java("Flink", "flink").executable.resolve().parent.parent
    for name in ("libjvm.so", "libjvm.dylib", "jvm.dll"):
        for path in sorted(home.rglob(name)):
            return str(path)
    raise FlinkUnavailable(f"{home} holds no library of a Java machine")
