"""The rules: text for people in the chapters beside this file, data for programs from here.

`rules()`, `areas()` and `departures()` read the chapters when they are first called. The folders
`mailbox`, `carry` and `hedge` are separate rule books; `mailbox_rules()`, `carry_rules()` and
`hedge_rules()` read them. `spec_version()` returns the version of the specification, which is the
version of its newest rule.
"""

from asyncwait.spec.exports import claim_exports
from asyncwait.spec.rules._registry import (
    Area,
    Departure,
    Level,
    MalformedRules,
    Rule,
    areas,
    carry_rules,
    departures,
    hedge_rules,
    mailbox_rules,
    rules,
    rules_for,
    spec_version,
    version_key,
)

__all__ = [
    "Area",
    "Departure",
    "Level",
    "MalformedRules",
    "Rule",
    "areas",
    "carry_rules",
    "departures",
    "hedge_rules",
    "mailbox_rules",
    "rules",
    "rules_for",
    "spec_version",
    "version_key",
]

claim_exports(__name__)
