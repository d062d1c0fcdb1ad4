"""Subcommands that list: `backends`, `rules`."""

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance.running import broken_families, known_backends
from asyncwait.spec.rules import rules


@asyncwait.command("backends")
def backends_command() -> None:
    """List the backends that are installed."""
    for name in sorted(known_backends()):
        click.echo(name)
    for name, why in broken_families().items():
        click.echo(f"{name}: can't be loaded: {why}", err=True)


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, metavar="[ID]...")
def rules_command(wanted: tuple[str, ...]) -> None:
    """List the rules, or show those with ID whole."""
    known = rules()
    unknown = [rule for rule in wanted if rule not in known]
    if unknown:
        raise click.UsageError(f"no rule {unknown[0]!r}; see: asyncwait rules")
    for rule in known.values():
        if not wanted:
            click.echo(f"{rule.id:8} {rule.level:6} {rule.title}")
        elif rule.id in wanted:
            click.echo(f"{rule.id} {rule.title}\n{rule.level}, since {rule.since}\n")
            click.echo(f"{rule.sentence}\n\nWhy: {rule.why}\n\nSource: {rule.source}\n")
