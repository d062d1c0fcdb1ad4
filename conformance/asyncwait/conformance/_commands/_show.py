"""Subcommand `show`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._ids import MAILBOX as MAILBOX_AREA
from asyncwait.conformance._commands._ids import any_case
from asyncwait.conformance._commands._shared import console, usage_errors
from asyncwait.conformance._commands._show_rule import Page, PlayedOn
from asyncwait.conformance._nearest import nearest
from asyncwait.conformance._say import say
from asyncwait.conformance.mailbox import ServedMailbox
from asyncwait.conformance.running import REAL_SECONDS, listed_backends, open_backend
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, areas, mailbox_rules, rules

REFERENCE = "reference-asyncio"
"""The backend whose run is drawn, unless another one is named."""

MAILBOX = "asyncwait.reference:MailboxProcessor"
"""The mailbox whose run is drawn."""


@asyncwait.command("show")
@click.argument("wanted", nargs=-1, required=True, type=any_case, metavar="RULE|AREA...")
@click.option("--backend", default=REFERENCE, show_default=True, help="Whose run is drawn.")
def show_command(wanted: tuple[str, ...], backend: str) -> None:
    """Show all there is to know of each RULE, given by its id.

    What holds and why, where Flink does otherwise, examples about it and a run of the smallest one,
    a run that breaks it, and the faulty operators that do. Those of the task mailbox, too. Of an
    AREA, such as RETRY, its rules are listed, with a sentence on each.
    """
    by_area = {**_by_area(rules()), MAILBOX_AREA: list(mailbox_rules().values())}
    with usage_errors():
        shown = _rules_of([id_ for id_ in wanted if id_ not in by_area])
        for area in dict.fromkeys(id_ for id_ in wanted if id_ in by_area):
            _list_rules(by_area[area])
        if not shown:
            return
        folder = str(Path.cwd())
        page = Page(console(), listed_backends(folder).faults)
        _show_operators(page, [rule for rule in shown if rule.id in rules()], backend, folder)
        _show_mailboxes(page, [rule for rule in shown if rule.id in mailbox_rules()], folder)


def _by_area(known: Mapping[str, Rule]) -> dict[str, list[Rule]]:
    return {area: [rule for rule in known.values() if rule.area == area] for area in areas()}


def _list_rules(listed: Sequence[Rule]) -> None:
    """Say what each of the rules of an area says, and how more is had of one."""
    for rule in listed:
        say(f"{rule.id:8} {rule.level:6} {rule.title}: {rule.sentence}")
    for line in ("", f"all there is to know of one: asyncwait show {listed[0].id}", ""):
        say(line)


def _show_operators(page: Page, shown: list[Rule], backend: str, folder: str) -> None:
    if shown:
        with open_backend(backend, folder=folder) as served:
            played_on = PlayedOn(backend, served.play, served.capabilities)
            for rule in shown:
                page.show(rule, played_on)


def _show_mailboxes(page: Page, shown: list[Rule], folder: str) -> None:
    if shown:
        with ServedMailbox(MAILBOX, folder, REAL_SECONDS) as served:
            for rule in shown:
                page.show_of_mailbox(rule, served)


def _rules_of(wanted: Sequence[str]) -> list[Rule]:
    """Return the rules with these ids, of either book.

    Raises:
        InvalidConfig: there is no such rule.
    """
    known = {**rules(), **mailbox_rules()}
    for rule in wanted:
        if rule not in known:
            wrong = InvalidConfig.of("rule", rule, "the id of a rule; see: asyncwait rules")
            raise InvalidConfig(f"{wrong}{nearest(rule, known)}")
    return [known[rule] for rule in dict.fromkeys(wanted)]
