"""Subcommand `rules`."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from asyncwait.conformance._commands._group import asyncwait
from asyncwait.conformance._commands._ids import MAILBOX, any_case
from asyncwait.conformance._commands._rule_page import Page, PlayedOn
from asyncwait.conformance._commands._shared import console, usage_errors
from asyncwait.conformance._nearest import nearest
from asyncwait.conformance._say import say
from asyncwait.conformance.mailbox import ServedMailbox
from asyncwait.conformance.running import (
    REAL_SECONDS,
    Lacking,
    listed_backends,
    missing_text,
    open_backend,
)
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import Rule, areas, mailbox_rules, rules
from asyncwait.spec.scenario import ALL_CAPABILITIES, Capability

REFERENCE = "reference-asyncio"
"""The backend whose runs are drawn, unless another one is named."""

REFERENCE_MAILBOX = "asyncwait.reference:MailboxProcessor"
"""The mailbox whose runs are drawn."""


@asyncwait.command("rules")
@click.argument("wanted", nargs=-1, type=any_case, metavar="[AREA|ID]...")
@click.option(
    "--backend",
    metavar="NAME",
    help="Mark the rules that do not apply to this backend, with the reason, and draw its runs. "
    f"Without it, runs are those of {REFERENCE}.",
)
def rules_command(wanted: tuple[str, ...], backend: str | None) -> None:
    """List all rules, or those of an AREA such as RETRY; show the rule with an ID in full.

    In full: what holds and why, where Flink differs, its examples and a run of the smallest one, a
    run that breaks the rule, and the faulty operators that break it.

    The rules of the task mailbox are the area MBX. They do not apply to operators.
    """
    by_area = {area: _rules_of_area(area) for area in (*areas(), MAILBOX)}
    with usage_errors():
        in_full = _rules_named([id_ for id_ in wanted if id_ not in by_area])
        if not wanted:
            both = rules() if backend else {**rules(), **mailbox_rules()}
            _list_rules(both.values(), backend, with_sentences=False)
        for area in dict.fromkeys(id_ for id_ in wanted if id_ in by_area):
            _list_rules(by_area[area], backend, with_sentences=True)
            say("")
            say(f"one of them in full: asyncwait rules {by_area[area][0].id}")
        _show_in_full(in_full, backend or REFERENCE)


def _rules_of_area(area: str) -> Sequence[Rule]:
    known = mailbox_rules() if area == MAILBOX else rules()
    return [rule for rule in known.values() if rule.area == area]


def _rules_named(ids: Sequence[str]) -> list[Rule]:
    """Return the rules with these ids, of operators or of the mailbox."""
    known = {**rules(), **mailbox_rules()}
    for id_ in ids:
        if id_ not in known:
            wrong = InvalidConfig.of("rule", id_, "the id of a rule; see: asyncwait rules")
            raise InvalidConfig(f"{wrong}{nearest(id_, known)}")
    return [known[id_] for id_ in dict.fromkeys(ids)]


def _list_rules(listed: Iterable[Rule], backend: str | None, *, with_sentences: bool) -> None:
    can, lacking = _said_by(backend)
    for rule in listed:
        sentence = f": {rule.sentence}" if with_sentences else ""
        apart = "" if backend is None else _apart(rule, can, lacking)
        say(f"{rule.id:8} {rule.level:6} {rule.title}{sentence}{apart}")


def _said_by(backend: str | None) -> tuple[frozenset[Capability], Lacking]:
    """Return the capabilities of a backend, and its reasons for those that it lacks."""
    if backend is None:
        return ALL_CAPABILITIES, {}
    with open_backend(backend, folder=str(Path.cwd())) as served:
        return served.capabilities, served.lacking


def _apart(rule: Rule, can: frozenset[Capability], lacking: Lacking) -> str:
    """Return why a rule does not apply to a backend; empty if it does."""
    if rule.id in mailbox_rules():
        return " (not applicable: it is for mailboxes)"
    needs = missing_text(rule, can, lacking)
    return f" (not applicable: {needs})" if needs else ""


def _show_in_full(shown: Sequence[Rule], backend: str) -> None:
    if not shown:
        return
    folder = str(Path.cwd())
    page = Page(console(), listed_backends(folder).faults)
    if of_operators := [rule for rule in shown if rule.id in rules()]:
        with open_backend(backend, folder=folder) as served:
            for rule in of_operators:
                page.show(rule, PlayedOn(backend, served.play, served.capabilities))
    if of_mailboxes := [rule for rule in shown if rule.id in mailbox_rules()]:
        with ServedMailbox(REFERENCE_MAILBOX, folder, REAL_SECONDS) as mailbox:
            for rule in of_mailboxes:
                page.show_of_mailbox(rule, mailbox)
