"""Subcommand `show`."""

from collections.abc import Iterable
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._shared import console, usage_errors
from asyncwait.conformance._commands._show_rule import Page, PlayedOn
from asyncwait.conformance._nearest import nearest
from asyncwait.conformance.mailbox import ServedMailbox
from asyncwait.conformance.running import REAL_SECONDS, listed_backends, open_backend
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, mailbox_rules, rules

REFERENCE = "reference-asyncio"
"""The backend whose run is drawn, unless another one is named."""

MAILBOX = "asyncwait.reference:MailboxProcessor"
"""The mailbox whose run is drawn."""


@asyncwait.command("show")
@click.argument("wanted", nargs=-1, required=True, metavar="RULE...")
@click.option("--backend", default=REFERENCE, show_default=True, help="Whose run is drawn.")
def show_command(wanted: tuple[str, ...], backend: str) -> None:
    """Show all there is to know of each RULE, given by its id.

    What holds and why, where Flink does otherwise, examples about it and a run of the smallest one,
    a run that breaks it, and the faulty operators that do. Those of the task mailbox, too.
    """
    with usage_errors():
        shown = _rules_of(wanted)
        folder = str(Path.cwd())
        page = Page(console(), listed_backends(folder).faults)
        _show_operators(page, [rule for rule in shown if rule.id in rules()], backend, folder)
        _show_mailboxes(page, [rule for rule in shown if rule.id in mailbox_rules()], folder)


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


def _rules_of(wanted: Iterable[str]) -> list[Rule]:
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
