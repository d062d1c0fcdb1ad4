"""The command that groups the others: our own subcommands, and installed ones."""

import sys
from importlib.metadata import EntryPoint, entry_points

import click

from asyncwait.conformance._guard import GuardedGroup, say
from asyncwait.conformance.harness import line_of
from asyncwait.conformance.verdict import USAGE_ERROR

GROUP = "asyncwait.commands"
"""Entry points: name -> command of click."""


class OpenGroup(GuardedGroup):
    """Our own subcommands, and installed ones; if two have the same name, our own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order in which help lists them."""
        return sorted({*super().list_commands(ctx), *_installed()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a subcommand; a subcommand that can't be loaded says so when it is run."""
        own = super().get_command(ctx, cmd_name)
        if own is not None or cmd_name not in _installed():
            return own
        return _loaded(_installed()[cmd_name])


def _installed() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def _loaded(entry: EntryPoint) -> click.Command:
    try:
        command = entry.load()
    except (Exception, SystemExit) as error:
        return _Broken(entry, line_of(error))
    if not isinstance(command, click.Command):
        return _Broken(entry, f"expected a command of click, got {command!r}")
    return command


class _Broken(click.Command):
    """Takes the place of a subcommand that can't be loaded."""

    def __init__(self, entry: EntryPoint, why: str) -> None:
        super().__init__(entry.name, short_help=f"Can't be loaded: {why}", add_help_option=False)
        self._said = f"the command {entry.name!r} ({entry.value}) can't be loaded: {why}"

    def make_context(self, *_: object, **__: object) -> click.Context:
        """Report why it can't be loaded, whatever the arguments are."""
        say(f"error: {self._said}", err=True)
        sys.exit(USAGE_ERROR)


@click.group(cls=OpenGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="asyncwait")
def asyncwait() -> None:
    """Hold operators for asynchronous I/O on streams to their specification."""
