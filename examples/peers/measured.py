"""What was measured of the peers, as `measured.json` has it."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from peers import PEERS, Peer

from asyncwait.spec.rules import rules

FILE = Path(__file__).with_name("measured.json")


class Measured(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the suite finds of a peer.

    Args:
        name: of the peer.
        version: of its package.
        line: the verdict.
        scenarios: how many were played.
        status: of each rule.
        broken: in how many scenarios each rule is that fails.
        causes: of a rule that fails, the one that explains it, if there is one.
        smallest: the smallest scenario that was found to break each rule, as JSON for a command.
    """

    name: str
    version: str
    line: str
    scenarios: int
    status: Mapping[str, str]
    broken: Mapping[str, int]
    causes: Mapping[str, str]
    smallest: Mapping[str, str]

    @property
    def peer(self) -> Peer:
        """Return who that is."""
        return next(peer for peer in PEERS if peer.name == self.name)

    def cause(self, rule: str) -> str:
        """Return the rule that explains why this one is broken; its own id if none does."""
        return self.causes.get(rule, rule)


def all_measured() -> list[Measured]:
    """Return all that was measured; rules that were since added or removed stand for nothing."""
    found = msgspec.json.decode(FILE.read_bytes(), type=list[Measured])
    return [
        msgspec.structs.replace(
            each, status={rule: each.status.get(rule, "not-applicable") for rule in rules()}
        )
        for each in found
    ]
