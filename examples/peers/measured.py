"""What was measured of the rows, as `measured.json` has it."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from peers import ROWS, Peer

from asyncwait.conformance.verdict import passed_of
from asyncwait.spec.rules import rules

FILE = Path(__file__).with_name("measured.json")


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the suite finds of an operator.

    Args:
        name: of the row.
        version: of its package.
        date: of the run, as 2026-11-27.
        line: the verdict.
        scenarios: how many were played.
        status: of each rule that applies.
        broken: in how many scenarios each rule is that fails.
        causes: of a rule that fails, the one that explains it, if there is one.
        smallest: the smallest scenario that was found to break each rule, as JSON for a command.
        drawn: what happened in it, where only who has measured it can play it.
    """

    name: str
    version: str
    date: str
    line: str
    scenarios: int
    status: Mapping[str, str]
    broken: Mapping[str, int]
    causes: Mapping[str, str]
    smallest: Mapping[str, str]
    drawn: Mapping[str, str]

    @property
    def peer(self) -> Peer:
        """Return who that is."""
        return next(peer for peer in ROWS if peer.name == self.name)

    def cause(self, rule: str) -> str:
        """Return the rule that explains why this one is broken; its own id if none does."""
        return self.causes.get(rule, rule)

    def passed(self, area: str) -> str:
        """Return how many rules of an area pass, of those that apply; empty if none does."""
        of_area = (self.status.get(rule.id) for rule in rules().values() if rule.area == area)
        told = passed_of(status for status in of_area if status is not None)
        return "" if told == "-" else told


def all_measured() -> list[Measured]:
    """Return all that was measured, in the order of the rows; rules that are gone are left out."""
    if not FILE.exists():
        return []
    found = {
        each.name: each for each in msgspec.json.decode(FILE.read_bytes(), type=list[Measured])
    }
    there = [found[row.name] for row in ROWS if row.name in found]
    return [
        msgspec.structs.replace(each, status={r: s for r, s in each.status.items() if r in rules()})
        for each in there
    ]


def hush() -> None:
    """Have nobody log errors that nobody has asked for; whatever they mean, a rule says it."""
    for name in ("asyncio", "streamz.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def write(measured: Sequence[Measured]) -> None:
    """Write it down, one rule or scenario a line."""
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(measured), indent=1) + b"\n")
