"""Subcommands that list: `backends`, `rules`."""

from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance._verify import chosen
from asyncwait.conformance.running import listed_backends, open_backend
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability


@asyncwait.command("backends")
def backends_command() -> None:
    """List the backends that are installed."""
    with usage_errors():
        listed = listed_backends(str(Path.cwd()))
    for name in listed.names:
        click.echo(name)
    for name, why in listed.broken.items():
        click.echo(f"{name}: can't be loaded: {why}", err=True)


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, metavar="[ID]...")
@click.option("--backend", metavar="NAME", help="Say which of them do not apply to it, and why.")
def rules_command(wanted: tuple[str, ...], backend: str | None) -> None:
    """List the rules, or show those with ID whole."""
    with usage_errors():
        shown = chosen("rule", wanted)
    can = ALL_CAPABILITIES if backend is None else _capabilities_of(backend)
    for rule in shown.values():
        missing = rule.missing(can)
        apart = f" (not applicable: needs {', '.join(missing)})" if missing else ""
        if not wanted:
            click.echo(f"{rule.id:8} {rule.level:6} {rule.title}{apart}")
        else:
            needs = ", ".join(rule.missing(frozenset())) or "nothing but the core"
            click.echo(f"{rule.id} {rule.title}{apart}\n{rule.level}, since {rule.since}\n")
            click.echo(f"{rule.sentence}\n\nWhy: {rule.why}\n")
            click.echo(f"Needs: {needs}\n\nSource: {rule.source}\n")


def _capabilities_of(backend: str) -> frozenset[Capability]:
    with usage_errors(), open_backend(backend, folder=str(Path.cwd())) as served:
        return served.capabilities
