"""Subcommand `backends`."""

from pathlib import Path

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance._guard import say
from asyncwait.conformance.running import listed_backends
from asyncwait.spec.texts import name_of


@asyncwait.command("backends")
def backends_command() -> None:
    """List the backends that are installed."""
    with usage_errors():
        listed = listed_backends(str(Path.cwd()))
    for name in listed.names:
        say(name_of(name))
    for name, why in listed.broken.items():
        say(f"{name_of(name)}: can't be loaded: {why}", err=True)
