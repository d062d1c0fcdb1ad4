"""What `asyncwait journal` says, of a journal with files of each kind; and that journal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from uuid import UUID

from click.testing import CliRunner
from journals import entries, fill, prepared

from asyncwait.backends.journal import _local, _whole, compact
from asyncwait.backends.journal._commands import journal


@contextmanager
def numbered() -> Iterator[None]:
    numbers = iter(range(1, 100))
    with (
        patch.object(_local, "uuid4", lambda: UUID(int=next(numbers))),
        patch.object(_whole, "uuid4", lambda: UUID(int=next(numbers))),
    ):
        yield


def mixed(path: str) -> Path:
    made = prepared(path)
    fill(made, entries(*range(1200)), name="early")
    compact(path)
    fill(made, entries(0, 1, 2000), name="late")
    fill(made, entries(*range(10)), name="torn", is_closed=False)
    (torn,) = Path(path).glob("torn-*")
    torn.write_bytes(torn.read_bytes()[:-1])
    worse = Path(path, f"worse-{UUID(int=0).hex}.loose")
    worse.write_bytes(b"x" * 500)
    return worse


def told() -> str:
    with TemporaryDirectory() as folder, numbered():
        path, empty = f"{folder}/mixed", f"{folder}/empty"
        worse = mixed(path)
        prepared(empty, settings=(("zone", "UTC\n"),))
        steps: list[tuple[str, Callable[[], object]]] = [
            (f"show {path}", str),
            (f"show {path} --json", str),
            (f"compact {path}", worse.unlink),
            (f"compact {path}", str),
            (f"compact {path} --json", str),
            (f"show {empty}", str),
            (f"show {folder}/nowhere", str),
            (f"compact {folder}/nowhere", str),
        ]
        return "\n".join(_said(line, then) for line, then in steps).replace(folder, "FOLDER")


def _said(line: str, then: Callable[[], object]) -> str:
    done = CliRunner().invoke(journal, line.split())
    then()
    return f"$ asyncwait journal {line}\n{done.stdout}{done.stderr}exit code {done.exit_code}\n"
