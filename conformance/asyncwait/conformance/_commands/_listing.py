"""Subcommands that list: `backends`, `rules`."""

from collections.abc import Mapping
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._ids import MAILBOX, any_case
from asyncwait.conformance._commands._shared import usage_errors
from asyncwait.conformance._say import say
from asyncwait.conformance._verify import chosen
from asyncwait.conformance.running import Lacking, listed_backends, missing_text, open_backend
from asyncwait.spec.rules import Rule, areas, mailbox_rules, rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability
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


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, type=any_case, metavar="[ID|AREA]...")
@click.option("--backend", metavar="NAME", help="Say which of them do not apply to it, and why.")
def rules_command(wanted: tuple[str, ...], backend: str | None) -> None:
    """List the rules: all, those with ID, or those of an AREA such as RETRY.

    Those of the task mailbox, MBX, are a book of their own: no operator is held to them. What there
    is to know of one is told by `asyncwait show`.
    """
    with usage_errors():
        shown = _wanted_rules(wanted, is_for_backend=backend is not None)
    can, lacking = (ALL_CAPABILITIES, {}) if backend is None else _said_by(backend)
    for rule in shown.values():
        apart = _apart(rule, can, lacking, is_for_backend=backend is not None)
        say(f"{rule.id:8} {rule.level:6} {rule.title}{apart}")


def _apart(
    rule: Rule, can: frozenset[Capability], lacking: Lacking, *, is_for_backend: bool
) -> str:
    """Return why a rule is not for a backend; nothing if it is."""
    if is_for_backend and rule.id in mailbox_rules():
        return " (not applicable: no operator is held to it)"
    needs = missing_text(rule, can, lacking)
    return f" (not applicable: {needs})" if needs else ""


def _wanted_rules(wanted: tuple[str, ...], *, is_for_backend: bool) -> Mapping[str, Rule]:
    """Return the rules with these ids; all if there are none, of the mailbox for its area.

    Args:
        wanted: ids of rules, or of areas.
        is_for_backend: what is listed is what a backend is held to.

    Raises:
        InvalidConfig: there is no such rule.
    """
    of_areas = tuple(id_ for id_ in wanted if id_ in areas())
    wanted = (*(id_ for id_ in wanted if id_ not in of_areas), *_rules_in(of_areas))
    is_whole = MAILBOX in wanted or not (wanted or is_for_backend)
    of_mailbox = {id_: rule for id_, rule in mailbox_rules().items() if is_whole or id_ in wanted}
    others = tuple(id_ for id_ in wanted if id_ != MAILBOX and id_ not in of_mailbox)
    return {**(chosen("rule", others) if others or not wanted else {}), **of_mailbox}


def _rules_in(wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Return the ids of the rules of some areas."""
    return tuple(rule.id for rule in rules().values() if rule.area in wanted)


def _said_by(backend: str) -> tuple[frozenset[Capability], Lacking]:
    """Return what a backend has, and what it says of the rest."""
    with usage_errors(), open_backend(backend, folder=str(Path.cwd())) as served:
        return served.capabilities, served.lacking
