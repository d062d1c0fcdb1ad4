"""The rules: text for people in the chapters beside this file, data for programs from here.

`rules()`, `areas()` and `departures()` read the chapters when they are first called. The folder
`mailbox` is a book of its own, and `mailbox_rules()` reads it.
"""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules._registry import (
    Area,
    Departure,
    Level,
    MalformedRules,
    Rule,
    areas,
    departures,
    mailbox_rules,
    rules,
)

__all__ = [
    "Area",
    "Departure",
    "Level",
    "MalformedRules",
    "Rule",
    "areas",
    "departures",
    "mailbox_rules",
    "rules",
]

claim_exports(__name__)
