"""Subcommands for vectors: `vectors write`, `vectors run`."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from asyncwait.conformance._bounded import file_bytes
from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import jobs_option, patience_option, usage_errors
from asyncwait.conformance._guard import say
from asyncwait.conformance._vectors import Found, made_vectors, run_vectors
from asyncwait.conformance._words import counted
from asyncwait.conformance.running import exec_name, open_backend
from asyncwait.conformance.verdict import EXIT_CODES, Word, worst
from asyncwait.spec import InvalidConfig
from asyncwait.spec.texts import name_of
from asyncwait.spec.vectors import Vector, shipped_vectors, vectors_from_json, vectors_to_json

REFERENCE = "reference-asyncio"
"""The backend whose runs give the outcomes of vectors."""

SHOWN = 20
"""Vectors printed that fail or are in error."""


@asyncwait.group("vectors")
def vectors_group() -> None:
    """Scenarios in files, with the rules they prove and their outcomes."""


@vectors_group.command("write")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def write_command(folder: Path) -> None:
    """Write the vectors of all rules into FOLDER, as they come with the package.

    An outcome is what the reference operator comes to, where all that keep the rules do.
    """
    with usage_errors(), open_backend(REFERENCE) as reference:
        files = made_vectors(reference)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in files.items():
            folder.joinpath(name).write_bytes(vectors_to_json(file))
    except OSError as error:
        raise click.UsageError(f"{folder}: {error.strerror}") from error
    written = sum(len(file.vectors) for file in files.values())
    say(f"{counted(written, 'vector')} in {folder}")


@vectors_group.command("run")
@click.argument("backend", required=False)
@click.argument("files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--exec", "program", metavar="COMMAND", help="Run a program that speaks JSON lines.")
@patience_option
@jobs_option
def run_command(
    backend: str | None,
    files: tuple[Path, ...],
    program: str | None,
    patience: float,
    jobs: int | None,
) -> None:
    """Hold BACKEND to vectors: to their outcomes, and to all rules.

    FILES are files of vectors, or folders of them; without any, those that come with the package.
    With --exec there is no BACKEND.

    Exit code: 0 all pass, 1 one fails, 2 wrong usage, 3 inconclusive.
    """
    if program is not None:
        files = files if backend is None else (Path(backend), *files)
        backend = exec_name(program)
    if backend is None:
        raise click.UsageError("name a backend, or give --exec; see: asyncwait backends")
    with usage_errors():
        vectors = list(_read(files))
        folder = str(Path.cwd())
        with open_backend(backend, patience=patience, jobs=jobs, folder=folder) as opened:
            found = list(run_vectors(opened, vectors))
    sys.exit(EXIT_CODES[_told(backend, found)])


def _read(files: tuple[Path, ...]) -> Iterator[Vector]:
    if not files:
        for shipped in shipped_vectors().values():
            yield from shipped.vectors
    for file in files:
        inside = sorted(file.glob("*.json")) if file.is_dir() else [file]
        if not inside:
            raise InvalidConfig(f"{file}: there is no file with vectors in it")
        for each in inside:
            try:
                yield from vectors_from_json(file_bytes(each)).vectors
            except InvalidConfig as error:
                raise InvalidConfig(f"{each}: {error}") from error
            except OSError as error:
                raise InvalidConfig(f"{each}: {error.strerror}") from error


def _told(name: str, found: list[Found]) -> Word:
    """Print the problems, then the totals; return the verdict."""
    wrong = [each for each in found if each.kind in {"fail", "error"}]
    for each in wrong[:SHOWN]:
        for why in each.why:
            say(f"{name_of(name)}: {each.vector.name}: {each.kind}: {why}")
    if len(wrong) > SHOWN:
        say(f"and {len(wrong) - SHOWN} more")
    kinds = Counter(each.kind for each in found)
    counts = ", ".join(
        f"{kinds[kind]} {kind}"
        for kind in ("pass", "fail", "error", "not applicable")
        if kinds[kind]
    )
    say(f"{name_of(name)}: {counted(len(found), 'vector')}: {counts}")
    words: list[Word] = ["not conformant"] * bool(kinds["fail"])
    if kinds["error"] or not kinds["pass"]:
        words.append("inconclusive")
    return worst(words)
