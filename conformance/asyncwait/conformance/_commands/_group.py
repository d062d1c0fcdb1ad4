"""The command that the others are subcommands of."""

import click

from asyncwait.conformance._commands._installed import OpenGroup


@click.group(cls=OpenGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="asyncwait")
def asyncwait() -> None:
    """Hold operators for asynchronous I/O on streams to their specification."""
