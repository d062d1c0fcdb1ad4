"""The command `asyncwait journal`."""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from asyncwait.backends.journal._version import explained
from asyncwait.backends.journal._whole import (
    FileSummary,
    JournalSummary,
    compact,
    drop_failures,
    summary,
)
from asyncwait.backends.services._causes import most_frequent
from asyncwait.spec import AsyncWaitError, InvalidConfig
from asyncwait.spec.texts import joined, json_text, name_of, one_line, printable

_USAGE_ERROR = 2
_CAUSES = 10
"""Largest number of failure causes in the output."""


@click.group()
def journal() -> None:
    """Show and merge stored results of completed calls."""


def _on_path(name: str, act: Callable[[str], JournalSummary], text: str) -> None:
    @journal.command(name, help=text)
    @click.argument("path")
    @click.option("--json", "is_json", is_flag=True, help="Print JSON.")
    def command(path: str, is_json: bool) -> None:  # noqa: FBT001 - click hands it over by name
        with usage_errors():
            found = act(path)
        _print(found, is_json=is_json)


_on_path("show", summary, "Show the content of the journal at PATH, a folder or a URL.")
_on_path(
    "compact",
    compact,
    """Merge the files of the journal at PATH, and show the new content.

    Repeated and torn entries are dropped. Files that are being written stay as they are, and
    readers meanwhile find all entries.
    """,
)
_on_path(
    "drop-failures",
    drop_failures,
    """Drop the failures in the journal at PATH, so that these calls are made again.

    Its files are merged, as by `compact`. Files that are being written stay as they are.
    """,
)


@journal.command("explain")
@click.argument("job")
def explain_command(job: str) -> None:
    """List the parts of which the version of JOB is a digest.

    JOB is a function, as module.function; `asyncwait journal show` prints it so. Functions of a
    script (`python job.py`) belong to `__main__`, and have another version than those of `job`.
    """
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    with usage_errors():
        version, entries = explained(_function(job))
    click.echo(f"{one_line(job)}: version {version!r}")
    for kind in ("module", "package", "function", "class", "value"):
        for each in (entry for entry in entries if entry.kind == kind):
            click.echo(f"{kind:8}  {each.digest[:16] or '-':16}  {one_line(each.name, 200)}")


def _function(job: str) -> Any:
    try:
        return resolve_name(job)
    except Exception as error:
        expected = f"module.function, in a module that can be imported here ({error})"
        raise InvalidConfig.of("job", job, expected) from error


@contextmanager
def usage_errors() -> Generator[None]:
    """Turn errors that a user can correct into one line and exit code 2."""
    try:
        yield
    except (AsyncWaitError, OSError) as error:
        click.echo(joined([f"error: {error}"]), err=True)
        sys.exit(_USAGE_ERROR)


def _print(shown: JournalSummary, *, is_json: bool) -> None:
    if is_json:
        told = replace(
            shown,
            path=printable(shown.path),
            loose=tuple(replace(each, name=printable(each.name)) for each in shown.loose),
            merged=tuple(replace(each, name=printable(each.name)) for each in shown.merged),
        )
        click.echo(json_text(msgspec.json.format(msgspec.json.encode(told), indent=2)))
        return
    for line in _lines(shown):
        click.echo(joined([line]))


def _lines(shown: JournalSummary) -> Iterator[str]:
    yield f"{name_of(shown.path)}: job {shown.job!r}, version {shown.version!r}"
    yield from (f"{one_line(name)}: {text!r}" for name, text in shown.settings.items())
    counts = (
        _counted(shown.files, "file", "files"),
        _counted(shown.bytes, "byte", "bytes"),
        f"{_counted(shown.entries, 'entry', 'entries')} of {_counted(shown.keys, 'key', 'keys')}",
        f"{shown.torn:,} torn",
        f"{shown.corrupt:,} corrupt",
    )
    yield ", ".join(counts)
    if shown.failed:
        yield f"{_counted(shown.failed, 'failure', 'failures')} that are not called again:"
        for cause, count in most_frequent(shown.failures, _CAUSES).items():
            reason = shown.reasons.get(cause, "")
            yield one_line(f"{count:,} {cause}" + (f", for example: {reason}" if reason else ""))
    files = (*shown.merged, *shown.loose)
    if files:
        yield ""
        yield from _table([("entries", "bytes", "state", "file"), *map(_row, files)])


def _counted(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _row(file: FileSummary) -> tuple[str, str, str, str]:
    return f"{file.entries:,}", f"{file.bytes:,}", file.state, file.name


def _table(rows: list[tuple[str, str, str, str]]) -> Iterator[str]:
    entries, size, state, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    for row in rows:
        yield f"{row[0]:>{entries}}  {row[1]:>{size}}  {row[2]:{state}}  {row[3]}"
