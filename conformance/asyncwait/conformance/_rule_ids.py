"""Ids of rules that somebody names: an operator is held to each of them, or it is a slip."""

from collections.abc import Collection

from asyncwait.conformance._nearest import nearest
from asyncwait.spec import InvalidConfig
from asyncwait.spec.rules import mailbox_rules


def slip_in(name: str, rule: str, known: Collection[str]) -> str:
    """Return what is wrong with the id of a rule; empty if there is such a rule."""
    if rule in known:
        return ""
    if rule in mailbox_rules():
        return (
            f"{name}: {rule} is a rule of the task mailbox, to which no operator is held; "
            "see: asyncwait verify --mailbox"
        )
    wrong = InvalidConfig.of(name, rule, "the id of a rule; see: asyncwait rules")
    return f"{wrong}{nearest(rule, known)}"
