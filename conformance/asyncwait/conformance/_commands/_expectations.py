"""What `verify` says and does about exceptions, and about what comes from the project's file."""

from collections.abc import Sequence

import click

from asyncwait.conformance._gate import Gate
from asyncwait.conformance.expectations import Played, updated
from asyncwait.spec import InvalidConfig


def tell_of_project(gate: Gate, *others: str) -> None:
    """Say what comes from the project's file; `others` are keys that do not."""
    if line := gate.taken(*others):
        click.echo(line, err=True)


def tell_strays(gate: Gate) -> None:
    """Say which entries are of no backend that is verified.

    They may be slips; but whoever verifies one backend of several has entries for the others, too.
    """
    for line in gate.strays:
        click.echo(line, err=True)


def update_exceptions(gate: Gate, played: Sequence[Played], *, is_all: bool) -> None:
    """Write the file of exceptions anew, and say what is different.

    Args:
        gate: names it.
        played: what was verified.
        is_all: it is all that was to be verified.

    Raises:
        InvalidConfig: the file can't be read or written.
    """
    assert gate.file is not None
    name = gate.file.name
    if not is_all or not all(one.verdict.is_decided for one in played):
        click.echo(f"{name} is left as it is: not everything was judged", err=True)
        return
    try:
        text = gate.file.read_bytes().decode() if gate.file.exists() else ""
        update = updated(text, name, played, gate.day)
        if update.text != text:
            gate.file.write_bytes(update.text.encode())
    except OSError as error:
        raise InvalidConfig(f"exceptions: {gate.file}: {error.strerror}") from error
    for line in update.lines or ("nothing to change",):
        click.echo(f"{name}: {line}", err=True)
